"""The interface between the worker and its engines: DuckDB, SQLite, and servers with a Python client.

A module of this package named ``<name>_engine`` provides ``open_database(where, settings) -> Engine``; ``where`` is a
file or the URL of a server. An experiment may add engines (``declare/plugin.py``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchbook.declare import plugin
from benchbook.declare.level import Setting

if TYPE_CHECKING:
    import pyarrow as pa


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
    """Empty means all hosts."""
    start_ns: int
    """First nanosecond since 1970."""
    end_ns: int
    """First nanosecond after the range."""
    group_by_host: bool
    form: str = ""
    """A question of the dataset ``frames`` or ``hits``, which has no bucket, hosts or range."""
    limit: float = 0.0
    """Rows above which a question of ``hits`` lists a group."""
    statements: Mapping[str, str] | None = None
    """Dialect → the question's text in SQL, for a question from a file; "" is the one of all other dialects."""
    ordered: bool = False
    """Whether the order of the answer's rows is compared, of a question from a file."""
    compared: bool = False
    """Whether its answer is compared with that of other systems, and not timed."""


class FailedError(Exception):
    """Operations failed, as events report; the text is the engine's message for the last failure."""


class StreamBrokenError(Exception):
    """The generator failed or its stream is incomplete; the text says which."""


Row = tuple[int, str | None, float | int | str | None]
"""One row of an answer: start of the bucket in ns, host if grouped by host, value. For ``hits``, one value of a row:
number of the row, column, value."""


@dataclass(frozen=True)
class Large:
    """A large answer. Called, untimed, it condenses itself into rows to compare."""

    rows: int
    """Number of its rows."""
    condense: Callable[[], list[Row]]

    def __call__(self) -> list[Row]:
        """Return the rows to compare."""
        return self.condense()


Found = list[Row] | Large
"""The rows of an answer, or a large one."""
Reader = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs a statement with bound values and fetches all rows."""
ENGINES = ("duckdb", "sqlite", "files", "pandas", "polars", "datafusion", "chdb", "postgresql", "mysql")
"""The last two are servers; a Python client acts as the engine."""


@dataclass(frozen=True)
class Count:
    """Rows of a table and non-null values per field."""

    rows: int
    fields: dict[str, int]


class Engine(Protocol):
    """One open database. Every call may raise the engine's own errors."""

    def version(self) -> str:
        """Return the version that the library reports, without a leading ``v``."""
        ...

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        ...

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table for batches of this schema: time, tags (text), fields (integer or float)."""
        ...

    def convert(self, batch: pa.RecordBatch) -> Any:
        """Convert a batch into the form that ``insert`` takes, which is the client's work, not the engine's."""
        ...

    def insert(self, table: str, rows: Any) -> None:
        """Insert one batch in one transaction, which is committed when this returns."""
        ...

    def query(self, specification: Specification) -> Found:
        """Run one query and return its whole answer."""
        ...

    def settle(self) -> None:
        """Write all committed data to the database file."""
        ...

    def count(self) -> dict[str, Count]:
        """Count rows and non-null values of every table."""
        ...

    def interrupt(self) -> None:
        """Abort the running call with an error; called from another thread."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


def open_engine(name: str, where: str | Path, settings: Mapping[str, Setting]) -> Engine:
    """Open a database file, or connect to a server, importing only that engine's library."""
    if name in ENGINES:
        return cast(
            "Engine", import_module(f"benchbook.workers.{name}_engine").open_database(where, settings)
        )
    added = plugin.every("engine", ENGINES)
    if name not in added:
        raise ValueError(f'there is no engine "{name}"; allowed: {", ".join([*ENGINES, *added])}')
    return cast("Engine", added[name](where, settings))


CHECK_SECONDS = 0.05


class Watchdog:
    """One thread that checks one deadline, which is cheaper than starting a timer for each operation."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._deadline: float | None = None
        self.expired = False
        """True if the last operation was aborted because it took too long."""
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopped.set()

    def kind(self) -> str:
        """Return the kind of the last operation's error: ``timeout`` or ``refused``."""
        return "timeout" if self.expired else "refused"

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Interrupt the operation in the ``with`` block if it takes longer than ``seconds``."""
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


def text(settings: Mapping[str, Setting], name: str) -> str:
    """Return a required setting as text."""
    if name not in settings:
        raise ValueError(f'the setting "{name}" is missing')
    return str(settings[name])
