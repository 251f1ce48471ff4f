"""The tables of the results database, read from ``schema.sql``: names, types and comments of every column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.sql_text import literal, quoted

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 7
"""Version of the tables, kept in table ``schema_version``."""

BATCH_ROWS = 16_384
"""Rows of an Arrow batch, for every reading call.

DuckDB allocates a whole batch of each column and keeps it, however few rows there are. With its default of a
million rows, a report's few hundred frames hold so much address space that the process cannot fork.
"""

SCHEMA = Path(__file__).with_name("schema.sql")
_TABLE = re.compile(
    r"^-- (?P<comment>.+)\nCREATE TABLE (?P<name>\w+) \(\n(?P<columns>(?: .+\n)+)\);$", re.MULTILINE
)
_COLUMN = re.compile(
    r'^ +"?(?P<name>\w+)"? (?P<type>[A-Z]+)(?P<required> NOT NULL)?,? +-- (?P<comment>.+)$', re.MULTILINE
)


@dataclass(frozen=True)
class Column:
    """One column. ``comment`` states unit and meaning; a required one is never NULL."""

    name: str
    type: str
    comment: str
    required: bool


@dataclass(frozen=True)
class Table:
    """One table with its columns, in order."""

    name: str
    comment: str
    columns: tuple[Column, ...]

    @property
    def owner(self) -> str:
        """The column whose value says which run or trial a row belongs to."""
        return self.columns[0].name


# ruff: noqa: S608 - names and comments are our own


def _read(text: str) -> Iterator[Table]:
    for table in _TABLE.finditer(text):
        columns = (
            Column(one["name"], one["type"], one["comment"], bool(one["required"]))
            for one in _COLUMN.finditer(table["columns"])
        )
        yield Table(table["name"], table["comment"], tuple(columns))


_SCHEMA_TEXT = SCHEMA.read_text(encoding="utf-8")
TABLES: tuple[Table, ...] = tuple(_read(_SCHEMA_TEXT))
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
OF_RUN: tuple[Table, ...] = tuple(table for table in TABLES if table.owner == "run_id")
OF_TRIAL: tuple[Table, ...] = tuple(table for table in TABLES if table.owner == "trial_id")


def script() -> str:
    """Return the SQL script that creates every table with its comments and stores the schema version."""
    comments = []
    for table in TABLES:
        name = quoted(table.name)
        comments.append(f"COMMENT ON TABLE {name} IS {literal(table.comment)};")
        comments += [
            f"COMMENT ON COLUMN {name}.{quoted(column.name)} IS {literal(column.comment)};"
            for column in table.columns
        ]
    return "\n".join([_SCHEMA_TEXT, *comments, f"INSERT INTO schema_version VALUES ({SCHEMA_VERSION});"])


def arrow_types(table: Table) -> dict[str, pa.DataType]:
    """Return the Arrow type of each column of a table, in their order."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
    }
    return {column.name: types[column.type] for column in table.columns}
