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
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from benchbook.declare import plugin

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
    compared: bool = False
    """Whether its answer is compared with that of other systems, and not timed."""


class FailedError(Exception):
    """Operations failed, as events report; the text is the engine's message for the last failure."""


class StreamBrokenError(Exception):
    """The generator failed or its stream is incomplete; the text says which."""


Setting = str | int | float | bool
Row = tuple[int, str | None, float | int | str | None]
"""One row of an answer: start of the bucket in ns, host if grouped by host, value. For ``hits``, one value of a row:
number of the row, column, value."""
Found = list[Row] | Callable[[], list[Row]]
"""The rows of an answer; or a function, called untimed, that condenses a large answer into rows to compare."""
Reader = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs a statement with bound values and fetches all rows."""
ENGINES = (
    "duckdb", "sqlite", "files", "pandas", "polars", "datafusion", "chdb", "spark", "oracle", "dolphindb", "postgresql",
)  # fmt: skip
"""The last four are servers; their Python clients act as the engine."""


COLUMNS = ("stock_name", "open", "close", "high", "low", "volume", "amount", "turn")

Bar = Sequence[Any]
"""Seconds since 1970, stock, open, close, high, low, volume, amount, turn."""


@dataclass(frozen=True)
class Request:
    """A line of ``benchload bars-requests``: the bars of a stock in a time range, both ends included."""

    id: int
    type: str
    stock: int
    first: int
    """Seconds since 1970."""
    last: int
    bars: int
    """Number of bars that the dataset has in the range."""
    sha256: str
    """Digest of those bars, packed; empty if the request has none."""


Ask = Callable[[Request], Sequence[Bar]]
"""Reads the bars of a request over one connection."""


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

    def reader(self) -> Reader:
        """Return a function that runs statements over a separate connection, for one thread."""
        ...

    def bar_reader(self) -> Ask:
        """Return a function that reads bars over a separate connection, for one thread."""
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
            "Engine", import_module(f"benchbook.embedded.{name}_engine").open_database(where, settings)
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


Connect = Callable[[], Any]


class DbApi(Engine):
    """A server with a Python database API; a subclass writes its SQL.

    It has one connection for loading and counting, and one for each read in flight. Only bars are loaded and read,
    because the published comparison measured nothing else on these servers.
    """

    title: ClassVar[str]
    quote: ClassVar[str] = '"'
    to_seconds: ClassVar[str]
    """Expression for the column ``time`` in seconds since 1970."""
    between: ClassVar[str]
    """Condition on ``time`` and the stock, with the server's syntax for bound values."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection = connect()
        self._opened: list[Any] = [self._connection]

    def do(self, statement: str) -> None:
        """Run a statement that changes data or schema; ignore its answer."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement)
        finally:
            cursor.close()

    def ask(self, statement: str, values: Any = None, connection: Any = None) -> list[tuple[Any, ...]]:
        """Run a statement and fetch all rows of its answer."""
        cursor = (connection or self._connection).cursor()
        try:
            cursor.execute(statement) if values is None else cursor.execute(statement, values)
            return list(cursor.fetchall())
        finally:
            cursor.close()

    def quoted(self, name: str) -> str:
        """Quote a name for this server's SQL; names come from datasets and Benchbook only."""
        return f"{self.quote}{name}{self.quote}"

    def query(self, specification: Specification) -> list[Row]:
        """Raise FailedError: these servers only read bars."""
        raise FailedError(
            f"with {self.title}, Benchbook supports only the workload kline, not queries of type {specification.type}"
        )

    def reader(self) -> Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]:
        connection = self._new_connection()
        return lambda text, values: self.ask(text, values, connection)

    def bar_reader(self) -> Ask:
        columns = ", ".join(self.quoted(name) for name in COLUMNS)
        text = f"SELECT {self.to_seconds}, {columns} FROM {self.quoted('finance')} WHERE {self.between}"  # noqa: S608
        connection = self._new_connection()

        def ask(one: Request) -> Sequence[Bar]:
            return self.ask(*self.bind(text, one), connection=connection)

        return ask

    def bind(self, text: str, one: Request) -> tuple[str, Any]:
        """Return a statement and its bound values."""
        return text, {"stock": one.stock, "first": one.first, "last": one.last}

    def count(self) -> dict[str, Count]:
        """Count rows and non-null values of the fields, which exclude the key (stock and time)."""
        names = COLUMNS[1:]
        counts = ", ".join(["count(*)", *(f"count({self.quoted(name)})" for name in names)])
        found = {}
        for table in self.tables():
            rows, *values = self.ask(f"SELECT {counts} FROM {self.quoted(table)}")[0]  # noqa: S608
            found[table] = Count(int(rows), dict(zip(names, map(int, values), strict=True)))
        return found

    def interrupt(self) -> None:
        """Abort the running statement by closing its connection."""
        self._connection.close()

    def close(self) -> None:
        for one in self._opened:
            one.close()
        self._opened = []

    def _new_connection(self) -> Any:
        connection = self._connect()
        self._opened.append(connection)
        return connection


def text(settings: Mapping[str, Setting], name: str) -> str:
    """Return a required setting as text."""
    if name not in settings:
        raise ValueError(f'the setting "{name}" is missing')
    return str(settings[name])
