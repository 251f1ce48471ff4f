"""The calls that the worker makes on an engine, and their form for servers with a Python database API."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbook.embedded.bars import Ask


@dataclass(frozen=True)
class Specification:
    """An aggregate of one field in buckets of time, for some hosts or all: a line of ``queries.jsonl``."""

    id: int
    type: str
    table: str
    field: str
    aggregate: str
    bucket_ns: int
    hosts: tuple[str, ...]
    """Empty for all hosts."""
    start_ns: int
    """First nanosecond since 1970."""
    end_ns: int
    """First nanosecond that is no part of it."""
    group_by_host: bool


# How a workload ends that does not end well.


class FailedError(Exception):
    """Operations failed, which the events told; the text is the engine's words for the last of them."""


class StreamBrokenError(Exception):
    """The generator failed, or its stream ended in the middle; the text says which."""


# What an engine is: the few calls that the worker makes on DuckDB, SQLite, and servers driven from Python.
#
# A module of this package named ``<name>_engine`` offers ``open_database(where, settings) -> Engine``; ``where`` is a
# file, or the URL of a server.

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


# A server behind Python's database API, as the worker sees an engine; a subclass says how its SQL is written.
#
# Only bars of stocks are loaded and read: the published comparison measured these servers with nothing else.


CHECK_SECONDS = 0.05


class Watchdog:
    """One thread that looks at one deadline: starting a timer for each operation would cost more."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._deadline: float | None = None
        self.expired = False
        """Whether the last operation was ended for taking too long."""
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Stop looking."""
        self._stopped.set()

    def kind(self) -> str:
        """Return the kind of the error that the last operation met: ``timeout`` or ``refused``."""
        return "timeout" if self.expired else "refused"

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Interrupt what runs inside when it takes longer than ``seconds``."""
        self.expired = False
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while not self._stopped.wait(CHECK_SECONDS):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self.expired = True
                self._interrupt()
