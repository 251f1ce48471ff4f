"""Every comparison of a run: estimates of cells, and ratios to the baseline."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from benchbook.analyse import interval, limits, noise, quantity, same_work, verdict
from benchbook.analyse.cells import labelled
from benchbook.analyse.model import ALPHA, FEWEST
from benchbook.analyse.paired import paired
from benchbook.analyse.power import Question, case
from benchbook.analyse.ratio import Ratio, log_ratios
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Numbers
from benchbook.analyse.verdict import Verdict
from benchbook.declare.expectation import SAME, Expectation
from benchbook.declare.level import same
from benchbook.declare.metric import describe

# What a cell's trials say about one metric: every value, and the typical one with its interval.


class Point(NamedTuple):
    """The value of one trial; a tuple, because a report of ten thousand trials makes a million of them."""

    trial_id: str
    block: int
    position: int
    value: float


class Points(Sequence[Point]):
    """The values of a cell's trials, in order, made when the first is looked at: most metrics are never drawn."""

    def __init__(self, run: Run, numbers: Numbers) -> None:
        self._run = run
        self._numbers = numbers

    @functools.cached_property
    def _made(self) -> tuple[Point, ...]:
        trials, places = self._run.places, self._numbers.places
        columns = (trials.blocks[places], trials.positions[places], self._numbers.values)
        ids = [trials.ids[place] for place in places.tolist()]
        return tuple(map(Point, ids, *(column.tolist() for column in columns)))

    @overload
    def __getitem__(self, place: int) -> Point: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Point, ...]: ...

    def __getitem__(self, place: int | slice) -> Point | tuple[Point, ...]:
        return self._made[place]

    def __iter__(self) -> Iterator[Point]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._numbers)


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
    """Typical value of the trials (``interval.mean_log``); None without a trial."""
    low: float | None
    high: float | None
    """The 95 % interval; None where there are fewer than three trials."""

    @property
    def by_block(self) -> dict[int, float]:
        """The values by block, as ratios are paired."""
        return {point.block: point.value for point in self.points}

    def text(self) -> str:
        """Return the typical value with its unit."""
        return quantity.text(self.value, self.unit, describe(self.metric).noun)

    def interval(self) -> str:
        """Return the interval in words, or why there is none."""
        if self.low is None or self.high is None:
            few = len(self.points) < FEWEST
            return f"none: fewer than {FEWEST} trials" if few else "none: a value is zero"
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
    found = run.meaningful(phase, metric)
    cells = run.places.cells[found.places]
    made = []
    for cell in labelled(run):
        own = found.at(cells == run.codes[cell.name])
        of = interval.mean_log(own.values)
        points = Points(run, own)
        made.append(
            Estimate(cell, phase, metric, found.unit, found.direction, points, of.value, of.low, of.high)
        )
    return tuple(made)


# Every comparison of a run: each cell against the baseline, metric by metric, as a ratio with its interval.


@dataclass(frozen=True)
class Versus:
    """One metric of a cell over the same metric of the baseline."""

    above: Estimate
    below: Estimate
    ratio: Ratio
    """Above over below, paired by block."""
    unfit: Reason | None
    """Why the two are not judged: operations of either that failed, or a phase that was too short."""
    noise: float | None = None
    """The noise between equal setups as a factor, which the ratio's interval holds; None where it was not measured."""

    @property
    def cell(self) -> Cell:
        """The cell that is compared with the baseline."""
        return self.above.cell

    @property
    def quantity(self) -> str:
        """The title of the metric, and its phase unless that is the load or the whole trial."""
        phase = "" if self.above.phase in ("trial", "load") else f" ({self.above.phase})"
        return f"{describe(self.above.metric).title}{phase}"

    @property
    def sides(self) -> str:
        """The two cells: "DuckDB compared with SQLite"."""
        return f"{self.above.cell.label} compared with {self.below.cell.label}"

    @property
    def value(self) -> float:
        """The ratio; only comparisons that have one are made."""
        assert self.ratio.value is not None
        return self.ratio.value

    @property
    def advantage(self) -> Ratio:
        """The factor by which the cell is better than the baseline: the ratio, inverted if lower is better."""
        return self.ratio.inverse() if self.above.direction == "lower" else self.ratio

    @property
    def points(self) -> list[tuple[int, float]]:
        """(block, advantage) of each block that has both."""
        above, below = self.above.by_block, self.below.by_block
        if self.above.direction == "lower":
            above, below = below, above
        return [(block, math.exp(held)) for block, held in log_ratios(above, below).items()]

    def verdict(self, adjusted: float | None = None, among: int = 1) -> Verdict:
        """Return what may be said of the two; see ``verdicts`` for many that stand together."""
        quality = {"disk_bytes": "compact on disk", "bytes_per_value": "compact on disk"}
        return verdict.compare(
            self.above.cell.label,
            self.below.cell.label,
            self.ratio,
            direction="higher" if self.above.direction == "higher" else "lower",
            unfit=self.unfit,
            adjusted=adjusted,
            among=among,
            quality=quality.get(self.above.metric, "fast"),
        )


