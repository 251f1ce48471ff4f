"""Leave a processor (or a run) out of a published comparison, and check what the others foresee of it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchbook.analyse.alike import Kind
from benchbook.analyse.model import Fit
from benchbook.analyse.processors import Between, estimate, pooled
from benchbook.analyse.replication import Case, Measured, opposite

CONFIDENCE = 0.95
SMALLEST, LARGEST = 1e-3, 2.0
"""Least and largest standard deviation between processors that is learned."""
FEWEST = 20
"""Comparisons of a class below which its prior is that of all classes together."""
UNDECIDED = "inconclusive"


@dataclass(frozen=True)
class Check:
    """One processor, or one run, that was left out of a case."""

    case: Case
    left: tuple[Measured, ...]
    """The runs that were left out."""
    others: tuple[tuple[Measured, ...], ...]
    """The runs of each other processor; if one run was left out, the others on its processor."""

    def foreseen(self, prior: Between | None) -> Fit:
        """Return what the others foresee on another processor; without a prior, in another run on their processor."""
        groups = self._fits
        return pooled(groups[0]) if prior is None else estimate(groups, prior).another

    def answers(self, prior: Between | None) -> tuple[str, str]:
        """Return the answer of the others, and of what was left out; without a prior, on their processor."""
        if prior is None:
            found = pooled(self._fits[0]), self.measured
        else:
            found = (
                estimate(self._fits, prior).mean,
                estimate([[one.fit for one in self.left]], prior).mean,
            )
        return self.case.answer(found[0]), self.case.answer(found[1])

    @property
    def measured(self) -> Fit:
        """The ratio that was left out."""
        return pooled([one.fit for one in self.left])

    @property
    def pairs(self) -> list[tuple[Fit, Fit]]:
        """The estimate of each other run, and of each that was left out, as a reader of one page has one run."""
        return [(one.alone, left.alone) for held in self.others for one in held for left in self.left]

    def needed(self) -> float:
        """Return the least scale of a prior at which the interval holds the ratio."""
        low, high = SMALLEST, LARGEST
        if agree(self.foreseen(Between(low)), self.measured):
            return low
        for _ in range(20):
            middle = math.sqrt(low * high)
            holds = agree(self.foreseen(Between(middle)), self.measured)
            low, high = (low, middle) if holds else (middle, high)
        return high

    @property
    def _fits(self) -> list[list[Fit]]:
        return [[one.fit for one in held] for held in self.others]


def agree(foreseen: Fit, measured: Fit) -> bool:
    """Return whether an interval holds a ratio, which has an error of its own."""
    return holds(foreseen.minus(measured), 0.0)


def holds(one: Fit, value: float) -> bool:
    """Return whether the 95 % interval of an estimate contains a value."""
    low, high = one.interval()
    return low <= value <= high


def by_processor(cases: Iterable[Case]) -> Iterator[Check]:
    """Leave out each processor of each case that was measured on two or more."""
    for case in cases:
        held = {name: tuple(found) for name, found in case.processors.items()}
        for name, left in held.items():
            if len(held) > 1:
                yield Check(case, left, tuple(found for other, found in held.items() if other != name))


def by_run(cases: Iterable[Case]) -> Iterator[Check]:
    """Leave out each run of each case that has another run on its processor."""
    for case in cases:
        for held in case.processors.values():
            for left in held:
                if others := tuple(one for one in held if one is not left):
                    yield Check(case, (left,), (others,))


@dataclass(frozen=True)
class Need:
    """The least scale of the prior that one check needs."""

    experiment: str
    kind: Kind
    scale: float


def needs(checks: Iterable[Check]) -> list[Need]:
    """Return what each check needs; cases of claims do not count, because their setups are compared without them."""
    return [
        Need(one.case.experiment, one.case.kind, one.needed()) for one in checks if one.case.claim is None
    ]


def learned(found: Sequence[Need], without: str | None = None) -> dict[Kind, Between]:
    """Return the prior of each class: the scale at which 95 % of the intervals hold what was left out.

    ``without`` names an experiment that does not count, so that its own intervals are a test of the prior. A class with
    few comparisons has the scale of all.
    """
    used = [one for one in found if one.experiment != without]
    by_kind: dict[Kind, list[float]] = {one.kind: [] for one in found}
    for one in used:
        by_kind[one.kind].append(one.scale)
    every = [one.scale for one in used]
    return {
        kind: Between(_quantile(held if len(held) >= FEWEST else every))
        for kind, held in by_kind.items()
        if every
    }


def _quantile(values: Sequence[float]) -> float:
    """Return the least value that 95 % of the values do not exceed.

    >>> _quantile(range(1, 101)), _quantile([3.0])
    (95, 3.0)
    """
    ordered = sorted(values)
    return ordered[math.ceil(CONFIDENCE * len(ordered)) - 1]


Tested = tuple[Check, Between | None, Between | None]
"""A check, the prior of its class, and the same learned without its experiment; None if a run was left out."""


@dataclass(frozen=True)
class Row:
    """What was foreseen in a group of checks: before, from single runs, and after, by the estimate over processors.

    Whether an interval holds is tested with a prior that was learned from other experiments.
    """

    left_out: str
    """``processor`` or ``run``."""
    group: str
    """``all``, ``class``, ``experiment`` or ``claims``."""
    name: str
    checks: int
    holds_before: float
    """Share of 95 % CIs of a run that contain the ratio of a run that was left out."""
    agrees_before: float
    """The same, with the error of both ratios."""
    agrees_after: float
    """Share of intervals of the others that hold the ratio that was left out, with its error."""
    factor_before: float
    """The median factor from the ratio to an end of its 95 % CI."""
    factor_after: float
    same_before: float
    """Share of pairs of runs with the same answer."""
    same_after: float
    opposite_before: float
    opposite_after: float
    decided_before: float
    decided_after: float


def row(left_out: str, group: str, name: str, held: Sequence[Tested]) -> Row:
    """Return the row of a group of checks."""
    counted: dict[str, list[float]] = {}

    def count(**shares: float) -> None:
        for key, value in shares.items():
            counted.setdefault(key, []).append(value)

    for check, prior, foreign in held:
        answers = check.answers(prior)
        before = [(check.case.answer(one), check.case.answer(left)) for one, left in check.pairs]
        count(
            holds_before=_share(holds(one, left.centre) for one, left in check.pairs),
            agrees_before=_share(agree(one, left) for one, left in check.pairs),
            agrees_after=agree(check.foreseen(foreign), check.measured),
            factor_before=statistics.median(_half(one) for one, _ in check.pairs),
            factor_after=_half(check.foreseen(prior)),
            same_before=_share(one == left for one, left in before),
            same_after=answers[0] == answers[1],
            opposite_before=_share(opposite(*both) for both in before),
            opposite_after=opposite(*answers),
            decided_before=_share(one != UNDECIDED for one, _ in before),
            decided_after=answers[0] != UNDECIDED,
        )
    shown = {
        key: math.exp(statistics.median(values)) if key.startswith("factor") else statistics.fmean(values)
        for key, values in counted.items()
    }
    return Row(left_out, group, name, len(held), **{key: round(value, 4) for key, value in shown.items()})


def _share(found: Iterable[bool]) -> float:
    return statistics.fmean(map(float, found))


def _half(one: Fit) -> float:
    low, high = one.interval()
    return (high - low) / 2


def rows(cases: Sequence[Case], found: Sequence[Need]) -> list[Row]:
    """Return what was foreseen, by class of metric and by experiment, if a processor or a run is left out."""
    every = learned(found)
    foreign = {name: learned(found, name) for name in dict.fromkeys(one.experiment for one in cases)}
    tested: dict[str, list[Tested]] = {
        "processor": [
            (one, every.get(one.case.kind), foreign[one.case.experiment].get(one.case.kind))
            for one in by_processor(cases)
        ],
        "run": [(one, None, None) for one in by_run(cases)],
    }
    made = []
    for left_out, held in tested.items():
        metrics = [one for one in held if one[0].case.claim is None]
        groups = {("all", "all comparisons"): metrics}
        groups[("claims", "cases of claims")] = [one for one in held if one[0].case.claim is not None]
        for one in metrics:
            groups.setdefault(("class", one[0].case.kind), []).append(one)
        for one in metrics:
            groups.setdefault(("experiment", one[0].case.experiment), []).append(one)
        made += [row(left_out, *names, group) for names, group in groups.items() if group]
    return made
