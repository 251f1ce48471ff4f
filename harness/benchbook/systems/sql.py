"""Count the rows and values of tables by SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchbook.systems.driver import TableCount

Rows = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a statement and returns its rows."""


def count_tables(
    rows: Rows, tables: Mapping[str, Iterable[str]], quote: str = '"', database: str = ""
) -> dict[str, TableCount]:
    """Return rows and non-null values of ``tables``, a mapping of names to the columns to count.

    >>> count_tables(lambda statement: [print(statement) or (3, 2)], {"cpu": ["user"]})
    SELECT count(*), count("user") FROM "cpu"
    {'cpu': TableCount(rows=3, fields={'user': 2}, exact=True)}
    """
    within = f"{quote}{database}{quote}." if database else ""
    found = {}
    for table, names in tables.items():
        columns = list(names)
        counts = ", ".join(["count(*)", *(f"count({quote}{name}{quote})" for name in columns)])
        number, *values = map(int, rows(f"SELECT {counts} FROM {within}{quote}{table}{quote}")[0])  # noqa: S608
        found[table] = TableCount(number, dict(zip(columns, values, strict=True)))
    return found