def baseline(run: Run) -> Cell | None:
    """Return the cell that the others are compared with: that of the levels that were given or declared first.

    The request chooses it, not the data or the order of trials: the slowest of several equal systems would differ from
    the others by selection alone. Of embedded systems and servers it is the more numerous kind's, because the two are
    not ranked.
    """
    measured = [cell for cell in labelled(run) if cell.ok]
    if not measured:
        return None
    kinds = [run.embedded(cell.system) for cell in measured]
    most = kinds.count(True) * 2 > len(kinds) if kinds.count(True) * 2 != len(kinds) else kinds[0]
    alike = [cell for cell, kind in zip(measured, kinds, strict=True) if kind == most]
    asked = run.facts("planned").get("factors")
    if not isinstance(asked, dict):  # an older run
        asked = {"system": (run.declared.get("factors") or {}).get("system")}

    def place(cell: Cell) -> list[int]:
        return [_place(cell.levels.get(factor, ""), levels) for factor, levels in asked.items()]

    return min(alike, key=place)


def _place(level: str, levels: object) -> int:
    """Return the place of a level in a recorded list; one that is not in it comes last."""
    held = levels if isinstance(levels, list) else []
    return next((at for at, one in enumerate(held) if same(level, one)), len(held))


def mixed(run: Run, pair: Versus) -> bool:
    """Return whether a server's time is compared with an embedded system's; sizes on disk include no transport."""
    kinds = {run.embedded(estimate.cell.system) for estimate in (pair.above, pair.below)}
    return len(kinds) > 1 and pair.above.unit != "B"


def metrics(run: Run) -> list[tuple[str, str]]:
    """Return the (phase, metric) pairs that a run is compared on, in the order of its phases."""
    pairs = [
        (phase, metric)
        for workload, phase in run.phases_having(lambda one: one.compared)
        for metric in workload.compared
    ]
    # Systems that were loaded for a time, or with different datasets, hold different amounts.
    by_time = ("trial", "disk_bytes") not in run.measured
    several = len({held for cell in run.cells for held in cell.datasets}) > 1
    each = ("trial", "bytes_per_value")
    return [*pairs, each if by_time or (several and each in run.measured) else ("trial", "disk_bytes")]


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
    """Compare two cells on one metric; None where no block has both."""
    pair = (above.phase, above.metric)
    found = paired(run, above.cell, below.cell, pair)
    if found.value is None or above.value is None or below.value is None:
        return None
    cells = (above.cell, below.cell)
    failed = failed_operations(run, above.phase, (above.cell.name, below.cell.name))
    unfit = because("operations-failed", number=failed) if failed else limits.short_phase(run, cells, pair)
    known = noise.of(run, pair, above.cell.system, below.cell.system)
    return Versus(above, below, found, unfit, known.factor if known else None)


