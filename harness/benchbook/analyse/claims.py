"""Judge claims on a run: each published statement gets a verdict and its reason."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.analyse import interval, judgement, noise, same_work
from benchbook.analyse.claim_cells import Sides, absent, differing, sides
from benchbook.analyse.judgement import Evidence, Expectation, Kind, Word, evidence, reason
from benchbook.analyse.noise import Floors
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.ratio import ratio as of_ratio
from benchbook.analyse.run import Run
from benchbook.analyse.same_work import SameWork
from benchbook.analyse.scaled import scaled
from benchbook.declare.claim import Claim, PublishedMachine
from benchbook.declare.experiment import LIMIT_FACTORS, PLACE_FACTORS
from benchbook.declare.level import listed, same
from benchbook.declare.published import PublishedRatio, ratios
from benchbook.declare.toml import Setting
from benchbook.errors import RequestError, command

# One cell of a claim: its two sides (or its row of levels), their ratio, and what it shows.


@dataclass(frozen=True)
class JudgedCell:
    """What one cell shows of a claim."""

    sides: Sides
    expected: Expectation
    published: float | None
    """Published ratio of this cell."""
    published_of: float | None
    published_over: float | None
    unit: str | None
    """Unit of the two published values, as published."""
    measured: float | None
    low: float | None
    high: float | None
    trials: int
    """Blocks that have both sides."""
    ratio: Ratio
    logs: tuple[tuple[int, float], ...]
    """(block, log ratio)."""
    outliers: int
    """Blocks marked as outliers; they are kept."""
    noise: float | None
    """Noise floor as a factor; None where it is unknown."""
    failed: int
    """Operations that failed on any side."""
    evidence: Evidence
    reversed_step: str | None = None
    """The step of a trend that surely goes against it."""
    verdict: Word = "inconclusive"
    reason: str = ""

    def sentence(self, word: Word, alone: bool) -> str:
        """Say why the cell is called so; ``alone``: no other cell was judged with it."""
        if not alone and word != judgement.word(self.evidence):
            return f"{judgement.word(self.evidence)} by itself, and not surely so among the cells judged together"
        return reason(word, self.expected, self.ratio, self.noise)


def judged(
    claim: Claim, run: Run, sides: Sides, published: PublishedRatio | None, floors: Floors
) -> JudgedCell | None:
    """Return what the sides show of a claim, before many cells are judged together; None without a ratio."""
    pair = (claim.phase, claim.metric)
    series = [run.values(cell, pair).by_block for cell in sides.cells]
    ratio = of_ratio(series[-1], series[0])
    if ratio.value is None:
        return None
    logs = _logs(series[-1], series[0])
    if published is not None and claim.along is not None:
        first, last = (sides.cells[place].levels[claim.along] for place in (0, -1))
        published = published.between(first, last)
    expected = expectation(claim, published)
    floor = floors.factor(sides.cells, pair)
    found = evidence([log for _, log in logs], expected, floor or 1.0, _steps(claim, series))
    reversed_step = _reversed(claim, sides, series, floor) if claim.trend else None
    if (
        reversed_step
    ):  # it ends higher than it began and fell on the way: the size alone does not make it true
        found = Evidence(1.0, found.direction, found.contradicted)
    marks = interval.mad([log for _, log in logs])
    return JudgedCell(
        sides, expected, published.ratio if published else None,
        published.of if published else None, published.over if published else None,
        published.unit if published else None, ratio.value, ratio.low, ratio.high, ratio.trials, ratio,
        tuple(logs), sum(marks), floor, sum(run.failed(cell, claim.phase) for cell in sides.cells), found,
        reversed_step,
    )  # fmt: skip


def expectation(claim: Claim, published: PublishedRatio | None) -> Expectation:
    """Return what a claim expects of a cell's ratio."""
    number = published.ratio if published else None
    if claim.test == "rises" or claim.test == "falls":  # noqa: PLR1714 - narrows the type
        up = claim.test == "rises"
        kind: Kind = "at-least" if up else "at-most"
        if claim.by_at_least is not None:
            return Expectation(kind, claim.by_at_least if up else 1 / claim.by_at_least, claim.margin)
        if number is not None and (number > 1) == up and number != 1:
            return Expectation("ratio", number, claim.margin)
        return Expectation(kind, 1.0, claim.margin)
    if claim.test == "equal":
        return Expectation("equal", 1.0, claim.margin)
    return Expectation(claim.test, 1.0 if number is None else number, claim.margin)


