"""SQLite through Python's standard library: batches are rows, with one transaction per batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count, Found, Reader, Specification
from benchbook.workers.query import Dialect, quoted, render
from benchbook.workers.questions import converted, declared, of_table

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbook.workers.blob import Item


DIALECT = Dialect(time_to_ns='"time"', ns_to_time="?", divide="/")


def connect(path: str, settings: Mapping[str, Setting], timeout_seconds: float = 5.0) -> sqlite3.Connection:
    """Open a SQLite file; settings are pragmas. Raise ValueError for an unknown pragma."""
    # Autocommit: this module begins and commits transactions explicitly.
    connection = sqlite3.connect(path, timeout=timeout_seconds, isolation_level=None, check_same_thread=False)
    known = {str(row[0]) for row in connection.execute("PRAGMA pragma_list")}
    # The page size can only be set before anything is written.
    for name in sorted(settings, key=lambda name: name != "page_size"):
        if name not in known:
            raise ValueError(f'SQLite has no pragma "{name}"')
        connection.execute(f"PRAGMA {name} = {_literal(settings[name])}").fetchall()
    return connection


class SQLite:
    """One SQLite file. Times are integer nanoseconds; every table has one index, on host (or stock) and time."""

    dialect = DIALECT

    def __init__(self, path: Path, settings: Mapping[str, Setting]) -> None:
        self._path, self._settings = str(path), settings
        self._connection = connect(self._path, settings)

    def version(self) -> str:
        """Return the version of the library to which Python is linked."""
        return sqlite3.sqlite_version

    def tables(self) -> list[str]:
        found = self._connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        )
        return [str(row[0]) for row in found]

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table and its index on host and time, or on time alone if there is no host."""
        if found := declared(table):
            parts = ", ".join(filter(None, (found.columns, found.key)))
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({parts})")
            return
        columns = [f"{quoted(column.name)} {_type(column)}" for column in schema]
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {quoted(table)} ({', '.join(columns)})")
        keys = [quoted(name) for name in ("hostname", "stock_name", "time") if name in schema.names]
        index = quoted(f"{table}_by_host_and_time")
        self._connection.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {quoted(table)} ({', '.join(keys)})")

    def convert(self, batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
        """Convert a batch to Python rows for SQLite's binding; declared times become text, as ClickBench has them."""
        import pyarrow as pa

        if (typed := converted(batch)) is not None:
            texts = [
                one.cast(pa.string()) if pa.types.is_temporal(one.type) else one for one in typed.columns
            ]
            return list(zip(*(one.to_pylist() for one in texts), strict=True))
        columns = [
            (column.view(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
            for column in batch.columns
        ]
        return list(zip(*columns, strict=True))

    def insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        places = ", ".join("?" * len(rows[0]))
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({places})", rows)  # noqa: S608
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def query(self, specification: Specification) -> Found:
        if questions := of_table(specification.table):
            return questions.ask(
                specification, "sqlite", lambda text: self._connection.execute(text).fetchall()
            )
        text, parameters = render(specification, DIALECT)
        return self._connection.execute(text, parameters).fetchall()

    def reader(self) -> Reader:
        """Return a function that runs statements over a separate connection; connections read concurrently."""
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        return lambda text, values: connection.execute(text, values).fetchall()

    def objects(self, timeout_seconds: float) -> SQLiteObjects:
        """Return a separate connection to the table of objects, which is created if missing."""
        return SQLiteObjects(self.connect(timeout_seconds))

    def connect(self, timeout_seconds: float) -> sqlite3.Connection:
        """Return a separate connection with the arm's settings; it waits so long for connections that write."""
        return connect(self._path, self._settings, timeout_seconds)

    def settle(self) -> None:
        """Write the log to the database file and empty it, if the journal is a log."""
        busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError(
                "could not empty the write-ahead log: another connection reads from it"
            )

    def count(self) -> dict[str, Count]:
        counts = {}
        for table in self.tables():
            described = self._connection.execute(f"PRAGMA table_info({quoted(table)})")
            names = [row[1] for row in described if row[2] not in ("TEXT", "BLOB") and row[1] != "time"]
            names = list(found.numbers) if (found := declared(table)) else names
            wanted = ", ".join(["count(*)", *(f"count({quoted(name)})" for name in names)])
            row = self._connection.execute(f"SELECT {wanted} FROM {quoted(table)}").fetchone()  # noqa: S608
            counts[table] = Count(row[0], dict(zip(names, row[1:], strict=True)))
        return counts

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> SQLite:
    """Open a SQLite file; settings are pragmas. Raise ValueError for an unknown pragma."""
    return SQLite(Path(where), settings)


def _literal(value: Setting) -> str:
    """Return a setting in the form of a pragma: a number or a quoted word."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"


def _type(column: pa.Field) -> str:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_integer(column.type):
        return "INTEGER"
    return "REAL" if pa.types.is_floating(column.type) else "TEXT"


CREATE = "CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, content BLOB NOT NULL)"
INSERT = "INSERT INTO objects (key, content) VALUES (?, ?)"
READ = "SELECT content FROM objects WHERE key = ?"
REMOVE = "DELETE FROM objects WHERE key = ?"


class SQLiteObjects:
    """One connection to a table of objects with key and bytes, like PostgreSQL's.

    It waits for connections that write, up to the time with which it was opened.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute(CREATE)

    def put(self, items: Sequence[Item]) -> None:
        if len(items) == 1:
            self._connection.execute(INSERT, (items[0].key, items[0].content))
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(INSERT, [(item.key, item.content) for item in items])
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def get(self, key: str) -> bytes | None:
        found = self._connection.execute(READ, (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def delete(self, key: str) -> bool:
        return self._connection.execute(REMOVE, (key,)).rowcount == 1

    def close(self) -> None:
        self._connection.close()
