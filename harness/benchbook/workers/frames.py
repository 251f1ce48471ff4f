"""The questions of the db-benchmark: their SQL, their columns, and data frame libraries that answer them.

A library's engine is a subclass of ``Frames``. The answer to a question may have as many rows as the data, so systems
are compared by an answer's number of rows, the sums of its columns, and sums that tie values to their keys.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from benchbook.workers.engine import Count, Engine, FailedError, Found, Large, Row, Specification
from benchbook.workers.questions import QuestionSet, converted

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = "x"
SQL = {
    "q1": "SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1",
    "q2": "SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2",
    "q3": "SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3",
    "q4": "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM x GROUP BY id4",
    "q5": "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6",
    "q6": "SELECT id4, id5, median(v3) AS median, stddev(v3) AS deviation FROM x GROUP BY id4, id5",
    "q7": "SELECT id3, max(v1) - min(v2) AS span FROM x GROUP BY id3",
    "q8": (
        "SELECT id6, v3 FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS place FROM x) "
        "AS ranked WHERE place <= 2"
    ),
    "q9": "SELECT id2, id4, power(corr(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4",
    "q10": (
        "SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS rows FROM x "
        "GROUP BY id1, id2, id3, id4, id5, id6"
    ),
}
"""Question → SQL. The order of rows is free."""
COLUMNS = {
    "q1": ("id1", "v1"),
    "q2": ("id1", "id2", "v1"),
    "q3": ("id3", "v1", "v3"),
    "q4": ("id4", "v1", "v2", "v3"),
    "q5": ("id6", "v1", "v2", "v3"),
    "q6": ("id4", "id5", "median", "deviation"),
    "q7": ("id3", "span"),
    "q8": ("id6", "v3"),
    "q9": ("id2", "id4", "r2"),
    "q10": ("id1", "id2", "id3", "id4", "id5", "id6", "v3", "rows"),
}
"""Question → columns of its answer, keys first; every system returns them in this order."""
TABLES = {
    "x": ("id4", "id5", "id6", "id1", "id2", "id3", "v1"),
    "small": ("id4", "id1", "v2"),
    "medium": ("id4", "id5", "id1", "id2", "v2"),
    "big": ("id4", "id5", "id6", "id1", "id2", "id3", "v2"),
}
"""Table of the join questions → columns, as benchload writes them. id4 to id6 are the texts of id1 to id3."""


@dataclass(frozen=True)
class Join:
    """A join question: x with another table, whose columns follow those of x; names that both have end in _right."""

    right: str
    key: str
    how: Literal["inner", "left"] = "inner"

    def columns(self) -> dict[str, str]:
        """Return column of the answer → column of a table."""
        left = {name: f"x.{name}" for name in TABLES[TABLE]}
        own = [name for name in TABLES[self.right] if name != self.key]
        return left | {f"{name}_right" if name in left else name: f"{self.right}.{name}" for name in own}

    def sql(self) -> str:
        """Return the question in SQL."""
        wanted = ", ".join(f"{source} AS {name}" for name, source in self.columns().items())
        return (
            f"SELECT {wanted} FROM x {self.how.upper()} JOIN {self.right} "  # noqa: S608
            f"ON x.{self.key} = {self.right}.{self.key}"
        )


JOINS = {
    "small-inner": Join("small", "id1"),
    "medium-inner": Join("medium", "id2"),
    "medium-left": Join("medium", "id2", "left"),
    "medium-inner-text": Join("medium", "id5"),
    "big-inner": Join("big", "id3"),
}
SQL |= {name: join.sql() for name, join in JOINS.items()}
COLUMNS |= {name: tuple(join.columns()) for name, join in JOINS.items()}


def texts(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that are text: keys, as ``id`` and a number."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_string(field.type)]


def condensed(question: str, answer: pa.Table) -> list[Row]:
    """Return what is compared of an answer: rows, the sum of each column, and each value's sum weighted by its keys.

    Means and deviations of groups that have none (one row, no variance) count as zero.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    weight = pa.array([1.0] * answer.num_rows) if not answer.num_rows else None
    rows: list[Row] = [(0, "rows", answer.num_rows)]
    for name, column in zip(COLUMNS[question], answer.columns, strict=True):
        numbers = _numbers(column)
        rows.append((0, f"{name}: sum", float(pc.sum(numbers).as_py() or 0.0)))
        if name.startswith("id"):
            # Weights differ between keys, so that exchanged keys give another sum.
            scaled = pc.multiply(numbers, float(2 * len(rows) + 1))
            weight = scaled if weight is None else pc.add(weight, scaled)
        else:
            tied = pc.sum(pc.multiply(weight, numbers)).as_py()
            rows.append((0, f"{name}: sum by keys", float(tied or 0.0)))
    return rows