def pooled(cells: Sequence[JudgedCell]) -> Ratio:
    """Return the geometric mean of the ratios of cells, paired by the blocks that all of them have."""
    if len(cells) == 1:
        return cells[0].ratio
    by_block = [dict(cell.logs) for cell in cells]
    blocks = sorted(set.intersection(*(set(held) for held in by_block)))
    means = {block: math.exp(sum(held[block] for held in by_block) / len(by_block)) for block in blocks}
    return of_ratio(means, dict.fromkeys(blocks, 1.0))


def _logs(of: dict[int, float], over: dict[int, float]) -> list[tuple[int, float]]:
    return [(block, math.log(of[block] / over[block])) for block in sorted(of.keys() & over.keys())]


def _steps(claim: Claim, series: Sequence[dict[int, float]]) -> list[list[float]]:
    if not claim.monotonic:
        return []
    return [[log for _, log in _logs(after, before)] for before, after in itertools.pairwise(series)]


def _reversed(
    claim: Claim, sides: Sides, series: Sequence[dict[int, float]], floor: float | None
) -> str | None:
    """Return the first step that surely goes against the trend (Bonferroni over its steps), in words."""
    sign = 1 if claim.test == "rises" else -1
    edge = math.log(max(floor or 1.0, 1.0))
    steps = len(series) - 1
    for place in range(steps):
        logs = [sign * log for _, log in _logs(series[place + 1], series[place])]
        if len(logs) >= interval.FEWEST and steps * interval.below(logs, -edge) <= interval.ALPHA:
            assert claim.along is not None
            before, after = (sides.cells[at].levels[claim.along] for at in (place, place + 1))
            moved = "falls" if sign > 0 else "rises"
            return f"{claim.metric} {moved} from {claim.along} {before} to {after}"
    return None


# What a reader must know beside a verdict, and what forbids one.


def refusals(cells: Sequence[JudgedCell], answers: SameWork) -> list[str]:
    """Return why cells may not be judged: other work, or other answers."""
    found = []
    for cell in cells:
        by_intent = any(factor not in (*PLACE_FACTORS, *LIMIT_FACTORS) for factor in cell.sides.factors)
        found += same_work.mixture(cell.sides.cells, data_differ=by_intent)
    found += answers.faults({(held.system, held.arm) for cell in cells for held in cell.sides.cells})
    return list(dict.fromkeys(found))


