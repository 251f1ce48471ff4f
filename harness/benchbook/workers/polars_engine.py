"""Polars: frames with the text keys as categories, asked through the lazy interface or in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count, Found, Specification
from benchbook.workers.frames import Frames, Join
from benchbook.workers.questions import declared, of_table

if TYPE_CHECKING:
    import pyarrow as pa


class Polars(Frames):
    """A Polars frame in memory."""

    library: ClassVar[Any] = pl

    def settle(self) -> None:
        """Make the frames. Several frames share the codes of their categories, which joins by text need."""
        # From 1.32 on, which has Categories, all frames share them.
        shared = len(self._batches) > 1 and not hasattr(pl, "Categories")
        with pl.StringCache() if shared else nullcontext():
            super().settle()

    def frame(self, name: str, table: pa.Table) -> Any:
        found: Any = pl.from_arrow(table)
        keys = [] if declared(name) else [pl.col(pl.String).cast(pl.Categorical)]
        return found.with_columns(keys).rechunk()

    def count(self) -> dict[str, Count]:
        """Count the declared columns of a table that has some, else its numbers."""
        return {
            name: _counted(frame, known.numbers) if (known := declared(name)) else self.counted(frame)
            for name, frame in self._frames.items()
        }

    def counted(self, frame: Any) -> Count:
        names = [name for name, kind in frame.schema.items() if kind.is_numeric() or kind.is_temporal()]
        return _counted(frame, names)

    def questions(self) -> Mapping[str, Callable[[Any], Any]]:
        v1, v2, v3 = pl.col("v1"), pl.col("v2"), pl.col("v3")
        return {
            "q1": _grouped(["id1"], v1.sum()),
            "q2": _grouped(["id1", "id2"], v1.sum()),
            "q3": _grouped(["id3"], v1.sum(), v3.mean()),
            "q4": _grouped(["id4"], v1.mean(), v2.mean(), v3.mean()),
            "q5": _grouped(["id6"], v1.sum(), v2.sum(), v3.sum()),
            "q6": _grouped(["id4", "id5"], v3.median().alias("median"), v3.std().alias("deviation")),
            "q7": _grouped(["id3"], (v1.max() - v2.min()).alias("span")),
            "q8": lambda x: x.lazy().group_by("id6").agg(v3.top_k(2)).explode("v3").collect(),
            "q9": _grouped(["id2", "id4"], (pl.corr("v1", "v2") ** 2).alias("r2")),
            "q10": _grouped(["id1", "id2", "id3", "id4", "id5", "id6"], v3.sum(), pl.len().alias("rows")),
        }

    def joined(self, left: Any, right: Any, join: Join) -> Any:
        return left.lazy().join(right.lazy(), how=join.how, on=join.key).collect()

    def query(self, specification: Specification) -> Found:
        """Ask a question in SQL if it has a text for Polars, else through expressions."""
        questions = of_table(specification.table)
        if questions and questions.speaks("polars"):
            context = pl.SQLContext(self._frames, eager=True)
            return questions.ask(specification, "polars", lambda text: context.execute(text).rows())
        return super().query(specification)

    def arrow(self, answer: Any) -> pa.Table:
        """Return the answer with its text keys as numbers: releases differ in the Arrow type of text."""
        texts = [name for name, kind in answer.schema.items() if kind == pl.Categorical]
        numbers = [pl.col(name).cast(pl.String).str.slice(2).cast(pl.Int64) for name in texts]
        return answer.with_columns(numbers).to_arrow()


def _counted(frame: Any, names: Iterable[str]) -> Count:
    return Count(frame.height, {name: frame.height - frame[name].null_count() for name in names})


def _grouped(keys: list[str], *values: Any) -> Callable[[Any], Any]:
    return lambda x: x.lazy().group_by(keys).agg(*values).collect()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> Polars:  # noqa: ARG001 - no file
    """Return an engine without tables."""
    return Polars(settings)
