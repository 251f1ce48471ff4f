"""DataFusion: SQL over Arrow batches in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import datafusion

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count, Found, Specification
from benchbook.workers.frames import SQL, Frames, Join, texts
from benchbook.workers.questions import declared, of_table

if TYPE_CHECKING:
    import pyarrow as pa


class DataFusion(Frames):
    """A context with tables of Arrow batches; a frame is the name of its table."""

    library: ClassVar[Any] = datafusion

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        super().__init__(settings)
        self._context = datafusion.SessionContext()

    def frame(self, name: str, table: pa.Table) -> str:
        self._context.register_record_batches(name, [table.to_batches()])
        return name

    def counted(self, frame: str) -> Count:
        schema = self._context.table(frame).schema()
        names = [name for name in schema.names if name not in texts(schema)]
        names = list(known.numbers) if (known := declared(frame)) else names
        counts = ", ".join(["count(*) AS n", *(f'count("{name}") AS c_{name}' for name in names)])
        row = self.arrow(self._asked(f"SELECT {counts} FROM {frame}", frame)).to_pylist()[0]  # noqa: S608 - names of datasets
        return Count(row["n"], {name: row[f"c_{name}"] for name in names})

    def query(self, specification: Specification) -> Found:
        """Ask a question from a file, or one about frames."""
        questions = of_table(specification.table)
        if questions and not questions.large:
            return questions.ask(specification, "datafusion", self._rows)
        return super().query(specification)

    def _rows(self, text: str) -> list[tuple[Any, ...]]:
        return [
            row
            for batch in self._asked(text, "")
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]

    def questions(self) -> Mapping[str, Callable[[str], Any]]:
        return {name: partial(self._asked, text) for name, text in SQL.items()}

    def joined(self, left: str, right: str, join: Join) -> list[pa.RecordBatch]:  # noqa: ARG002 - SQL names both
        return self._asked(join.sql(), left)

    def height(self, answer: list[pa.RecordBatch]) -> int:
        return sum(batch.num_rows for batch in answer)

    def arrow(self, answer: list[pa.RecordBatch]) -> pa.Table:
        """Join the batches of an answer, whose schemas may differ in whether nulls are allowed."""
        import pyarrow as pa

        names = answer[0].schema.names
        return pa.Table.from_batches([pa.RecordBatch.from_arrays(one.columns, names) for one in answer])

    def _asked(self, text: str, _: str) -> list[pa.RecordBatch]:
        found: list[pa.RecordBatch] = self._context.sql(text).collect()
        return found


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> DataFusion:  # noqa: ARG001 - no file
    """Return an engine without tables."""
    return DataFusion(settings)
