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

PLACES = {
    "duckdb": 0, "sqlite": 1, "influxdb-1.8.10": 2, "cnosdb-2.0.1": 3,
    "postgresql-15": 4, "redis-7": 5, "mariadb-10.11": 6, "minio": 7,
    "elasticsearch-6.8.23": 8, "cassandra-5.0.9": 9, "mysql-8": 10, "filesystem": 11,
    "cnosdb-2.4": 12, "victoriametrics-1.79": 13, "clickhouse-18.16": 14, "questdb-9.3.4": 15,
    "seaweedfs-4": 16, "mongodb-7.0": 17, "oracle-free-23": 18, "opentsdb-2.4.1": 19,
    "s3fs": 20, "fio": 21, "seaweedfs-s3-4": 22, "spark-sql-3.5.7": 23,
    "null-server": 24, "kvrocks-2.8.0": 27, "dolphindb-2": 35,
}  # fmt: skip
"""Each system's place: modulo 8 it is the colour. Systems that meet in one experiment differ in it while colours last.

A system keeps its place for ever; a new one takes a place that is free here.
"""


def slot(system: str) -> int:
    """Return the place of ``system``, which depends on its own name only.

    A system that ``PLACES`` does not list takes a place from its name's digest, so a new one recolours nobody.

    >>> slot("duckdb"), slot("sqlite")
    (0, 1)
    """
    if system in PLACES:
        return PLACES[system]
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
