"""Spark SQL through the HiveServer2 protocol (impyla): batches are Parquet files that the server reads."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from benchbook.declare.level import Setting
from benchbook.workers.engine import text

from .bars import COLUMNS, Request
from .db_api import Connect, DbApi

if TYPE_CHECKING:
    import pyarrow as pa

TIMEOUT_SECONDS = 600


class Spark(DbApi):
    """A Spark that stores the table as Parquet with a folder per stock, like a Hive table."""

    title: ClassVar[str] = "Spark SQL"
    quote: ClassVar[str] = "`"
    to_seconds: ClassVar[str] = "unix_seconds(`time`)"
    between: ClassVar[str] = (
        "`stock_name` = '{stock}' AND `time` BETWEEN timestamp_seconds({first}) AND timestamp_seconds({last})"
    )

    def __init__(self, connect: Connect, folder: Path) -> None:
        """``folder`` holds batches on their way to the server; server and client both see it."""
        super().__init__(connect)
        self._folder = folder
        self._numbers = itertools.count()

    def bind(self, text: str, one: Request) -> tuple[str, Any]:
        """Insert the values, which are whole numbers, into the statement: HiveServer2 has no bound values."""
        return text.format(stock=int(one.stock), first=int(one.first), last=int(one.last)), None

    def version(self) -> str:
        """Return the version that ``version()`` reports, without the revision."""
        return str(self.ask("SELECT version()")[0][0]).split()[0]

    def tables(self) -> list[str]:
        return sorted(str(row[1]) for row in self.ask("SHOW TABLES"))

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - bars only
        """Create the table, partitioned by stock."""
        numbers = ", ".join(f"`{name}` BIGINT" for name in COLUMNS[1:])
        self.do(
            f"CREATE TABLE IF NOT EXISTS `{table}` (`time` TIMESTAMP, {numbers}, `stock_name` STRING) "
            "USING parquet PARTITIONED BY (`stock_name`)"
        )

    def convert(self, batch: pa.RecordBatch) -> Path:
        """Write a batch as a Parquet file; Spark's times have microseconds."""
        import pyarrow as pa
        from pyarrow import parquet

        file = self._folder / f"batch-{next(self._numbers)}.parquet"
        place = batch.schema.get_field_index("time")
        times = batch.column(place).cast(pa.timestamp("us", "UTC"))
        parquet.write_table(pa.Table.from_batches([batch]).set_column(place, "time", times), file)
        return file

    def insert(self, table: str, rows: Path) -> None:
        """Load a file, which is in the table's folder when this returns."""
        columns = ", ".join(f"`{name}`" for name in ("time", *COLUMNS[1:], "stock_name"))
        try:
            self.do(f"INSERT INTO `{table}` SELECT {columns} FROM parquet.`{rows}`")  # noqa: S608
        finally:
            rows.unlink(missing_ok=True)

    def settle(self) -> None:
        """Do nothing: files are complete when their insert returns, and nothing merges them."""


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> Spark:
    """Connect to ``hive2://host:port``; the setting ``folder`` is the folder for batches."""
    from impala.dbapi import connect

    parts = urlsplit(str(where))

    def new_connection() -> Any:
        return connect(host=parts.hostname, port=parts.port, auth_mechanism="NOSASL", timeout=TIMEOUT_SECONDS)

    return Spark(new_connection, Path(text(settings, "folder")))
