"""The power of claims: the chance of each answer of a planned run, or of another run like one that was made.

The spread is the one that was measured last, else that of the metric's class (``SPREADS``). The true ratio is unknown.
Therefore a plan shows the chances twice: if the publication is right, and if the ratio is as the latest run measured
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchbook.analyse import claims, limits, noise, quantity
from benchbook.analyse.alike import Kind, kind_of
from benchbook.analyse.claim_cells import Sides, sides
from benchbook.analyse.claim_evidence import JudgedCell
from benchbook.analyse.claims import InPlace, Judgement
from benchbook.analyse.judgement import CONTRARY, Answer, Holds, Word
from benchbook.analyse.model import ALPHA, Fit
from benchbook.analyse.power import ENOUGH, Case, Question, case
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.claim import Claim
from benchbook.declare.expectation import expectation
from benchbook.declare.published import PublishedRatio, ratios
from benchbook.plan.plan import Plan

SPREADS: dict[Kind, float] = {
    "speed": 0.13, "storage": 0.17, "tail": 0.28, "processor time": 0.05, "memory": 0.04, "size": 0.01,
}  # fmt: skip
"""Class of metric → standard deviation of the log ratio of one block where none was measured: the median over published
experiments, rounded up."""
LITTLE = 0.5
"""Chance of a verdict below which a plan warns."""


@dataclass(frozen=True)
class Prospect:
    """The chances of a claim's verdicts at one assumed truth."""

    claim: str
    truth: str
    """Whose ratio is taken as true: ``published`` or ``measured``."""
    ratio: float
    """Its geometric mean over the cases."""
    spread: float
    """Spread of one block as a share, the largest of the cases."""
    trials: int
    chances: dict[Word, float]
    answers: dict[Answer, float]
    needed: int | None
    """Trials per case for an answer with a chance of ``ENOUGH``; None if no number gives it."""
    seconds: float | None
    """Time of that many trials of its cells."""
    short_seconds: float | None = None
    """Length of its phase in the latest run, where that was too short for a verdict: more trials do not change it."""

    @property
    def verdict(self) -> float:
        """The chance of any answer that is not open."""
        return 1 - self._chance("open")

    def _chance(self, *wanted: Holds) -> float:
        return sum(chance for one, chance in self.answers.items() if one.holds in wanted)

    def row(self) -> dict[str, Any]:
        """Return it as ``--json`` prints it."""
        return {
            "claim": self.claim, "truth": self.truth, "ratio": self.ratio, "spread": self.spread,
            "trials": self.trials,
            "answers": [{**one._asdict(), "chance": chance} for one, chance in self.answers.items()],
            "chances": self.chances, "verdict": self.verdict, "trials_needed": self.needed,
            "seconds_needed": self.seconds,
        }  # fmt: skip

    def shown(self) -> dict[str, str]:
        """Return it as a row for people."""
        same = sum(chance for one, chance in self.answers.items() if one.size == "as published")
        shares = {
            "holds": self._chance("holds"), "as published": same, "does not hold": self._chance(*CONTRARY),
            "open": self._chance("open"),
        }  # fmt: skip
        return {
            "claim": self.claim,
            "if the ratio is": f"{self.ratio:.3g} ({self.truth})",
            "spread": f"{100 * self.spread:.{1 if self.spread < 0.1 else 0}f} %",
            "trials": str(self.trials),
            **{name: f"{100 * chance:.0f} %" for name, chance in shares.items()},
            f"an answer at {100 * ENOUGH:g} %": "none" if self.needed is None else f"{self.needed} trials",
            "minutes": "" if self.seconds is None else quantity.number(self.seconds / 60, 2),
        }


