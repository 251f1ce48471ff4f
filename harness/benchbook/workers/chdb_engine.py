"""chDB: ClickHouse in this process; it holds the tables of sets of questions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chdb.session import Session

from benchbook.declare.level import Setting
from benchbook.workers.questions import QuestionEngine, converted

if TYPE_CHECKING:
    import pyarrow as pa


class ChDB(QuestionEngine):
    """One folder of chDB with one MergeTree table, sorted by the publication's key."""

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

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        typed = converted(batch)
        return batch if typed is None else typed

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
        """Run a statement and return all rows, of which chDB makes lines of JSON."""
        answer = self._session.query(text, "JSONCompactEachRow")
        return [json.loads(line) for line in str(answer).splitlines()]


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> ChDB:
    """Open a folder of chDB; settings are those of a session."""
    return ChDB(Path(where), settings)
