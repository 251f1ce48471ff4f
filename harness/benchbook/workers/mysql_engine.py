"""MySQL and MariaDB through PyMySQL, for tables from a file; benchload loads and asks everything else."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pymysql

from benchbook.declare.level import Setting
from benchbook.workers.engine import FailedError, text
from benchbook.workers.questions import QuestionEngine, converted

if TYPE_CHECKING:
    import pyarrow as pa


class MySQL(QuestionEngine):
    """One connection to one database. Texts are compared by their bytes, as in other systems."""

    title = "this client of MySQL"
    dialect = "mysql"
    quote = "`"
    types = MappingProxyType({" TEXT": " LONGTEXT", " TIMESTAMP": " DATETIME(6)"})
    suffix = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

    def __init__(self, url: str, settings: Mapping[str, Setting]) -> None:
        at = urlsplit(url)
        self._options: dict[str, Any] = {
            "host": at.hostname, "port": at.port, "user": "root", "database": text(settings, "database"),
            "charset": "utf8mb4", "autocommit": True, "local_infile": True,
            # A backslash in a question is then one, as in other systems.
            "init_command": "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')",
        }  # fmt: skip
        self._connection = pymysql.connect(**self._options)

    def version(self) -> str:
        return str(self.rows("SELECT VERSION()")[0][0]).partition("-")[0]

    def tables(self) -> list[str]:
        return [str(name) for (name,) in self.rows("SHOW TABLES")]

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table, and permit this client to send rows; MySQL 8 does not by default."""
        super().create(table, schema)
        if not self.rows("SELECT @@GLOBAL.local_infile")[0][0]:
            self.rows("SET GLOBAL local_infile = 1")

    def convert(self, batch: pa.RecordBatch) -> tuple[int, bytes]:
        """Return the number of rows of a batch, and the rows as LOAD DATA reads them."""
        typed = converted(batch)
        return batch.num_rows, lines(batch if typed is None else typed)

    def insert(self, table: str, rows: tuple[int, bytes]) -> None:
        """Load a batch, as one statement and transaction; raise FailedError if a value does not fit."""
        number, content = rows
        with tempfile.NamedTemporaryFile() as file, self._connection.cursor() as cursor:
            file.write(content)
            file.flush()
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{file.name}' INTO TABLE `{table}` CHARACTER SET utf8mb4"
                " FIELDS ESCAPED BY '\\'"  # without this clause, there is no escape in this mode
            )
            if cursor.rowcount != number or cursor.warning_count:
                cursor.execute("SHOW WARNINGS LIMIT 1")
                why = cursor.fetchone()
                raise FailedError(f"loaded {cursor.rowcount} of {number} rows as they are: {why}")

    def settle(self) -> None:
        """Count the values of each column for the optimiser; the driver waits until all pages are written."""
        for table in self.tables():
            self.rows(f"ANALYZE TABLE `{table}`")

    def interrupt(self) -> None:
        with pymysql.connect(**self._options) as other, other.cursor() as cursor:
            cursor.execute(f"KILL QUERY {self._connection.thread_id()}")

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())


ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n"}
"""Text → what LOAD DATA reads as this text."""


def lines(batch: pa.RecordBatch) -> bytes:
    """Return rows with a tab between values and a line feed after each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        if pa.types.is_string(column.type):
            texts = column
            for plain, escaped in ESCAPES.items():
                texts = pc.replace_substring(texts, plain, escaped)
        else:
            texts = (column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column).cast(pa.string())
        columns.append(pc.fill_null(texts, "\\N"))
    rows = pc.binary_join_element_wise(*columns, "\t")
    return "".join(f"{row}\n" for row in rows.to_pylist()).encode()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> MySQL:
    """Connect to the database ``database`` of a server as root, who has no password."""
    return MySQL(str(where), settings)
