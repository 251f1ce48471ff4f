"""Every comparison of a run: each cell against the baseline, metric by metric, as a ratio with its interval."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import holm, ratio, verdict
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.verdict import Verdict
from benchbook.report import cell as cells_of
from benchbook.report.cell import Cell
from benchbook.report.estimate import Estimate, estimates
from benchbook.report.floor import floor
from benchbook.report.results import Run


@dataclass(frozen=True)
class Versus:
    """One metric of a cell over the same metric of the baseline."""

    above: Estimate
    below: Estimate
    ratio: Ratio
    """Above over below, paired by block."""
    errors: int
    """Operations of either that failed in the phase."""
    noise: float | None = None
    """The machine's noise floor as a factor; None where it was not measured."""

    @functools.cached_property
    def beyond(self) -> float:
        """The p-value that the ratio lies beyond the noise floor."""
        return ratio.beyond(self.above.by_block, self.below.by_block, self.noise or 1.0)

    @property
    def cell(self) -> Cell:
        """The cell that is compared with the baseline."""
        return self.above.cell

    @property
    def value(self) -> float:
        """The ratio; only comparisons that have one are made."""
        assert self.ratio.value is not None
        return self.ratio.value

    @property
    def advantage(self) -> Ratio:
        """How many times as good the cell is as the baseline: the ratio, turned over where lower is better."""
        return self.ratio.inverse() if self.above.direction == "lower" else self.ratio

    @property
    def points(self) -> list[tuple[int, float]]:
        """(block, advantage) of each block that has both."""
        above, below = self.above.by_block, self.below.by_block
        if self.above.direction == "lower":
            above, below = below, above
        return [(block, above[block] / below[block]) for block in sorted(above.keys() & below.keys())]

    def verdict(self, adjusted: float = 0.0, among: int = 1) -> Verdict:
        """Return what may be said of the two; see ``verdicts`` for many that stand together."""
        quality = {"disk_bytes": "compact on disk", "bytes_per_value": "compact on disk"}
        return verdict.compare(
            self.above.cell.label,
            self.below.cell.label,
            self.ratio,
            direction="higher" if self.above.direction == "higher" else "lower",
            noise=self.noise,
            errors=self.errors,
            adjusted=adjusted,
            among=among,
            quality=quality.get(self.above.metric, "fast"),
        )


def baseline(run: Run) -> Cell | None:
    """Return the cell that the others are compared with: the slowest at loading, else the first that was measured.

    So the answer, which names the fastest first, and the comparison give one ratio of a load in one direction. Of
    embedded systems and servers it is the more numerous kind's, because the two are not ranked with each other.
    """
    measured = [cell for cell in cells_of.cells(run) if cell.ok]
    if not measured:
        return None
    kinds = [cells_of.embedded(run, cell.system) for cell in measured]
    most = kinds.count(True) * 2 > len(kinds) if kinds.count(True) * 2 != len(kinds) else kinds[0]
    alike = [cell for cell, kind in zip(measured, kinds, strict=True) if kind == most]
    for phase in run.phases("load"):
        rates = {one.cell.name: one.value for one in estimates(run, phase, "rows_per_second") if one.value}
        if all(cell.name in rates for cell in alike):
            return min(alike, key=lambda cell: rates[cell.name])
    return alike[0]


def mixed(run: Run, pair: Versus) -> bool:
    """Say whether a server's time is held against an embedded system's; sizes on disk know no transport."""
    kinds = {cells_of.embedded(run, estimate.cell.system) for estimate in (pair.above, pair.below)}
    return len(kinds) > 1 and pair.above.unit != "B"


COMPARED = {
    "load": ("rows_per_second",),
    "query": ("latency_p50",),
    "command": ("rows_per_second", "rows_per_cpu_second"),
}
"""Workload to the metrics that its phases are compared on."""


def metrics(run: Run) -> list[tuple[str, str]]:
    """Return the (phase, metric) pairs that a run is compared on, in the order of its phases."""
    pairs = [
        (phase, metric)
        for workload, names in COMPARED.items()
        for phase in run.phases(workload)
        for metric in names
    ]
    return [*pairs, ("trial", "disk_bytes")]


def against(run: Run, phase: str, metric: str, base: Cell) -> list[Versus]:
    """Return each other cell's ratio to ``base`` for one metric, paired by block; worked out once a run."""
    return list(_against(run, phase, metric, base))


@functools.cache
def _against(run: Run, phase: str, metric: str, base: Cell) -> tuple[Versus, ...]:
    found = estimates(run, phase, metric)
    below = next((estimate for estimate in found if estimate.cell.name == base.name), None)
    if below is None:
        return ()
    made = [versus(run, estimate, below) for estimate in found if estimate.cell.name != base.name]
    return tuple(one for one in made if one is not None)


def versus(run: Run, above: Estimate, below: Estimate) -> Versus | None:
    """Compare two cells on one metric; None where no block has a value above zero of both."""
    found = ratio.ratio(above.by_block, below.by_block)
    if found.value is None:
        return None
    names = (above.cell.name, below.cell.name)
    errors = failed_operations(run, above.phase, names)
    return Versus(above, below, found, errors, floor(run, names, above.phase, above.metric))


def verdicts(pairs: Sequence[Versus]) -> list[Verdict]:
    """Return what may be said of comparisons that stand together: one joint test, with Holm's correction.

    The chance that any of them calls a difference that is none stays below 5 %.
    """
    told = [place for place, pair in enumerate(pairs) if not pair.errors and pair.ratio.low is not None]
    adjusted = dict(zip(told, holm.adjusted([pairs[place].beyond for place in told]), strict=True))
    return [pair.verdict(adjusted.get(place, 0.0), len(told)) for place, pair in enumerate(pairs)]


def failed_operations(run: Run, phase: str, cells: tuple[str, ...]) -> int:
    """Return how many operations of these cells failed in a phase; phase ``trial`` means all phases."""
    return sum(
        count for (cell, of), count in _failed(run).items() if cell in cells and phase in ("trial", of)
    )


@functools.cache
def _failed(run: Run) -> dict[tuple[str, str], int]:
    """Return (cell, phase) → operations that failed, where there are any; counted once a run."""
    import polars as pl

    errors = run.ok.select("trial_id", "cell").join(run.frame("errors"), on="trial_id", how="inner")
    counted = errors.group_by("cell", "phase", maintain_order=True).agg(pl.col("operations").sum())
    return {(cell, phase): int(count or 0) for cell, phase, count in counted.iter_rows()}
