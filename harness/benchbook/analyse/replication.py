"""Published comparisons that several runs made alike, and how well some of these runs foresee the others.

A case is one metric of two setups. Runs share a case if everything that they did for it is equal: setups, options,
data, queries, versions and configurations. Each processor (or run) of a case is left out in turn, and its ratio is
compared with the interval that the others give.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from benchbook.analyse import claims, comparison, judgement, noise
from benchbook.analyse.alike import USED, Kind, bound_kind, is_bound, kind_of, work
from benchbook.analyse.judgement import evidence
from benchbook.analyse.model import Fit
from benchbook.analyse.paired import spread
from benchbook.analyse.ratio import ratio
from benchbook.analyse.run import Run
from benchbook.analyse.values import TRIAL, Cell, Pair, Validity
from benchbook.declare.expectation import Expectation
from benchbook.declare.metric import is_main


@dataclass(frozen=True)
class Measured:
    """The ratio of a case in one run."""

    run_id: str
    processor: int
    """Its place among the processors of the experiment."""
    fit: Fit
    """The estimate with the noise between equal setups, which is always added."""
    alone: Fit
    """The estimate that pages of this run show."""


@dataclass(frozen=True)
class Case:
    """One metric of two setups, in all runs that measured it alike."""

    experiment: str
    kind: Kind
    phase: str
    metric: str
    sides: tuple[str, str]
    """The two setups: numerator and denominator."""
    found: tuple[Measured, ...]
    claim: str | None = None
    """The claim that it is a case of; None for a metric of two setups that a page compares."""
    expected: Expectation | None = None

    @property
    def processors(self) -> dict[int, list[Measured]]:
        """Processor → its runs."""
        made: dict[int, list[Measured]] = {}
        for one in self.found:
            made.setdefault(one.processor, []).append(one)
        return made

    def answer(self, fit: Fit) -> str:
        """Return what an estimate says: the verdict on the claim, else which side is higher."""
        if self.expected is not None:
            return judgement.word(evidence(fit, self.expected))
        low, high = fit.interval()
        return "higher" if low > 0 else "lower" if high < 0 else "inconclusive"


def opposite(one: str, other: str) -> bool:
    """Return whether two answers contradict each other.

    >>> opposite("reproduced", "contradicted"), opposite("higher", "lower"), opposite("higher", "inconclusive")
    (True, True, False)
    """
    both = {one, other}
    return both == {"higher", "lower"} or ("contradicted" in both and bool(both.intersection(claims.HOLDS)))


# Cases of an experiment


@dataclass
class _Collected:
    """A case while runs are read."""

    first: Case
    found: list[Measured] = field(default_factory=list)
    bound: bool = False
    """True if storage bounds it in any run."""


def cases(experiment: str, runs: Sequence[tuple[int, Run]]) -> list[Case]:
    """Return the cases of an experiment, from its runs with the number of their processor.

    Every pair of setups that a page compares gives a case for each metric of ``KINDS``, and each case of a claim gives
    one more, with its expectation.
    """
    made: dict[Hashable, _Collected] = {}
    for processor, run in runs:
        with run.connected():
            for key, one, measured, bound in _of_run(experiment, processor, run):
                held = made.setdefault(key, _Collected(one))
                held.found.append(measured)
                held.bound = held.bound or bound
    return [_finished(one) for one in made.values()]


def _finished(one: _Collected) -> Case:
    first = one.first
    return Case(
        first.experiment, bound_kind(first.kind) if one.bound else first.kind, first.phase, first.metric,
        first.sides, tuple(one.found), first.claim, first.expected,
    )  # fmt: skip


def _of_run(experiment: str, processor: int, run: Run) -> Iterator[tuple[Hashable, Case, Measured, bool]]:
    """Yield each case of a run: its key, the case without results, its result, and whether storage bounds it."""
    metrics = [
        (pair, kind)
        for pair in run.pairs()
        if pair[0] in _phases(run) and (kind := kind_of(pair[1])) and (is_main(pair[1]) or kind in USED)
    ]
    for above, below in _compared(run):
        for pair, kind in metrics:
            yield from _one(experiment, processor, run, kind, (above, below), pair)
    declared = {one.id: one for one in claims.declared(run)[0]}
    for judged in claims.of_run(run) if declared else ():
        claim = declared[judged.id]
        for cell in judged.cells:
            one = claim.at_case(cell.sides.levels)
            found, sides = kind_of(one.metric), (cell.sides.cells[-1], cell.sides.cells[0])
            if found is None or cell.unfit or claim.monotonic or sides[0] == sides[1]:
                continue
            yield from _one(
                experiment,
                processor,
                run,
                found,
                sides,
                one.pair,
                one.validity,
                (claim.id, cell.expected),
            )


def _phases(run: Run) -> set[str]:
    """Return the phases that do the work of an experiment, and the whole trial."""
    return {TRIAL, *(str(one["name"]) for one in run.facts("planned").get("phases") or [])}


def _compared(run: Run) -> list[tuple[Cell, Cell]]:
    """Return the setups that the page of a run compares: those of its claims, else each with the baseline."""
    if run.declared.get("claims"):
        sides = [cell.sides.cells for one in claims.of_run(run) for cell in one.cells]
        return list(dict.fromkeys((held[-1], held[0]) for held in sides if held[-1] != held[0]))
    base = comparison.baseline(run)
    return [(cell, base) for cell in run.cells if base is not None and cell.ok and cell.name != base.name]


def _one(
    experiment: str, processor: int, run: Run, kind: Kind, sides: tuple[Cell, Cell], pair: Pair,
    validity: Validity = "trial", stated: tuple[str | None, Expectation | None] = (None, None),
) -> Iterator[tuple[Hashable, Case, Measured, bool]]:  # fmt: skip
    of, over = (run.values(cell, pair, validity).by_block for cell in sides)
    own = ratio(of, over, spread(run, pair, validity)).fit
    if own is None:
        return
    systems = [cell.system for cell in sides]
    measured = Measured(
        run.run_id, processor, own.with_noise(noise.always(run, pair, systems)),
        own.with_noise(noise.of(run, pair, *systems)),
    )  # fmt: skip
    case = Case(experiment, kind, *pair, (sides[0].name, sides[1].name), (), *stated)
    key = (run.profile, *pair, *(work(run, cell, pair[0]) for cell in sides), *stated)
    yield key, case, measured, is_bound(run, sides, pair[0])
