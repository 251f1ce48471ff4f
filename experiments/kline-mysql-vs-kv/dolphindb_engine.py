"""DolphinDB through its own Python API: scripts in, data frames out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count, FailedError, Row, Specification

from .bars import COLUMNS, Ask, Bar, Request

if TYPE_CHECKING:
    import pyarrow as pa

PASSWORD = "BENCHBOOK_DOLPHINDB_PASSWORD"  # noqa: S105 - the name of a variable
"""Environment variable with the account's password."""
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
        """Return the version that ``version()`` reports, without the build date."""
        return str(self._session.run("version()")).split()[0]

    def tables(self) -> list[str]:
        """Return the names of the database's tables; empty if the database does not exist yet."""
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
        """Convert a batch to a data frame, which the API uploads."""
        return typed(batch).to_pandas()

    def insert(self, table: str, rows: Any) -> None:
        """Append a batch, which is in the log when this returns."""
        self._session.run(f"tableInsert{{loadTable('{DATABASE}', '{table}')}}", rows)

    def query(self, specification: Specification) -> list[Row]:
        """Raise FailedError: it only reads bars."""
        raise FailedError(f"DolphinDB reads only bars here (the workload kline), not {specification.type}")

    def bar_reader(self) -> Ask:
        session, columns = self._new_session(), ", ".join(COLUMNS)
        text = f"select long(time) / {NS} as seconds, {columns} from loadTable('{DATABASE}', 'finance')"  # noqa: S608

        def ask(one: Request) -> Sequence[Bar]:
            first, last = (f"nanotimestamp({seconds * NS})" for seconds in (one.first, one.last))
            return _rows(
                session.run(f"{text} where stock_name = {int(one.stock)}, time between {first} : {last}")
            )

        return ask

    def settle(self) -> None:
        """Flush memory to the column files and merge their levels."""
        self._session.run("flushTSDBCache()")

    def count(self) -> dict[str, Count]:
        names = COLUMNS[1:]
        wanted = ", ".join(["count(*) as rows", *(f"count({name}) as {name}" for name in names)])
        found = {}
        for table in self.tables():
            frame = self._session.run(f"select {wanted} from loadTable('{DATABASE}', '{table}')")  # noqa: S608
            rows, *values = _rows(frame)[0]
            found[table] = Count(int(rows), dict(zip(names, map(int, values), strict=True)))
        return found

    def interrupt(self) -> None:
        """Abort the running script by closing its session."""
        self._session.close()

    def close(self) -> None:
        for session in self._opened:
            session.close()
        self._opened = []

    def _new_session(self) -> Any:
        session = self._connect()
        self._opened.append(session)
        return session


def typed(batch: pa.RecordBatch) -> pa.Table:
    """Return a batch with the table's column order and types: times without zone, stocks as numbers."""
    import pyarrow as pa

    times = batch.column("time").view(pa.timestamp("ns"))
    stocks = batch.column("stock_name").cast(pa.int32())
    rest = {name: batch.column(name) for name in COLUMNS[1:]}
    return pa.table({"time": times, "stock_name": stocks, **rest})


def _rows(frame: Any) -> list[tuple[Any, ...]]:
    return list(frame.itertuples(index=False, name=None))


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> DolphinDB:  # noqa: ARG001 - as every engine
    """Connect to ``dolphindb://user@host:port``; without a user, as the initial administrator."""
    import dolphindb

    parts = urlsplit(str(where))
    user = parts.username or "admin"
    password = os.environ.get(PASSWORD, "123456" if user == "admin" else "")

    def connect() -> Any:
        session = dolphindb.session()
        if not session.connect(parts.hostname, parts.port, user, password):
            raise ConnectionError(f"DolphinDB at {parts.hostname}:{parts.port} refuses a session for {user}")
        return session

    return DolphinDB(connect)
