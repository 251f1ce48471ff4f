"""pandas: frames with the text keys as categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count
from benchbook.workers.frames import Frames, Join, texts

if TYPE_CHECKING:
    import pyarrow as pa


class Pandas(Frames):
    """A pandas frame; groups are unsorted and hold only combinations that exist."""

    library: ClassVar[Any] = pd

    def frame(self, name: str, table: pa.Table) -> Any:  # noqa: ARG002 - a frame has no name
        return table.to_pandas().astype(dict.fromkeys(texts(table.schema), "category"))

    def counted(self, frame: Any) -> Count:
        counts = frame.select_dtypes("number").count()
        return Count(len(frame), {name: int(count) for name, count in counts.items()})

    def questions(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            "q1": lambda x: _by(x, "id1").agg({"v1": "sum"}),
            "q2": lambda x: _by(x, "id1", "id2").agg({"v1": "sum"}),
            "q3": lambda x: _by(x, "id3").agg({"v1": "sum", "v3": "mean"}),
            "q4": lambda x: _by(x, "id4").agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
            "q5": lambda x: _by(x, "id6").agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
            "q6": lambda x: _by(x, "id4", "id5").agg(median=("v3", "median"), deviation=("v3", "std")),
            "q7": _span,
            "q8": lambda x: _by(x[["id6", "v3"]].sort_values("v3", ascending=False), "id6").head(2),
            "q9": _regression,
            "q10": lambda x: _by(x, "id1", "id2", "id3", "id4", "id5", "id6").agg(
                v3=("v3", "sum"), rows=("v1", "size")
            ),
        }

    def joined(self, left: Any, right: Any, join: Join) -> Any:
        return left.merge(right, how=join.how, on=join.key)

    def arrow(self, answer: Any) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_pandas(answer, preserve_index=False)


def _by(frame: Any, *keys: str) -> Any:
    return frame.groupby(list(keys), as_index=False, sort=False, observed=True)


def _span(x: Any) -> Any:
    found = _by(x, "id3").agg({"v1": "max", "v2": "min"})
    return found.assign(span=found["v1"] - found["v2"])[["id3", "span"]]


def _regression(x: Any) -> Any:
    grouped = x.groupby(["id2", "id4"], sort=False, observed=True)[["v1", "v2"]]
    return grouped.apply(lambda group: group["v1"].corr(group["v2"]) ** 2).rename("r2").reset_index()


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> Pandas:  # noqa: ARG001 - no file
    """Return an engine without tables."""
    return Pandas(settings)
