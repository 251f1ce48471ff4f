"""PostgreSQL through psycopg, for sets of questions; benchload loads and asks everything else."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.numeric import FloatLoader

from benchbook.declare.level import Setting
from benchbook.workers.engine import text
from benchbook.workers.questions import QuestionEngine, converted

if TYPE_CHECKING:
    import pyarrow as pa


class PostgreSQL(QuestionEngine):
    """One connection to one database; its table has no index, as in the publication."""

    title = "this client of PostgreSQL"
    dialect = "postgresql"

    def __init__(self, url: str, settings: Mapping[str, Setting]) -> None:
        # A statement is planned each time that it is asked, as in the publication.
        self._connection = psycopg.connect(
            url,
            dbname=text(settings, "database"),
            password=text(settings, "password"),
            autocommit=True,
            prepare_threshold=None,
        )
        # Means are decimals in PostgreSQL and floats elsewhere.
        self._connection.adapters.register_loader("numeric", FloatLoader)

    def version(self) -> str:
        return self._connection.info.parameter_status("server_version") or ""

    def tables(self) -> list[str]:
        found = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [str(name) for (name,) in found]

    def convert(self, batch: pa.RecordBatch) -> bytes:
        """Return a batch as CSV."""
        from pyarrow import csv

        sink = io.BytesIO()
        csv.write_csv(converted(batch), sink, csv.WriteOptions(include_header=False))
        return sink.getvalue()

    def insert(self, table: str, rows: bytes) -> None:
        """Copy a batch, as one statement and transaction."""
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy,
        ):
            copy.write(rows)

    def settle(self) -> None:
        """Vacuum and analyse, as the publication does after its load."""
        self.rows("VACUUM ANALYZE")

    def interrupt(self) -> None:
        self._connection.cancel()

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        # psycopg's types take bytes where a statement is not a literal.
        cursor = self._connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> PostgreSQL:
    """Connect to the database ``database`` of a server; ``password`` is the user's."""
    return PostgreSQL(str(where), settings)