def warnings(found: Iterable[Prospect]) -> list[str]:
    """Return a sentence for each claim whose chance of an answer is under one half, at the truth that favours it."""
    best: dict[str, Prospect] = {}
    for one in found:
        if one.claim not in best or one.verdict > best[one.claim].verdict:
            best[one.claim] = one
    return [
        f"the phase of {name} lasted {one.short_seconds:.2g} s in the latest run, and one under"
        f" {limits.BRIEF_SECONDS:g} s is not judged; more data or a longer duration helps, more trials do not"
        if one.short_seconds is not None
        else f"{name} gets an answer with a chance of {100 * one.verdict:.0f} % at {one.trials} trials; "
        f"{f'{one.needed} trials give' if one.needed else 'no number of trials gives'} {100 * ENOUGH:g} %"
        for name, one in best.items()
        if one.verdict < LITTLE or one.short_seconds is not None
    ]


def question(judged: Judgement) -> Question:
    """Return what more trials of a judged claim have to decide; an unfit case shows nothing."""
    fits = [(cell, cell.ratio.fit) for cell in judged.cells if not cell.unfit and cell.ratio.fit is not None]
    cases = tuple(case(cell.expected, fit, cell.noise, cell.steps) for cell, fit in fits)
    return Question(cases, judged.in_cells, len(judged.cells) - len(fits) + judged.missing)


def _prospect(
    claim: str, truth: str, asked: Question, trials: int, block_seconds: float, level: float = ALPHA
) -> Prospect:
    needed = asked.trials_for(level=level)
    ratio = math.exp(math.fsum(one.truth for one in asked.cases) / len(asked.cases))
    spread = math.expm1(max(one.spread for one in asked.cases))
    seconds = needed * block_seconds if needed and block_seconds else None
    return Prospect(
        claim,
        truth,
        ratio,
        spread,
        trials,
        asked.chances(trials, level),
        asked.answers(trials, level),
        needed,
        seconds,
    )


# Of a run that was made.


def of_run(run: Run, published: Path) -> list[Prospect]:
    """Return the power of another run like this one, for each claim that it judged, at the ratio that it measured."""
    with run.connected():
        lengths = _lengths(run)
        found = []
        for one in claims.of_run(run, published):
            asked = question(one)
            if asked.cases and one.verdict not in (
                "substitute only",
                "not run",
                "underspecified",
                "out of reach here",
            ):
                names = {held.name for cell in one.cells for held in cell.sides.cells}
                block = sum(lengths.get(name, 0.0) for name in names)
                trials = min(cell.trials for cell in one.cells)
                found.append(_prospect(one.id, "measured", asked, trials, block))
        return found


def _lengths(run: Run) -> dict[str, float]:
    """Return the usual seconds of a trial, by cell."""
    text = (
        "SELECT cell, median(duration_seconds) FROM trials WHERE run_id = ? AND status <> 'skipped' "
        "AND duration_seconds IS NOT NULL GROUP BY cell"
    )
    with run.connected() as connection:
        return {str(cell): float(value) for cell, value in connection.execute(text, [run.run_id]).fetchall()}


# Of a plan.


def of_plan(
    made: Plan,
    declared: Sequence[Claim],
    in_place: InPlace,
    published: Path,
    before: Run | None,
    cell_seconds: Mapping[str, float],
    skipped: Sequence[str] = (),
    level: float = ALPHA,
) -> list[Prospect]:
    """Return the power of a planned run, for each claim that it can judge.

    ``before`` is the latest run of the experiment, whose spreads and ratios are assumed. ``cell_seconds`` is the usual
    length of a trial, by cell; by default the profile's estimate. Systems of ``skipped`` are unavailable. Claims are
    judged at ``level``.
    """
    cells = [cell for cell in _planned(made) if cell.system not in skipped]
    present = {cell.system for cell in cells}
    latest = _Before.of(before, published)
    found = []
    for claim in declared:
        if claim.test == "agree" or (claim.underspecified is not None and not claim.unstated):
            continue
        accepted = {
            named: other
            for named, other in claim.accepts.items()
            if named not in present and other in present
        }
        meant = claims.instead(claim, accepted)
        asked = claims.judgeable(meant, ratios(claim, published), in_place, cells)
        pairs = [(side, claims.number_of(asked.published, side)) for side in sides(asked.claim, cells)]
        if any(one.levels for one in asked.published):  # a case that was not published is not judged
            pairs = [(side, number) for side, number in pairs if number is not None]
        pairs = [(side, number) for side, number in pairs if number is None or number.ratio is not None]
        names = {cell.name for side, _ in pairs for cell in side.cells}
        block = sum(cell_seconds.get(name, made.trial_seconds) for name in names)
        for truth in ("published", "measured"):
            assumed = [latest.case(claim, side, number, truth) for side, number in pairs]
            cases = tuple(one for one in assumed if one is not None)
            if cases and len(cases) == len(assumed):
                whole = Question(cases, claim.in_cells)
                prospect = _prospect(claim.id, truth, whole, made.trials_per_cell, block, level)
                found.append(replace(prospect, short_seconds=latest.short_seconds(claim)))
    return found


