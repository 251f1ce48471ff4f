"""The ratios of a claim over all runs that measured its cases alike, on its processor and on others.

``beside`` says which runs count, and ``processors`` estimates. A run measured a case alike if all that both sides did
is equal (``work``), and if it may be judged: no failed operation, no lost trial, equal answers.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchbook.analyse import judgement, learned, noise, reach, same_work
from benchbook.analyse.alike import bound_kind, is_bound, kind_of, work
from benchbook.analyse.beside import Groups
from benchbook.analyse.claim_cells import Sides
from benchbook.analyse.claim_evidence import JudgedCell, judged
from benchbook.analyse.claim_notes import refusals
from benchbook.analyse.judgement import evidence, reason
from benchbook.analyse.model import ALPHA, Fit, Noise
from benchbook.analyse.paired import spread
from benchbook.analyse.processors import Between, Estimate, estimate, pooled
from benchbook.analyse.ratio import Ratio, of_fit, of_logs, ratio
from benchbook.analyse.run import Run
from benchbook.declare.claim import Claim

Scope = Literal["run", "processor", "processors"]
"""What a verdict rests on: one run, several runs on one processor, or runs on several processors."""
NO_RATIO = Ratio(None, None, None, 0)
METHOD = "runs of a processor pooled by precision; processors with a prior of the variance between them; Student's t"


@dataclass(frozen=True)
class Member:
    """A case of a claim as one run measured it."""

    run_id: str
    processor: int
    """Place of its group; 0 is the processor of the run that is judged."""
    logs: dict[int, float]
    """Block → log ratio."""
    noise: Noise
    """Noise between equal setups, which is always added."""
    fit: Fit
    """The estimate with this noise."""
    steps: tuple[Fit, ...] = ()
    """The steps of a monotonic trend, likewise."""


@dataclass(frozen=True)
class Over:
    """A case of a claim over all runs that measured it alike."""

    members: tuple[Member, ...]
    """The run itself first."""
    prior: Between

    @property
    def processors(self) -> int:
        """The number of processors."""
        return len({one.processor for one in self.members})

    @property
    def here(self) -> list[Member]:
        """The runs on the processor of the run itself."""
        return [one for one in self.members if one.processor == 0]

    @property
    def by_processor(self) -> list[Fit]:
        """The ratio on each processor: its runs pooled."""
        return [pooled(held) for held in _groups([(one.processor, one.fit) for one in self.members])]

    @property
    def estimate(self) -> Estimate:
        """The estimate over processors."""
        return _estimate([(one.processor, one.fit) for one in self.members], self.prior)

    def expect(self, level: float = ALPHA) -> tuple[float, float]:
        """Return the ratio to expect on another processor: ends of its interval at confidence 1 - ``level``.

        It is never narrower than that of what was measured. With few blocks it could be: the spread between processors
        is known better than that of the blocks, and Satterthwaite's degrees of freedom then grow.
        """
        scope: Scope = "processors" if self.processors > 1 else "processor"
        ends = [self.estimate.another.interval(level), self.fits(scope)[0].interval(level)]
        return math.exp(min(low for low, _ in ends)), math.exp(max(high for _, high in ends))

    def fits(self, scope: Scope) -> tuple[Fit, tuple[Fit, ...]]:
        """Return the ratio in a scope, and the steps of a monotonic trend."""
        whole = _in_scope([(one.processor, one.fit) for one in self.members], self.prior, scope)
        steps = [
            _in_scope([(one.processor, one.steps[place]) for one in self.members], self.prior, scope)
            for place in range(len(self.members[0].steps))
        ]
        return whole, tuple(steps)


@dataclass(frozen=True)
class OverRuns:
    """The cases of a claim over all runs."""

    cells: tuple[JudgedCell, ...]
    """Each with the ratio and the verdict of its scope."""
    whole: Ratio | None
    """Their typical ratio; None for that of the run alone."""
    scope: Scope
    processors: int
    """The number of processors; of several cases, the least."""
    runs: int
    by_case: tuple[Over | None, ...]
    """What each of ``cells`` rests on; None for one that is not judged."""

    def expect(self, level: float) -> tuple[float, float] | None:
        """Return the ratio to expect on another processor: ends of its interval. None for several cases."""
        held = [one for one in self.by_case if one is not None]
        return held[0].expect(level) if len(held) == 1 else None


def of_claim(claim: Claim, run: Run, cells: Sequence[JudgedCell], beside: Groups) -> OverRuns | None:
    """Return the cases of a claim over all runs; None if one of them has no estimate over runs.

    A count, such as of failures, has no such estimate, and neither has a case that the run itself measured too seldom
    for an interval.
    """
    fit = [cell for cell in cells if cell.unfit is None]
    found = [_over(claim, run, cell, beside) for cell in fit]
    held = [one for one in found if one is not None]
    if not held or len(held) < len(fit):
        return None
    number = min(one.processors for one in held)
    runs = min(len(one.members if number > 1 else one.here) for one in held)
    scope: Scope = "processors" if number > 1 else "processor" if runs > 1 else "run"
    by_cell = {id(cell): one for cell, one in zip(fit, held, strict=True)}
    by_case = tuple(by_cell.get(id(cell)) for cell in cells)
    if scope == "run":
        return OverRuns(tuple(cells), None, scope, 1, 1, by_case)
    made = tuple(_judged(run, cell, over, scope) for cell, over in zip(cells, by_case, strict=True))
    whole = made[0].ratio
    if len(cells) > 1:
        fits = _whole(held)
        whole = of_fit(_in_scope(fits, _widest(held), scope), METHOD).at(run.level) if fits else NO_RATIO
    return OverRuns(made, whole, scope, number, runs, by_case)


def _judged(run: Run, cell: JudgedCell, over: Over | None, scope: Scope) -> JudgedCell:
    """Return a case with the ratio of a scope, judged again; an unfit one stays as it is."""
    if over is None:
        return cell
    centre, steps = over.fits(scope)
    made = replace(of_fit(centre, METHOD).at(run.level), trials=cell.ratio.trials)
    shown = evidence(centre, cell.expected, steps).at(run.level)
    word = judgement.word(shown)
    return replace(
        cell, ratio=made, evidence=shown, verdict=word, because=reason(word, cell.expected, made), steps=steps
    )  # fmt: skip


def _over(claim: Claim, run: Run, cell: JudgedCell, beside: Groups) -> Over | None:
    claim, kind = claim.at_case(cell.sides.levels), kind_of(claim.metric)
    own = None if kind is None else _member(claim, run, cell, 0)
    if kind is None or own is None:
        return None
    members, runs = [own], [(run, cell.sides.cells)]
    for place, group in enumerate(beside):
        for other in group:
            sides = None if other.run_id == run.run_id else _alike(claim, run, cell.sides, other)
            theirs = judged(claim, other, sides, None) if sides else None
            if theirs is None or theirs.unfit or refusals([theirs], same_work.of_run(other)):
                continue
            if reach.unmet(claim, other, [theirs]):
                continue
            if (member := _member(claim, other, theirs, place)) is not None:
                members.append(member)
                runs.append((other, theirs.sides.cells))
    bound = any(is_bound(held, cells, claim.phase) for held, cells in runs)
    prior = learned.priors().get(bound_kind(kind) if bound else kind)
    return None if prior is None else Over(tuple(members), prior)


def _member(claim: Claim, run: Run, cell: JudgedCell, processor: int) -> Member | None:
    """Return a case as a run measured it; None for too few blocks."""
    equal = noise.always(run, claim.pair, {held.system for held in cell.sides.cells})
    series = [run.values(held, one, claim.validity).by_block for held, one in cell.sides.pairs(claim)]
    known = spread(run, claim.pair, claim.validity)
    steps = itertools.pairwise(series) if claim.monotonic else ()
    fits = [ratio(of, over, known).fit for over, of in [(series[0], series[-1]), *steps]]
    kept = [one.with_noise(equal) for one in fits if one is not None]
    if len(kept) < len(fits):
        return None
    return Member(run.whole.run_id, processor, cell.logs, equal, kept[0], tuple(kept[1:]))


def _alike(claim: Claim, run: Run, sides: Sides, other: Run) -> Sides | None:
    """Return the cells of another run that did the same work as those of a case; None if one is missing."""
    phases = tuple(dict.fromkeys((claim.phase, claim.below[0])))
    ours, theirs = _works(run, phases), _works(other, phases)
    wanted = [ours.get(cell.name) for cell in sides.cells]
    by_work = {work: name for name, work in theirs.items()}
    cells = {cell.name: cell for cell in other.cells}
    found = [cells[by_work[work]] for work in wanted if work in by_work]
    return Sides(sides.levels, tuple(found)) if len(found) == len(sides.cells) else None


@functools.cache
def _works(run: Run, phases: tuple[str, ...]) -> dict[str, tuple[object, ...]]:
    """Return name of a cell → everything that it did in some phases, as a key; of cells with a valid trial."""
    whole = run.whole
    return {cell.name: tuple(work(whole, cell, phase) for phase in phases) for cell in whole.cells if cell.ok}


def _whole(held: Sequence[Over]) -> list[tuple[int, Fit]]:
    """Return the typical ratio of several cases in each run that measured all of them, with its processor."""
    by_run: dict[str, list[Member]] = {}
    for over in held:
        for one in over.members:
            by_run.setdefault(one.run_id, []).append(one)
    found = []
    for members in by_run.values():
        if len(members) < len(held):
            continue
        blocks = sorted(set.intersection(*(set(one.logs) for one in members)))
        made = of_logs([sum(one.logs[block] for one in members) / len(members) for block in blocks]).fit
        largest = max((one.noise for one in members), key=lambda one: one.variance)
        if made is not None:
            found.append((members[0].processor, made.with_noise(largest)))
    return found


def _widest(held: Sequence[Over]) -> Between:
    return max((one.prior for one in held), key=lambda one: one.scale)


def _in_scope(fits: Sequence[tuple[int, Fit]], prior: Between, scope: Scope) -> Fit:
    if scope == "processors":
        return _estimate(fits, prior).mean
    return pooled([fit for place, fit in fits if place == 0])


def _estimate(fits: Sequence[tuple[int, Fit]], prior: Between) -> Estimate:
    return estimate(_groups(fits), prior)


def _groups(fits: Sequence[tuple[int, Fit]]) -> list[list[Fit]]:
    """Return the fits of each processor."""
    groups: dict[int, list[Fit]] = {}
    for place, fit in fits:
        groups.setdefault(place, []).append(fit)
    return list(groups.values())
