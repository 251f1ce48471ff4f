"""A server driven through Python's database API, as the worker sees an engine; a subclass writes its SQL.

Only bars of stocks are loaded and read: the published comparison measured these servers with nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from benchbook.embedded.bars import COLUMNS, Ask, Bar, Request
from benchbook.embedded.engine import Count, FailedError, Row, Setting, Specification

Connect = Callable[[], Any]


class DbApi:
    """Connections of one server: one for loading and counting, and one for each read in flight."""

    title: ClassVar[str]
    quote: ClassVar[str] = '"'
    to_seconds: ClassVar[str]
    """Expression of the column ``time`` as seconds since 1970."""
    between: ClassVar[str]
    """Condition on ``time`` and the stock, in the server's way of binding values."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection = connect()
        self._opened: list[Any] = [self._connection]

    def do(self, statement: str) -> None:
        """Run a statement that changes something; its answer, if it has one, is left alone."""
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
        """Return a name as this server's SQL writes it; all names are the dataset's and ours."""
        return f"{self.quote}{name}{self.quote}"

    def version(self) -> str:
        """Return the version that the server states."""
        raise NotImplementedError

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        raise NotImplementedError

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create the table of bars."""
        raise NotImplementedError

    def convert(self, batch: pa.RecordBatch) -> Any:
        """Bring a batch into the form that ``insert`` takes."""
        raise NotImplementedError

    def insert(self, table: str, rows: Any) -> None:
        """Insert a batch; it is committed when this returns."""
        raise NotImplementedError

    def query(self, specification: Specification) -> list[Row]:
        """Refuse: these servers are asked for bars only."""
        raise FailedError(f"{self.title} is asked for bars only, not for {specification.type}")

    def reader(self) -> Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]:
        """Return a connection's own way to ask."""
        connection = self._another()
        return lambda text, values: self.ask(text, values, connection)

    def asks(self) -> Ask:
        """Return how bars are asked for over a connection of its own."""
        columns = ", ".join(self.quoted(name) for name in COLUMNS)
        text = f"SELECT {self.to_seconds}, {columns} FROM {self.quoted('finance')} WHERE {self.between}"  # noqa: S608
        connection = self._another()

        def ask(one: Request) -> Sequence[Bar]:
            return self.ask(*self.bound(text, one), connection=connection)

        return ask

    def bound(self, text: str, one: Request) -> tuple[str, Any]:
        """Return a statement and the values that it is bound to."""
        return text, {"stock": one.stock, "first": one.first, "last": one.last}

    def settle(self) -> None:
        """Have everything that is committed written to the tables' own files."""
        raise NotImplementedError

    def count(self) -> dict[str, Count]:
        """Count rows and non-null values; the key, stock and time, is no field."""
        names = COLUMNS[1:]
        counts = ", ".join(["count(*)", *(f"count({self.quoted(name)})" for name in names)])
        found = {}
        for table in self.tables():
            rows, *values = self.ask(f"SELECT {counts} FROM {self.quoted(table)}")[0]  # noqa: S608
            found[table] = Count(int(rows), dict(zip(names, map(int, values), strict=True)))
        return found

    def interrupt(self) -> None:
        """End what runs now, by closing the connection under it."""
        self._connection.close()

    def close(self) -> None:
        """Close every connection."""
        for one in self._opened:
            one.close()
        self._opened = []

    def _another(self) -> Any:
        connection = self._connect()
        self._opened.append(connection)
        return connection


def text(settings: Mapping[str, Setting], name: str) -> str:
    """Return a setting that must be there, as text."""
    if name not in settings:
        raise ValueError(f'the setting "{name}" is missing')
    return str(settings[name])
