"""The colour and the shape of a system, the same in every chart of every report.

Colours are from Okabe and Ito's set for colour-blind readers, with its light ones exchanged for others of
middling lightness: each has a contrast of at least 3 to 1 on white and on the dark page, and each pair
stays apart under protanopia and deuteranopia. Colour is never the only carrier: rows are labelled and lines differ in
shape and dash too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7733FF", "#E5004C", "#6680FF", "#9B4B80")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (10, 4), (4, 1))

ORDER = (
    "duckdb",
    "sqlite",
    "influxdb-1.8.10",
    "cnosdb-2.0.1",
    "postgresql",
    "redis",
    "mariadb",
    "questdb",
    "victoria-metrics",
    "clickhouse",
    "mysql",
    "cassandra",
    "elasticsearch",
    "opentsdb",
    "mongodb",
    "kvrocks",
    "elasticsearch-6.8.23",
    "cassandra-5.0.9",
    "mongodb-7.0",
    "opentsdb-2.4.1",
    "victoriametrics-1.79",
    "clickhouse-18.16",
    "questdb-9.3.4",
    "seaweedfs-4",
    "postgresql-15",
    "filesystem",
    "minio",
    "redis-7",
    "seaweedfs-s3-4",
    "mariadb-10.11",
    "mysql-8",
    "kvrocks-2.8.0",
    "spark-sql-3.5.7",
    "oracle-free-23",
    "dolphindb-2",
)
"""Systems in the order they were first given a colour. Append, never insert: a system keeps its place for ever."""


def slot(system: str) -> int:
    """Return the place of ``system``, which depends on its own name only.

    A system that ``ORDER`` does not list takes a place from its name's digest, so a new one recolours nobody.

    >>> slot("duckdb"), slot("sqlite")
    (0, 1)
    """
    if system in ORDER:
        return ORDER.index(system)
    places = len(PALETTE) * len(SHAPES)
    return int.from_bytes(hashlib.sha256(system.encode()).digest()[:4], "big") % places


def colour(system: str) -> str:
    """Return the colour of ``system`` as ``#rrggbb``.

    >>> colour("sqlite")
    '#D55E00'
    """
    return PALETTE[slot(system) % len(PALETTE)]


def shape(system: str) -> str:
    """Return the Vega name of the point shape of ``system``: with the colour it tells up to 48 systems apart.

    >>> shape("duckdb"), shape("sqlite")
    ('circle', 'square')
    """
    place = slot(system)
    rounds = place // len(PALETTE)
    return SHAPES[
        (place + rounds + rounds // 2) % len(SHAPES)
    ]  # the halves let no round repeat an earlier one


def domain(systems: Iterable[str]) -> list[str]:
    """Return ``systems`` without repeats in their stable order: place first, then name."""
    return sorted(set(systems), key=lambda system: (slot(system), system))