def notes(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Return the notes on judged cells, each without a full stop."""
    found = []
    if run.profile == "smoke":
        found.append("profile smoke is for tests: its numbers say little")
    if run.info.get("finished_at") is None:
        found.append("the run has not come to its end")
    found.append(_noise(cells))
    fewest = min(cell.trials for cell in cells)
    if fewest < interval.FEW:
        found.append(f"{fewest} {'trial' if fewest == 1 else 'trials'} a cell")
    if outliers := sum(cell.outliers for cell in cells):
        found.append(f"{outliers} {'outlier' if outliers == 1 else 'outliers'}, kept")
    found += _transport(run, cells)
    flights = {held.levels.get("workers") for cell in cells for held in cell.sides.cells}
    if "workers" in claim.of and len(flights) > 1:
        found.append("the sides are compared at different numbers of operations in flight")
    if claim.along is not None:
        found += _span(claim.along, cells)
    if against := [cell.reversed_step for cell in cells if cell.reversed_step]:
        found.append(f"against the trend: {same_work.some(against)}")
    return found


def _span(along: str, cells: Sequence[JudgedCell]) -> list[str]:
    """Say between which levels a trend was followed, and whether numbers were published for them."""
    spans = {(cell.sides.cells[0].levels[along], cell.sides.cells[-1].levels[along]) for cell in cells}
    found = [f"{along} from {first} to {last}" for first, last in sorted(spans)]
    unknown = sum(cell.published is None for cell in cells)
    return [*found, "no number was published for these levels"] if 0 < unknown == len(cells) else found


def _noise(cells: Sequence[JudgedCell]) -> str:
    floors = [cell.noise for cell in cells if cell.noise]
    if not floors:
        return "the noise floor of this machine is unknown (./bench aa)"
    if len(floors) < len(cells):
        return f"the noise floor is unknown in {len(cells) - len(floors)} cells (./bench aa)"
    return f"noise floor: {100 * (max(floors) - 1):.3g} %"


def _transport(run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Say that embedded systems have no transport in their numbers, where they stand beside servers."""
    systems = {held.system for cell in cells for held in cell.sides.cells}
    embedded = sorted(system for system in systems if run.embedded(system))
    if not embedded or len(embedded) == len(systems):
        return []
    verb = "share" if len(embedded) > 1 else "shares"
    return [f"{' and '.join(embedded)} {verb} the client's process, so no transport is in those numbers"]


# Claims judged on a run: each published statement gets one of six verdicts, and the reason in words.
#
# Claims are those that the run itself declared before it began (rule 15 of docs/methods.md). ``declare.claim`` says
# what a claim is, ``analyse.expectation`` what it expects of a ratio, ``analyse.judgement`` how verdicts are reached.

COLUMNS = (
    "id", "statement", "source", "published", "measured", "low", "high", "margin", "verdict", "reason",
)  # fmt: skip
"""Of ``bench claims --json``, in order."""


OF_FAILURES = ("rows_found", "rows_refused")
"""Metrics that say themselves what was refused."""


@dataclass(frozen=True)
class Judgement:
    """A claim and what a run says of it."""

    id: str
    statement: str
    source: str
    published: float | None
    """Published ratio; the geometric mean of its cells where there are many. None without a published number."""
    measured: float | None
    """Measured ratio, likewise; of a substitute where the verdict is ``not run``."""
    low: float | None
    """Ends of the 95 % interval of ``measured``; None where there is none."""
    high: float | None
    margin: float
    """Equivalence margin: 0.1 is 10 %."""
    verdict: Word
    reason: str
    """Why, in words, with what a reader must know beside it."""
    phase: str
    metric: str
    test: str
    cells: tuple[JudgedCell, ...] = ()
    """What each cell shows."""
    notes: tuple[str, ...] = ()
    """The part of ``reason`` that is said beside the verdict."""
    scaled: str | None = None
    """By what the machine falls short of the publication's, where profile published ran on a smaller one."""

    def row(self) -> dict[str, Any]:
        """Return what ``bench claims --json`` prints of it."""
        held = vars(self)
        return {name: held[name] for name in COLUMNS}


def judge_run(results: Path, run_id: str, published: Path) -> list[Judgement]:
    """Judge every claim that a run declared.

    ``published`` is the folder of published CSV files, used where the run kept no copy of its own. Raises
    RequestError for an A/A run, and where the results hold no such run.
    """
    run = Run(results, run_id)
    with run.opened():
        run.require()
        claims, machine = declared(run)
        if run.against_itself:
            raise RequestError(
                f"{run_id} is an A/A run: it gives the noise floor, and judges no claims.",
                f"Name another run; `{command('list runs')}` shows them.",
            )
        pairs = {(claim.phase, claim.metric) for claim in claims}
        run.preload(pairs)
        floors = noise.floors(run, pairs) if claims else Floors()
        answers = same_work.of_run(run)
    own = results / "runs" / run_id / "declared" / "published"
    return [judge(claim, run, ratios(claim, own if own.is_dir() else published), floors, answers, machine)
            for claim in claims]  # fmt: skip


def declared(run: Run) -> tuple[list[Claim], PublishedMachine | None]:
    """Return the claims that a run declared, and the publication's machine."""
    experiment = run.declared
    try:
        claims = [Claim.model_validate(held) for held in experiment.get("claims") or []]
        machine = experiment.get("published_machine")
        return claims, PublishedMachine.model_validate(machine) if machine else None
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise RequestError(
            f"The claims of run {run.run_id} are of another Benchbook and cannot be read: {first}.",
            "Use the revision that made the run; it stands in its run.json.",
        ) from error


def judge(
    claim: Claim,
    run: Run,
    published: Sequence[PublishedRatio],
    floors: Floors,
    answers: SameWork,
    machine: PublishedMachine | None = None,
) -> Judgement:
    """Judge one claim on one run."""
    shortfall = scaled(run.profile, machine, run.facts("host"))
    blank = Judgement(
        claim.id, claim.statement, claim.source, _mean([one.ratio for one in published]), None, None, None,
        claim.margin, "not run", "", claim.phase, claim.metric, claim.test, scaled=shortfall,
    )  # fmt: skip
    missing_sides = absent(claim, run)
    found = _cells(claim, run, published, floors)
    if claim.underspecified is not None and not spanned(claim, found.cells):
        return _said(_shown(blank, found.cells), "underspecified", [claim.underspecified])
    if missing_sides:
        return _not_run(blank, claim, run, missing_sides, published, floors)
    if not found.cells:
        return _said(blank, "not run", found.left_out or ["no cell of this run has both sides"])
    cells = _worded(found.cells)
    before = [*([shortfall] if shortfall else []), *unstated_note(claim, cells)]
    beside = [*before, *found.left_out, *notes(claim, run, cells)]
    shown = replace(_shown(blank, cells), notes=tuple(beside))
    return _said(shown, *_verdict(claim, cells, found.missing, refusals(cells, answers)))


def _verdict(
    claim: Claim, cells: list[JudgedCell], missing: int, refused: Sequence[str]
) -> tuple[Word, list[str]]:
    """Return the verdict on cells that were judged, and why."""
    if refused:
        return "inconclusive", [f"not judged: {'; '.join(refused)}"]
    if claim.metric not in OF_FAILURES and (failed := sum(cell.failed for cell in cells)):
        words = "operation" if failed == 1 else "operations"
        return "inconclusive", [f"{failed} {words} failed, and with failures nothing is judged"]
    if decides := deciding(claim, cells):
        return decides[0], [decides[1]]
    verdict = judgement.joint([cell.verdict for cell in cells], claim.in_cells, missing)
    return verdict, [_why(claim, cells, missing)]


def _said(found: Judgement, verdict: Word, because: Sequence[str]) -> Judgement:
    return replace(found, verdict=verdict, reason="; ".join([*because, *found.notes]))


def _not_run(
    blank: Judgement, claim: Claim, run: Run, because: list[str],
    published: Sequence[PublishedRatio], floors: Floors,
) -> Judgement:  # fmt: skip
    """Say why it was not run, and show what a substitute gives."""
    chosen = stand_ins(claim, run)
    found = _cells(instead(claim, chosen), run, published, floors) if chosen else Found([], [], 0)
    if not found.cells:
        return _said(blank, "not run", because)
    shown = "; ".join(f"{other} is shown in place of {named}" for named, other in chosen.items())
    return _said(
        _shown(blank, found.cells), "not run", [*because, f"{shown}, and a substitute is not judged"]
    )


@dataclass(frozen=True)
class Found:
    """The cells that a run has for a claim."""

    cells: list[JudgedCell]
    left_out: list[str]
    """Cells that are not judged, and why, in words."""
    missing: int
    """Cells that were published and are not in the run."""


def _cells(claim: Claim, run: Run, published: Sequence[PublishedRatio], floors: Floors) -> Found:
    by_cell = [one for one in published if one.levels]
    cells, left_out, met = [], [], []
    valueless: list[str] = []
    asked = sides(claim, run)
    telling = claim.across or differing(asked)
    for side in asked:
        number = next((one for one in published if _fits(one, side)), None)
        if number in by_cell:
            met.append(number)
        if by_cell and number is None:
            left_out.append(f"{side.name(telling)} was not published")
        elif number is not None and number.ratio is None:
            left_out.append(f"{side.name(telling)} has no published ratio ({number.note})")
        elif (made := judged(claim, run, side, number, floors)) is None:
            valueless.append(side.name(telling))
        else:
            cells.append(made)
    if valueless:
        have = "has" if len(valueless) == 1 else "have"
        words = f"no value above zero of {claim.metric} on both sides"
        left_out.append(f"{same_work.some(valueless)} {have} {words}")
    lacking = [one for one in by_cell if one not in met and one.ratio is not None]
    if lacking and cells:
        names = [", ".join(f"{name} {level}" for name, level in one.levels.items()) for one in lacking]
        left_out.append(f"published and not in this run: {same_work.some(names)}")
    return Found(cells, left_out, len(lacking))


def _fits(one: PublishedRatio, side: Sides) -> bool:
    return all(name in side.levels and same(side.levels[name], level) for name, level in one.levels.items())


def _worded(cells: list[JudgedCell]) -> list[JudgedCell]:
    """Give each cell its word, by one joint test, and the reason for it."""
    said = judgement.words([cell.evidence for cell in cells])
    return [
        replace(cell, verdict=word, reason=cell.sentence(word, alone=len(cells) == 1))
        for cell, word in zip(cells, said, strict=True)
    ]


def _shown(blank: Judgement, cells: list[JudgedCell]) -> Judgement:
    """Put the numbers of cells into a judgement, pooled where there are many."""
    if not cells:
        return blank
    whole, values = pooled(cells), [cell.published for cell in cells]
    return replace(
        blank, published=_mean(values) or blank.published, measured=whole.value, low=whole.low, high=whole.high,
        cells=tuple(cells),
    )  # fmt: skip


def _why(claim: Claim, cells: Sequence[JudgedCell], missing: int) -> str:
    if len(cells) == 1 and not missing:
        return cells[0].reason
    counted = []
    telling = claim.across or differing([cell.sides for cell in cells])
    for word in ("reproduced", "direction only", "contradicted", "inconclusive"):
        names = [cell.sides.name(telling) for cell in cells if cell.verdict == word]
        if names:
            counted.append(f"{word} in {len(names)} ({same_work.some(names)})")
    if missing:
        counted.append(f"{missing} not run")
    needed = {"all": "all", "most": "more than half", "any": "at least one"}[claim.in_cells]
    total = len(cells) + missing
    return f"asked of {needed} of {total} cells, with Holm's correction: {', '.join(counted)}"


def _mean(values: Sequence[float | None]) -> float | None:
    held = [value for value in values if value]
    return math.exp(sum(map(math.log, held)) / len(held)) if held else None


def details(found: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Return one row for each cell of each claim, for tables and charts; ratios are plain numbers."""
    return [
        {
            "id": one.id, "cell": cell.sides.name(), "levels": cell.sides.levels, "published": cell.published,
            "published_of": cell.published_of, "published_over": cell.published_over, "unit": cell.unit,
            "measured": cell.measured, "low": cell.low, "high": cell.high, "trials": cell.trials,
            "points": [math.exp(log) for _, log in cell.logs], "margin": one.margin, "noise": cell.noise,
            "outliers": cell.outliers, "failed": cell.failed, "verdict": cell.verdict, "reason": cell.reason,
        }
        for one in found
        for cell in one.cells
    ]  # fmt: skip


def stand_ins(claim: Claim, run: Run) -> dict[str, str]:
    """Return system that the claim names and the run has not → its substitute that the run has."""
    there = {cell.system for cell in run.cells if cell.ok}
    return {
        named: other for named, other in claim.substitutes.items() if named not in there and other in there
    }


def instead(claim: Claim, chosen: Mapping[str, str]) -> Claim:
    """Return the claim about the substitutes."""

    def side(levels: Mapping[str, Setting]) -> dict[str, Setting]:
        return {
            name: chosen.get(str(level), level) if name == "system" else level
            for name, level in levels.items()
        }

    where = dict(claim.where)
    if "system" in where:
        where["system"] = [chosen.get(level, level) for level in listed(where["system"])]
    return claim.model_copy(update={"of": side(claim.of), "over": side(claim.over), "where": where})


FEWEST_LEVELS = 2


HOLDS = ("reproduced", "direction only")


def spanned(claim: Claim, cells: Sequence[JudgedCell]) -> bool:
    """Say whether a run has several levels of everything that the publication leaves open."""
    return bool(claim.unstated) and all(
        len(_levels(cells, factor)) >= FEWEST_LEVELS for factor in claim.unstated
    )


def unstated_note(claim: Claim, cells: Sequence[JudgedCell]) -> list[str]:
    """Say at which levels the claim was judged, and why at these."""
    if not spanned(claim, cells):
        return []
    found = [f"{factor} {' and '.join(_levels(cells, factor))}" for factor in claim.unstated]
    return [f"judged at {', '.join(found)}, for none is stated"]


def deciding(claim: Claim, cells: Sequence[JudgedCell]) -> tuple[Word, str] | None:
    """Return what is left of the verdict where the levels disagree, and why; None where they do not.

    Underspecified where it holds at one level and is contradicted at another; inconclusive where it is contradicted
    at one and nothing can be said at another.
    """
    for factor in claim.unstated:
        by_level: dict[Word, list[str]] = {}
        for level in _levels(cells, factor):
            here = [cell.verdict for cell in cells if cell.sides.levels[factor] == level]
            by_level.setdefault(judgement.joint(here, claim.in_cells), []).append(f"{factor} {level}")
        if "contradicted" not in by_level or len(by_level) == 1:
            continue
        said = ", ".join(f"{word} at {same_work.some(levels)}" for word, levels in by_level.items())
        if any(word in by_level for word in HOLDS):
            return "underspecified", f"what it leaves out decides: {said}"
        return "inconclusive", f"{said}: which of them was meant is not stated"
    return None


def _levels(cells: Sequence[JudgedCell], factor: str) -> list[str]:
    """Return the levels of a factor, sizes and numbers in their order."""
    found = {cell.sides.levels[factor] for cell in cells if factor in cell.sides.levels}
    return sorted(found, key=lambda level: (len(level), level))