def verdicts(pairs: Sequence[Versus], beside: Sequence[Versus] = ()) -> list[Verdict]:
    """Return what may be said of comparisons in one family: Holm's method keeps its family-wise error below 5 %.

    ``beside`` are further members of the family; one that is among ``pairs`` too counts once.
    """
    family = [place for place, pair in enumerate(pairs) if _tested(pair)]
    named = set(map(_sides_of, pairs))
    others = [pair.ratio.differs for pair in beside if _tested(pair) and _sides_of(pair) not in named]
    found = interval.adjusted([*(pairs[place].ratio.differs for place in family), *others])
    adjusted = dict(zip(family, found, strict=False))
    return [pair.verdict(adjusted.get(place), len(found)) for place, pair in enumerate(pairs)]


def _tested(pair: Versus) -> bool:
    return not pair.unfit and pair.ratio.low is not None


def _sides_of(pair: Versus) -> tuple[str, str, frozenset[str]]:
    """Return what two cells are compared on, and both, whichever of them is above."""
    return pair.above.phase, pair.above.metric, frozenset((pair.above.cell.name, pair.below.cell.name))


def ranked(run: Run) -> list[Versus]:
    """Return every comparison with the baseline that is tested for who is better: the family of a page."""
    return [one.pair for one in judged(run) if one.word != NOT_RANKED]


NOT_RANKED = "not ranked"
"""Verdict on an embedded system compared with a server."""
NO_DIFFERENCE = "no difference"
"""Verdict on two that are equal within ``expectation.SAME``: the 90 % interval of their ratio lies within."""
UNDECIDED = "undecided"
"""Verdict on two of which none is better for certain, and which are not equal for certain either."""
NO_VERDICT = "no verdict"


@dataclass(frozen=True)
class Judged:
    """A comparison with the baseline, and its verdict in a word."""

    pair: Versus
    word: str
    """better, worse, no difference, undecided, no verdict or not ranked."""
    reason: Reason


@functools.cache
def judged(run: Run) -> tuple[Judged, ...]:
    """Return every comparison with the baseline, as one family of tests; none if systems did not do the same work."""
    base = baseline(run)
    if base is None or same_work.faults(run):
        return ()
    pairs = [pair for phase, metric in metrics(run) for pair in against(run, phase, metric, base)]
    said = iter(verdicts([pair for pair in pairs if not mixed(run, pair)]))
    made = []
    for pair in pairs:
        if mixed(run, pair):
            made.append(Judged(pair, NOT_RANKED, because("not-ranked")))
            continue
        found = next(said)
        if found.winner is not None:
            word = "better" if found.winner == pair.cell.label else "worse"
        elif pair.unfit or pair.ratio.fit is None:
            word = NO_VERDICT
        elif (same := _equal(pair)) is not None:
            made.append(Judged(pair, NO_DIFFERENCE, same))
            continue
        else:
            word = UNDECIDED
        made.append(Judged(pair, word, found.reason))
    return tuple(made)


def _equal(pair: Versus) -> Reason | None:
    """Return why two are equal: the interval of two one-sided tests lies close to 1; None if it does not."""
    inner = pair.advantage.at(2 * ALPHA)
    if inner.low is None or inner.high is None or inner.low < 1 / (1 + SAME) or inner.high > 1 + SAME:
        return None
    return because(
        "compared-equal", a=pair.cell.label, b=pair.below.cell.label, low=inner.low, high=inner.high,
        confidence=inner.confidence, within=SAME,
    )  # fmt: skip


def trials_to_decide(run: Run) -> tuple[int, int] | None:
    """Return a number of trials, and how many undecided comparisons they decide with a chance of 80 % each.

    It is the number that decides half of them: the closest two may take any number. None if there is none.

    The true ratio and the spread are taken as measured, and each comparison is tested alone, without Holm's correction.
    """
    needed = []
    for one in judged(run):
        fit = one.pair.ratio.fit
        if one.word == UNDECIDED and fit is not None:
            expected = Expectation("at-least" if fit.centre > 0 else "at-most", 1.0, 0.0)
            asked = Question((case(expected, fit, noise.of(run, (one.pair.above.phase, one.pair.above.metric),
                                   one.pair.cell.system, one.pair.below.cell.system)),))  # fmt: skip
            needed.append(asked.trials_for())
    known = sorted(one for one in needed if one is not None)
    if not known:
        return None
    trials = known[(len(known) - 1) // 2]
    return trials, sum(one <= trials for one in known)


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
