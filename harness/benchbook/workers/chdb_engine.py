"""chDB: ClickHouse in this process; it holds the tables of sets of questions, and those from files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chdb.session import Session

from benchbook.declare.level import Setting
from benchbook.workers.engine import FailedError
from benchbook.workers.questions import QuestionEngine, converted

if TYPE_CHECKING:
    import pyarrow as pa

NULLABLE = {
    " BIGINT": " Nullable(Int64)", " DOUBLE PRECISION": " Nullable(Float64)", " BOOLEAN": " Nullable(Bool)",
    " DATE": " Nullable(Date32)", " TIMESTAMP": " Nullable(DateTime64(6))", " TEXT": " Nullable(String)",
}  # fmt: skip
"""Type of a column from a file → its type here."""
FIRST, LAST = date(1900, 1, 1), date(2299, 12, 31)
"""Days that ClickHouse's types of dates hold; it changes others without an error."""


class ChDB(QuestionEngine):
    """One folder of chDB with one MergeTree table, sorted by the publication's key; one from a file has no key."""

    title = "chDB"
    dialect = "chdb"
    keyed = True
    suffix = " ENGINE = MergeTree"

    def __init__(self, path: Path, settings: Mapping[str, Setting]) -> None:
        self._path = path
        self._session = Session(str(path))
        fixed = {"session_timezone": "UTC", "output_format_json_quote_64bit_integers": 0}
        for name, value in {**fixed, **settings}.items():
            self._session.query(f"SET {name} = {value!r}")

    def version(self) -> str:
        return version("chdb")

    def tables(self) -> list[str]:
        return [str(row[0]) for row in self.rows("SHOW TABLES")]

    def create(self, table: str, schema: pa.Schema) -> None:
        found = self._known(table, f"the table {table}")
        if found.key:
            super().create(table, schema)
            return
        columns = found.columns
        for stated, own in NULLABLE.items():
            columns = columns.replace(stated, own)
        self.rows(f"CREATE TABLE IF NOT EXISTS {table} ({columns}) ENGINE = MergeTree ORDER BY tuple()")

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with their declared types; raise FailedError for a day that ClickHouse would change."""
        import pyarrow as pa
        import pyarrow.compute as pc

        typed = converted(batch)
        if typed is None:
            return batch
        for name, column in zip(typed.schema.names, typed.columns, strict=True) if typed is batch else ():
            if pa.types.is_temporal(column.type):
                found = pc.min_max(column.cast(pa.date32(), safe=False)).as_py()
                if found["min"] is not None and not FIRST <= found["min"] <= found["max"] <= LAST:
                    odd = found["max"] if found["max"] > LAST else found["min"]
                    raise FailedError(f"{name} has {odd}, but ClickHouse holds {FIRST} to {LAST} alone")
        return typed

    def insert(self, table: str, rows: pa.RecordBatch) -> None:
        """Insert a batch from a file, as the publication does."""
        import pyarrow as pa

        file = self._path.with_name("batch.arrow")
        with pa.ipc.new_file(file, rows.schema) as written:
            written.write_batch(rows)
        self._session.query(f"INSERT INTO {table} SELECT * FROM file('{file}', 'Arrow')")  # noqa: S608
        file.unlink()

    def settle(self) -> None:
        """Merge the parts of the table into one."""
        for table in self.tables():
            self._session.query(f"OPTIMIZE TABLE {table} FINAL")

    def interrupt(self) -> None:
        """End the worker: nothing stops a statement from another thread."""
        os._exit(1)

    def close(self) -> None:
        self._session.close()

    def rows(self, text: str) -> list[list[Any]]:
        """Run a statement and return all rows, of which chDB makes lines of JSON; there, large floats have no point."""
        answer = self._session.query(text, "JSONCompactEachRowWithNamesAndTypes")
        _, types, *rows = [json.loads(line) for line in str(answer).split("\n") if line] or [[], []]
        floats = [place for place, name in enumerate(types) if "Float" in name]
        for row in rows:
            for place in floats:
                if isinstance(row[place], int):
                    row[place] = float(row[place])
        return rows


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> ChDB:
    """Open a folder of chDB; settings are those of a session."""
    return ChDB(Path(where), settings)
