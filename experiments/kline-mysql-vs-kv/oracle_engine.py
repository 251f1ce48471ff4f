"""Oracle through python-oracledb in thin mode, which needs no Oracle library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from benchbook.declare.level import Setting

from .bars import COLUMNS
from .db_api import DbApi

if TYPE_CHECKING:
    import pyarrow as pa

PASSWORD = "BENCHBOOK_ORACLE_PASSWORD"  # noqa: S105 - the name of a variable
"""Environment variable with the account's password, for servers that the harness does not start."""
PARTITIONS = 64
EPOCH = "DATE '1970-01-01'"
BITS_24, BITS_32, BITS_16 = "NUMBER(8) NOT NULL", "NUMBER(10) NOT NULL", "NUMBER(5) NOT NULL"
TYPES = dict(
    zip(COLUMNS, (BITS_16, BITS_24, BITS_24, BITS_24, BITS_24, BITS_32, BITS_32, BITS_16), strict=True)
)
"""Column → type, as wide as in the published MySQL table."""


class Oracle(DbApi):
    """One account of an Oracle database; times are DATE, with whole seconds, like the published table's."""

    title: ClassVar[str] = "Oracle"
    to_seconds: ClassVar[str] = f'ROUND(("time" - {EPOCH}) * 86400)'
    between: ClassVar[str] = (
        f'"stock_name" = :stock AND "time" BETWEEN {EPOCH} + :first / 86400 AND {EPOCH} + :last / 86400'
    )

    def version(self) -> str:
        """Return the version that the server reports, such as 23.6.0.24.10."""
        return str(self._connection.version)

    def tables(self) -> list[str]:
        return sorted(str(row[0]) for row in self.ask("SELECT table_name FROM user_tables"))

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - bars only
        """Create the published table: hash partitions by stock, primary key on stock and time."""
        columns = ", ".join(f'"{name}" {kind}' for name, kind in TYPES.items())
        self.do(
            f'CREATE TABLE "{table}" ("time" DATE NOT NULL, {columns}, '
            'PRIMARY KEY ("stock_name", "time") USING INDEX LOCAL) '
            f'PARTITION BY HASH ("stock_name") PARTITIONS {PARTITIONS}'
        )

    def convert(self, batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
        """Convert a batch to rows for binding."""
        import pyarrow as pa

        seconds = batch.column("time").view(pa.int64()).to_pylist()
        times = [datetime.fromtimestamp(ns // 1_000_000_000, UTC).replace(tzinfo=None) for ns in seconds]
        stocks = [int(name) for name in batch.column("stock_name").to_pylist()]
        return list(
            zip(times, stocks, *(batch.column(name).to_pylist() for name in COLUMNS[1:]), strict=True)
        )

    def insert(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        """Insert a batch in one round trip and commit it."""
        names = ", ".join(f'"{name}"' for name in ("time", *COLUMNS))
        places = ", ".join(f":{number}" for number in range(1, len(COLUMNS) + 2))
        cursor = self._connection.cursor()
        try:
            cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)  # noqa: S608
            self._connection.commit()
        finally:
            cursor.close()

    def settle(self) -> None:
        """Write every changed block and gather the optimizer's statistics, which Oracle does at night."""
        self.do("BEGIN DBMS_STATS.GATHER_SCHEMA_STATS(USER); END;")
        self.do("ALTER SYSTEM CHECKPOINT")

    def interrupt(self) -> None:
        self._connection.cancel()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> Oracle:
    """Connect to ``oracle://user@host:port/service``.

    If the setting ``make`` is true, the password is also SYSTEM's, which creates a missing account first.
    """
    import oracledb

    parts = urlsplit(str(where))
    password = str(settings.get("password") or os.environ.get(PASSWORD, ""))
    address = f"{parts.hostname}:{parts.port}{parts.path}"
    user = parts.username or ""
    if settings.get("make"):
        with oracledb.connect(user="system", password=password, dsn=address) as system:
            _make(system.cursor(), user, password)
    return Oracle(lambda: oracledb.connect(user=user, password=password, dsn=address))


def _make(cursor: Any, user: str, password: str) -> None:
    cursor.execute("SELECT count(*) FROM all_users WHERE username = UPPER(:1)", [user])
    if cursor.fetchone()[0]:
        return
    cursor.execute(f'CREATE USER {user} IDENTIFIED BY "{password}" QUOTA UNLIMITED ON USERS')
    cursor.execute(f"GRANT CREATE SESSION, CREATE TABLE, ALTER SYSTEM TO {user}")
