"""DolphinDB through its own Python API: scripts go in, data frames come out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.embedded.bars import COLUMNS
from benchbook.embedded.engine import Count, FailedError, Row, Setting, Specification

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbook.embedded.bars import Ask, Bar, Request

PASSWORD = "BENCHBOOK_DOLPHINDB_PASSWORD"  # noqa: S105 - the name of a variable
"""Environment variable with the password of the account."""
DATABASE = "dfs://benchbook"
PARTITIONS = 64
NS = 1_000_000_000


class DolphinDB:
    """One database of hash partitions by stock, sorted by stock and time (its engine TSDB)."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._session = connect()
        self._opened = [self._session]

    def version(self) -> str:
        """Return what ``version()`` states, without the date of its build."""
        return str(self._session.run("version()")).split()[0]

    def tables(self) -> list[str]:
        """Return the names of the tables of the database, of which there may be none yet."""
        if not self._session.run(f"existsDatabase('{DATABASE}')"):
            return []
        return sorted(str(name) for name in self._session.run(f"getTables(database('{DATABASE}'))"))

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - bars only
        """Create the database and its table."""
        names = "`".join(("time", *COLUMNS))
        types = "NANOTIMESTAMP, INT" + ", LONG" * (len(COLUMNS) - 1)
        self._session.run(
            f"db = database('{DATABASE}', HASH, [INT, {PARTITIONS}], engine='TSDB'); "
            f"shape = table(1:0, `{names}, [{types}]); "
            f"createPartitionedTable(dbHandle=db, table=shape, tableName='{table}', "
            "partitionColumns='stock_name', sortColumns=`stock_name`time)"
        )

    def convert(self, batch: pa.RecordBatch) -> Any:
        """Make a data frame of a batch: what its API uploads."""
        return typed(batch).to_pandas()

    def insert(self, table: str, rows: Any) -> None:
        """Append a batch; it stands in the log when this returns."""
        self._session.run(f"tableInsert{{loadTable('{DATABASE}', '{table}')}}", rows)

    def query(self, specification: Specification) -> list[Row]:
        """Refuse: it is asked for bars only."""
        raise FailedError(f"DolphinDB is asked for bars only, not for {specification.type}")

    def reader(self) -> Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]:
        """Return a session's own way to ask; a script has no places for values."""
        session = self._another()
        return lambda text, _: _rows(session.run(text))

    def asks(self) -> Ask:
        """Return how bars are asked for over a session of its own."""
        session, columns = self._another(), ", ".join(COLUMNS)
        text = f"select long(time) / {NS} as seconds, {columns} from loadTable('{DATABASE}', 'finance')"  # noqa: S608

        def ask(one: Request) -> Sequence[Bar]:
            first, last = (f"nanotimestamp({seconds * NS})" for seconds in (one.first, one.last))
            return _rows(
                session.run(f"{text} where stock_name = {int(one.stock)}, time between {first} : {last}")
            )

        return ask

    def settle(self) -> None:
        """Have what is in memory written to the column files, and their levels merged."""
        self._session.run("flushTSDBCache()")

    def count(self) -> dict[str, Count]:
        """Count rows and non-null values."""
        names = COLUMNS[1:]
        wanted = ", ".join(["count(*) as rows", *(f"count({name}) as {name}" for name in names)])
        found = {}
        for table in self.tables():
            frame = self._session.run(f"select {wanted} from loadTable('{DATABASE}', '{table}')")  # noqa: S608
            rows, *values = _rows(frame)[0]
            found[table] = Count(int(rows), dict(zip(names, map(int, values), strict=True)))
        return found

    def interrupt(self) -> None:
        """End what runs now, by closing the session under it."""
        self._session.close()

    def close(self) -> None:
        """Close every session."""
        for session in self._opened:
            session.close()
        self._opened = []

    def _another(self) -> Any:
        session = self._connect()
        self._opened.append(session)
        return session


def typed(batch: pa.RecordBatch) -> pa.Table:
    """Return a batch in the table's order and types: times without a zone, stocks as numbers."""
    import pyarrow as pa

    times = batch.column("time").view(pa.timestamp("ns"))
    stocks = batch.column("stock_name").cast(pa.int32())
    rest = {name: batch.column(name) for name in COLUMNS[1:]}
    return pa.table({"time": times, "stock_name": stocks, **rest})


def _rows(frame: Any) -> list[tuple[Any, ...]]:
    return list(frame.itertuples(index=False, name=None))


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> DolphinDB:  # noqa: ARG001 - as every engine
    """Connect to ``dolphindb://user@host:port``; without a user as its administrator of the first start."""
    import dolphindb

    parts = urlsplit(str(where))
    user = parts.username or "admin"
    password = os.environ.get(PASSWORD, "123456" if user == "admin" else "")

    def another() -> Any:
        session = dolphindb.session()
        if not session.connect(parts.hostname, parts.port, user, password):
            raise ConnectionError(f"DolphinDB at {parts.hostname}:{parts.port} takes no session of {user}")
        return session

    return DolphinDB(another)