def _planned(made: Plan) -> list[Cell]:
    """Return the cells of a plan, as those of a run whose trials all count."""
    trials = made.trials_per_cell
    return [
        Cell(
            name, str(levels["system"]), str(levels.get("arm", "")),
            {factor: str(level).lower() if isinstance(level, bool) else str(level) for factor, level in levels.items()},
            trials, trials, (), None, (), (), (), (),
        )
        for name, levels in {trial.cell: trial.levels for trial in made.trials}.items()
    ]  # fmt: skip


def _usual_spread(claim: Claim) -> float:
    """Return the spread of a claim's metric in published runs; of one without a class, the largest."""
    kind = kind_of(claim.metric)
    return max(SPREADS.values()) if kind is None else SPREADS[kind]


@dataclass(frozen=True)
class _Before:
    """What the latest run of an experiment measured."""

    cells: Mapping[str, list[tuple[JudgedCell, Fit]]]
    """Claim → its cases that have an estimate."""
    run: Run | None = None
    """The run, whose A/A runs show the noise."""

    @staticmethod
    def of(run: Run | None, published: Path) -> _Before:
        if run is None:
            return _Before({})
        with run.connected():
            judged = claims.of_run(run, published)
            cells = {
                one.id: [(cell, cell.ratio.fit) for cell in one.cells if cell.ratio.fit is not None]
                for one in judged
            }
            return _Before(cells, run)

    def short_seconds(self, claim: Claim) -> float | None:
        """Return the length of the shortest phase of a claim that was too short for a verdict; None if none was."""
        unfit = [cell.unfit for cell, _ in self.cells.get(claim.id, []) if cell.unfit]
        return min((one.facts["seconds"] for one in unfit if one.code == "short-phase"), default=None)

    def case(self, claim: Claim, side: Sides, number: PublishedRatio | None, truth: str) -> Case | None:
        """Return what is assumed of a planned comparison; None where ``truth`` gives no ratio.

        A one-sided claim publishes a bound, and the ratio beyond it is unknown.
        """
        if number is not None and claim.along is not None:
            number = number.between(side.cells[0].levels[claim.along], side.cells[-1].levels[claim.along])
        expected = expectation(claim, number)
        held = self.cells.get(claim.id, [])
        own = [(cell, fit) for cell, fit in held if cell.sides.levels == side.levels][:1]
        spread = median([fit.spread for _, fit in own or held] or [_usual_spread(claim)])
        steps: tuple[float, ...] = ()
        if truth == "published" and expected.kind in ("ratio", "equal"):
            centre = math.log(math.sqrt(math.prod(expected.band)))
        elif truth == "measured" and own:
            centre, steps = own[0][1].centre, tuple(step.centre for step in own[0][0].steps)
        else:
            return None
        if claim.monotonic and not steps:
            count = len(side.cells) - 1
            steps = (centre / count,) * count
        systems = (side.cells[-1].system, side.cells[0].system)
        known = (
            noise.of(self.run, claim.at_case(side.levels).pair, *systems) if self.run is not None else None
        )
        return Case(expected, centre, spread, known, steps)
