"""What a cell's trials say about one metric: every value, and their mean with its interval."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.cell import Cell
from benchbook.report.metric import metric as words_of
from benchbook.report.results import Run

if TYPE_CHECKING:
    import polars as pl

FEWEST_TRIALS = 3
"""Fewer trials of a cell give no interval and no verdict."""


class Point(NamedTuple):
    """The value of one trial; a tuple, because a report of ten thousand trials makes a million of them."""

    trial_id: str
    block: int
    position: int
    value: float


class Points(Sequence[Point]):
    """The values of a cell's trials, in order, made when the first is looked at: most metrics are never drawn."""

    def __init__(self, rows: pl.DataFrame) -> None:
        """``rows``: one a trial, as ``Run.placed`` gives them."""
        self._rows = rows

    @functools.cached_property
    def _made(self) -> tuple[Point, ...]:
        return tuple(map(Point._make, self._rows.select(Point._fields).rows()))

    @overload
    def __getitem__(self, place: int) -> Point: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Point, ...]: ...

    def __getitem__(self, place: int | slice) -> Point | tuple[Point, ...]:
        return self._made[place]

    def __iter__(self) -> Iterator[Point]:
        return iter(self._made)

    def __len__(self) -> int:
        return self._rows.height


@dataclass(frozen=True)
class Estimate:
    """One metric of one cell, in the metric's own unit."""

    cell: Cell
    phase: str
    metric: str
    unit: str
    direction: str
    points: Sequence[Point]
    value: float | None
    """Geometric mean of the trials; None without a trial."""
    low: float | None
    high: float | None
    """The 95 % interval; None where there are fewer than three trials."""

    @property
    def by_block(self) -> dict[int, float]:
        """The values by block, as ratios are paired."""
        return {point.block: point.value for point in self.points}

    def text(self) -> str:
        """Return the mean with its unit."""
        return quantity.text(self.value, self.unit, words_of(self.metric).noun)

    def interval(self) -> str:
        """Return the interval in words, or why there is none."""
        if self.low is None or self.high is None:
            few = len(self.points) < FEWEST_TRIALS
            return f"none: fewer than {FEWEST_TRIALS} trials" if few else "none: a value is zero"
        divisor, name = quantity.scale(self.high, self.unit)
        name = "" if name in ("1", "1/s") else f" {name}"
        return f"{quantity.number(self.low / divisor)} to {quantity.number(self.high / divisor)}{name}"


def estimates(run: Run, phase: str, metric: str) -> list[Estimate]:
    """Return the estimate of each cell of the run, in the order of cells; a cell without values has no points.

    Each is worked out once a run.
    """
    return list(_estimates(run, phase, metric))


@functools.cache
def _estimates(run: Run, phase: str, metric: str) -> tuple[Estimate, ...]:
    rows = run.placed(phase, metric)
    kind = rows.select("unit", "direction").row(0) if rows.height else ("1", "none")
    by_cell = rows.partition_by("cell", as_dict=True, maintain_order=True)
    made = []
    for cell in cells_of.cells(run):
        own = by_cell.get((cell.name,), rows.clear())
        points = Points(own)
        value, low, high = mean(own["value"].to_list())
        unit, direction = (own["unit"][0], own["direction"][0]) if points else kind
        made.append(Estimate(cell, phase, metric, unit, direction, points, value, low, high))
    return tuple(made)


def mean(values: list[float]) -> tuple[float | None, float | None, float | None]:
    """Return the geometric mean and its 95 % interval; values that hold a zero have neither a mean nor an interval.

    Without a logarithm of zero, what then stands for the mean is the median.
    """
    import statistics

    from benchbook.analyse import interval

    if not values:
        return None, None, None
    if min(values) <= 0:
        return statistics.median(values), None, None
    if len(values) < FEWEST_TRIALS:
        return statistics.geometric_mean(values), None, None
    found = interval.mean_log(values)
    return found.value, found.low, found.high
