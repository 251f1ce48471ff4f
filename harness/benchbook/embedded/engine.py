"""What an engine is: the few calls that the worker makes on DuckDB, SQLite, and servers driven from Python.

A module of this package named ``<name>_engine`` offers ``open_database(where, settings) -> Engine``; ``where`` is a
file, or the URL of a server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchbook.embedded.specification import Specification

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbook.embedded.bars import Ask

Setting = str | int | float | bool
Row = tuple[int, str | None, float | int | None]
"""One row of an answer: start of the bucket in ns, host where grouped by host, value."""
Reader = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs a statement with its bound values and fetches all rows."""
ENGINES = ("duckdb", "sqlite", "spark", "oracle", "dolphindb")
"""The last three are servers; their drivers of Python stand for the engine here."""


@dataclass(frozen=True)
class Count:
    """Rows of a table and non-null values per field."""

    rows: int
    fields: dict[str, int]


class Engine(Protocol):
    """One open database. Every call may raise the engine's own errors."""

    def version(self) -> str:
        """Return the version that the library states, without a leading ``v``."""
        ...

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        ...

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table for batches of this schema: time, tags (text), fields (integer or float)."""
        ...

    def convert(self, batch: pa.RecordBatch) -> Any:
        """Bring a batch into the form that ``insert`` takes: work of the client, not of the engine."""
        ...

    def insert(self, table: str, rows: Any) -> None:
        """Insert one batch in one transaction; it is committed when this returns."""
        ...

    def query(self, specification: Specification) -> list[Row]:
        """Run one query and return its whole answer."""
        ...

    def reader(self) -> Reader:
        """Return a connection of its own to the open database, for one thread."""
        ...

    def asks(self) -> Ask:
        """Return how bars are asked for over a connection of its own, for one thread."""
        ...

    def settle(self) -> None:
        """Bring all committed data into the database file."""
        ...

    def count(self) -> dict[str, Count]:
        """Count rows and non-null values of every table."""
        ...

    def interrupt(self) -> None:
        """End the call that runs now with an error; called from another thread."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


def open_engine(name: str, where: str | Path, settings: Mapping[str, Setting]) -> Engine:
    """Open a database file, or connect to a server, importing only that engine's library."""
    if name not in ENGINES:
        raise ValueError(f'there is no engine "{name}"; allowed: {", ".join(ENGINES)}')
    module = import_module(f"benchbook.embedded.{name}_engine")
    return cast("Engine", module.open_database(where, settings))
