"""PostgreSQL through psycopg, for the questions of ClickBench; benchload loads and asks everything else."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.numeric import FloatLoader

from benchbook.embedded import hits
from benchbook.embedded.engine import (
    Ask,
    Count,
    Engine,
    FailedError,
    Found,
    Reader,
    Setting,
    Specification,
    text,
)

if TYPE_CHECKING:
    import pyarrow as pa


class PostgreSQL(Engine):
    """One connection to one database; its table has no index, as in the publication."""

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
        found = self._rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [str(name) for (name,) in found]

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - the publication states the columns
        if table != hits.TABLE:
            raise FailedError(
                f"this client of PostgreSQL loads only the table of the dataset hits, not {table}"
            )
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({hits.DDL})")

    def convert(self, batch: pa.RecordBatch) -> bytes:
        """Return a batch as CSV."""
        from pyarrow import csv

        sink = io.BytesIO()
        csv.write_csv(hits.typed(batch), sink, csv.WriteOptions(include_header=False))
        return sink.getvalue()

    def insert(self, table: str, rows: bytes) -> None:
        """Copy a batch, as one statement and transaction."""
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy,
        ):
            copy.write(rows)

    def query(self, specification: Specification) -> Found:
        if specification.table != hits.TABLE:
            raise FailedError(
                f"this client of PostgreSQL asks only the questions of the dataset hits, not {specification.type}"
            )
        return hits.ask(specification, "postgresql", self._rows)

    def reader(self) -> Reader:
        """Raise FailedError: benchload runs other statements."""
        raise FailedError("this client of PostgreSQL runs no other statements")

    def bar_reader(self) -> Ask:
        """Raise FailedError: benchload reads bars."""
        raise FailedError("this client of PostgreSQL does not read bars")

    def settle(self) -> None:
        """Vacuum and analyse, as the publication does after its load."""
        self._connection.execute("VACUUM ANALYZE")

    def count(self) -> dict[str, Count]:
        wanted = ", ".join(["count(*)", *(f"count({name})" for name in hits.NUMBERS)])
        counts = {}
        for table in self.tables():
            rows, *values = self._rows(f"SELECT {wanted} FROM {table}")[0]  # noqa: S608 - the name of our table
            counts[table] = Count(rows, dict(zip(hits.NUMBERS, values, strict=True)))
        return counts

    def interrupt(self) -> None:
        self._connection.cancel()

    def close(self) -> None:
        self._connection.close()

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        # The text is a question of hits.sql, or made of our names.
        return self._connection.execute(statement.encode()).fetchall()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> PostgreSQL:
    """Connect to the database ``database`` of a server; ``password`` is the user's."""
    return PostgreSQL(str(where), settings)
