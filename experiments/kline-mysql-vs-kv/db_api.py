"""A server with a Python database API, which loads and reads bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from benchbook.workers.engine import Count, Engine, FailedError, Row, Specification

from .bars import COLUMNS, Ask, Bar, Request

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
