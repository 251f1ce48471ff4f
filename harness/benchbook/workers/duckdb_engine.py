"""DuckDB through its Python binding: batches are Arrow data, without conversion to Python objects."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count, Found, Large, Reader, Row, Specification
from benchbook.workers.query import Dialect, quoted, render
from benchbook.workers.questions import converted, declared, of_table, sets

if TYPE_CHECKING:
    import pyarrow as pa

DIALECT = Dialect(time_to_ns='epoch_ns("time")', ns_to_time="make_timestamp_ns(?)", divide="//")
OLDER = replace(DIALECT, ns_to_time="make_timestamp(? // 1000)::TIMESTAMP_NS")
"""Before DuckDB 1.1, whose functions have microseconds; no query set asks for parts of them."""


class DuckDB:
    """One DuckDB file without an index: DuckDB uses min-max zone maps for time ranges."""

    def __init__(self, path: Path, settings: Mapping[str, Setting]) -> None:
        self._connection = duckdb.connect(str(path), config=dict(settings))
        has = "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'make_timestamp_ns'"
        self.dialect = DIALECT if self._one(has) else OLDER
        self._numbers = itertools.count()

    def version(self) -> str:
        return str(self._one("SELECT version()")).removeprefix("v")

    def tables(self) -> list[str]:
        found = self._connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        return [str(row[0]) for row in found]

    def create(self, table: str, schema: pa.Schema) -> None:
        """Create a table; times keep their nanoseconds (TIMESTAMP_NS)."""
        columns = ", ".join(f"{quoted(column.name)} {_type(column)}" for column in schema)
        columns = found.columns if (found := declared(table)) else columns
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {quoted(table)} ({columns})")

    def convert(self, batch: pa.RecordBatch) -> pa.Table:
        """Drop the time zone (UTC) without a copy: DuckDB's type with time zone has no nanoseconds."""
        import pyarrow as pa

        if (typed := converted(batch)) is not None:
            return pa.Table.from_batches([typed])
        place = batch.schema.get_field_index("time")
        times = batch.column(place).view(pa.timestamp("ns"))
        return pa.Table.from_batches([batch]).set_column(place, "time", times)

    def insert(self, table: str, rows: pa.Table) -> None:
        """Insert a batch as one statement and transaction."""
        self._connection.register("benchbook_batch", rows)
        try:
            self._connection.execute(f"INSERT INTO {quoted(table)} SELECT * FROM benchbook_batch")  # noqa: S608
        finally:
            self._connection.unregister("benchbook_batch")

    def query(self, specification: Specification) -> Found:
        """Fetch the rows of an answer; a large answer becomes a temporary table, like a frame in memory.

        The table is dropped when the answer is no longer used.
        """
        questions = of_table(specification.table)
        if questions and not questions.large:
            return questions.ask(
                specification, "duckdb", lambda text: self._connection.execute(text).fetchall()
            )
        if questions:
            name = f"answer_{next(self._numbers)}"
            statement = questions.statement(specification, "duckdb")
            made = self._connection.execute(f"CREATE TEMP TABLE {name} AS {statement}").fetchone()

            def found() -> list[Row]:
                # Every release has fetch_arrow_table, although newer ones call it deprecated.
                answer = self._connection.execute(f"FROM {name}").fetch_arrow_table()
                return questions.compared(specification, answer)

            weakref.finalize(found, self._connection.execute, f"DROP TABLE {name}").atexit = False
            return Large(made[0] if made else 0, found)
        text, parameters = render(specification, self.dialect)
        return self._connection.execute(text, parameters).fetchall()

    def reader(self) -> Reader:
        """Return a function that runs statements over a separate cursor; cursors run concurrently."""
        cursor = self._connection.cursor()
        return lambda text, values: cursor.execute(text, values).fetchall()

    def settle(self) -> None:
        """Write the log to the file and empty it (CHECKPOINT), once text keys with few values have type ENUM.

        So does the db-benchmark: id1 and id2 in its group-by questions, id4 and id5 in its join questions.
        """
        for questions in sets():
            for key in questions.enumerated:
                self._enumerate(key, questions.tables)
        self._connection.execute("CHECKPOINT")

    def _enumerate(self, key: str, among: Collection[str]) -> None:
        """Make one ENUM type of a key's texts in all of these tables, if it is text there."""
        found = self._connection.execute(
            "SELECT table_name FROM duckdb_columns() WHERE column_name = ? AND data_type = 'VARCHAR'", [key]
        ).fetchall()
        tables = [name for (name,) in found if name in among]
        if not tables:
            return
        values = " UNION ALL ".join(f"SELECT {key} FROM {table}" for table in tables)  # noqa: S608 - names of ours
        self._connection.execute(f"CREATE TYPE {key} AS ENUM ({values})")
        for table in tables:
            self._connection.execute(f"ALTER TABLE {table} ALTER {key} TYPE {key}")

    def count(self) -> dict[str, Count]:
        counts = {}
        for table in self.tables():
            described = self._connection.execute(
                "SELECT column_name FROM duckdb_columns() WHERE table_name = ? "
                "AND data_type NOT IN ('VARCHAR', 'TIMESTAMP_NS') AND data_type NOT LIKE 'ENUM%' ORDER BY column_index",
                [table],
            ).fetchall()
            names = found.numbers if (found := declared(table)) else [str(row[0]) for row in described]
            wanted = ", ".join(["count(*)", *(f"count({quoted(name)})" for name in names)])
            row = self._connection.execute(f"SELECT {wanted} FROM {quoted(table)}").fetchone()  # noqa: S608
            assert row is not None
            counts[table] = Count(row[0], dict(zip(names, row[1:], strict=True)))
        return counts

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()

    def _one(self, text: str) -> object:
        row = self._connection.execute(text).fetchone()
        return row[0] if row else None


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> DuckDB:
    """Open a DuckDB file; DuckDB refuses unknown settings."""
    return DuckDB(Path(where), settings)


def _type(column: pa.Field) -> str:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        return "TIMESTAMP_NS"
    if pa.types.is_integer(column.type):
        return "BIGINT"
    return "DOUBLE" if pa.types.is_floating(column.type) else "VARCHAR"