def _numbers(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as floats: a text as its number, and null and NaN as zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.combine_chunks()
    if pa.types.is_dictionary(values.type):
        return pc.fill_null(_numbers(pa.chunked_array([values.dictionary])).take(values.indices), 0.0)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = pc.cast(pc.utf8_slice_codeunits(values, 2), pa.int64())
    numbers = pc.fill_null(pc.cast(values, pa.float64()), 0.0)
    return pc.if_else(pc.is_nan(numbers), 0.0, numbers)


questions = QuestionSet(
    tables=tuple(TABLES),
    dialects=frozenset({"duckdb", "datafusion"}),
    text=lambda asked, _: SQL[asked.form],
    compared=lambda asked, answer: condensed(asked.form, answer),
    large=True,
    enumerated=("id1", "id2", "id4", "id5"),
)


class Frames(Engine):
    """A library whose tables are frames in memory. A load collects batches; ``settle`` makes a frame of them."""

    library: ClassVar[Any]
    """The library's module, which states its version."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        if settings:
            raise ValueError(f"there is no setting {', '.join(settings)}")
        self._batches: dict[str, list[pa.RecordBatch]] = {}
        self._frames: dict[str, Any] = {}

    @abstractmethod
    def frame(self, name: str, table: pa.Table) -> Any:
        """Return a frame with the rows of a table; text keys may become categories."""

    @abstractmethod
    def counted(self, frame: Any) -> Count:
        """Count rows and non-null numbers of a frame."""

    @abstractmethod
    def questions(self) -> Mapping[str, Callable[[Any], Any]]:
        """Return group-by question → function from the frame to its answer, which is complete when it returns."""

    @abstractmethod
    def joined(self, left: Any, right: Any, join: Join) -> Any:
        """Return the answer to a join question, which is complete when this returns."""

    @abstractmethod
    def arrow(self, answer: Any) -> pa.Table:
        """Return an answer as an Arrow table."""

    def height(self, answer: Any) -> int:
        """Return the number of rows of an answer."""
        return len(answer)

    def version(self) -> str:
        return str(self.library.__version__)

    def tables(self) -> list[str]:
        return sorted({*self._batches, *self._frames})

    def create(self, table: str, schema: pa.Schema) -> None:  # noqa: ARG002 - batches have their schema
        self._batches.setdefault(table, [])

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Give columns their declared types; otherwise drop the time, which is the same in every row."""
        import pyarrow as pa

        if (declared := converted(batch)) is not None:
            return declared
        names = [name for name in batch.schema.names if name != "time"]
        return pa.RecordBatch.from_arrays([batch.column(name) for name in names], names)

    def insert(self, table: str, rows: pa.RecordBatch) -> None:
        """Keep a batch; its bytes stay where they are."""
        self._batches[table].append(rows)

    def settle(self) -> None:
        """Make a frame of all batches of a table."""
        import pyarrow as pa

        for table, batches in self._batches.items():
            if batches:
                self._frames[table] = self.frame(table, pa.Table.from_batches(batches))
        self._batches = {}

    def query(self, specification: Specification) -> Found:
        if join := JOINS.get(specification.form):
            answer = self.joined(self._frames[TABLE], self._frames[join.right], join)
        elif specification.table == TABLE and (question := self.questions().get(specification.form)):
            answer = question(self._frames[TABLE])
        else:
            raise FailedError(f"data frames answer only the questions of frames, not {specification.type}")
        return Large(self.height(answer), lambda: condensed(specification.form, self.arrow(answer)))

    def count(self) -> dict[str, Count]:
        return {name: self.counted(frame) for name, frame in self._frames.items()}

    def interrupt(self) -> None:
        """End the worker: these libraries cannot stop a question."""
        os._exit(1)

    def close(self) -> None:
        self._frames = {}
