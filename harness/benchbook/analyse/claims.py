"""Claims judged on a run: each published statement gets one of six verdicts, and the reason in words.

Claims are those that the run itself declared before it began (rule 15 of docs/methods.md). ``declare.claim`` says
what a claim is, ``analyse.expectation`` what it expects of a ratio, ``analyse.judgement`` how verdicts are reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.analyse import judgement, noise, observed, same_work, substitute, unstated
from benchbook.analyse.judged_cell import JudgedCell, judged, pooled
from benchbook.analyse.judgement import Word
from benchbook.analyse.noise import Floors
from benchbook.analyse.note import notes, refusals
from benchbook.analyse.observed import Observed
from benchbook.analyse.same_work import Answers
from benchbook.analyse.scaled import scaled
from benchbook.analyse.sides import Sides, absent, differing, sides
from benchbook.declare.claim import Claim
from benchbook.declare.claim_numbers import PublishedMachine
from benchbook.declare.level import same
from benchbook.declare.published import ratios
from benchbook.declare.published_ratio import PublishedRatio
from benchbook.errors import RequestError

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
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        facts = observed.facts_of(connection, run_id)
        claims, machine = declared(facts, run_id)
        pairs = {(claim.phase, claim.metric) for claim in claims}
        run = observed.read(connection, run_id, pairs)
        if run.against_itself:
            raise RequestError(
                f"{run_id} is an A/A run: it gives the noise floor, and judges no claims.",
                "Name another run; `bench list runs` shows them.",
            )
        floors = noise.held(connection, run, pairs) if claims else Floors()
        answers = same_work.read(connection, run_id, same_work.tolerance(results, run_id))
    own = results / "runs" / run_id / "declared" / "published"
    return [judge(claim, run, ratios(claim, own if own.is_dir() else published), floors, answers, machine)
            for claim in claims]  # fmt: skip


def declared(
    facts: Mapping[str, Mapping[str, Any]], run_id: str
) -> tuple[list[Claim], PublishedMachine | None]:
    """Return the claims that a run declared, and the publication's machine, from the facts of its run.json."""
    experiment = facts.get("declared", {}).get("experiment") or {}
    try:
        claims = [Claim.model_validate(held) for held in experiment.get("claims") or []]
        machine = experiment.get("published_machine")
        return claims, PublishedMachine.model_validate(machine) if machine else None
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise RequestError(
            f"The claims of run {run_id} are of another Benchbook and cannot be read: {first}.",
            "Use the revision that made the run; it stands in its run.json.",
        ) from error


def judge(
    claim: Claim,
    run: Observed,
    published: Sequence[PublishedRatio],
    floors: Floors,
    answers: Answers,
    machine: PublishedMachine | None = None,
) -> Judgement:
    """Judge one claim on one run."""
    shortfall = scaled(run.profile, machine, run.facts.get("host", {}))
    blank = Judgement(
        claim.id, claim.statement, claim.source, _mean([one.ratio for one in published]), None, None, None,
        claim.margin, "not run", "", claim.phase, claim.metric, claim.test, scaled=shortfall,
    )  # fmt: skip
    missing_sides = absent(claim, run)
    found = _cells(claim, run, published, floors)
    if claim.underspecified is not None and not unstated.spanned(claim, found.cells):
        return _said(_shown(blank, found.cells), "underspecified", [claim.underspecified])
    if missing_sides:
        return _not_run(blank, claim, run, missing_sides, published, floors)
    if not found.cells:
        return _said(blank, "not run", found.left_out or ["no cell of this run has both sides"])
    cells = _worded(found.cells)
    before = [*([shortfall] if shortfall else []), *unstated.note(claim, cells)]
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
    if decides := unstated.deciding(claim, cells):
        return decides[0], [decides[1]]
    verdict = judgement.joint([cell.verdict for cell in cells], claim.in_cells, missing)
    return verdict, [_why(claim, cells, missing)]


def _said(found: Judgement, verdict: Word, because: Sequence[str]) -> Judgement:
    return replace(found, verdict=verdict, reason="; ".join([*because, *found.notes]))


def _not_run(
    blank: Judgement, claim: Claim, run: Observed, because: list[str],
    published: Sequence[PublishedRatio], floors: Floors,
) -> Judgement:  # fmt: skip
    """Say why it was not run, and show what a substitute gives."""
    chosen = substitute.stand_ins(claim, run)
    found = _cells(substitute.instead(claim, chosen), run, published, floors) if chosen else Found([], [], 0)
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


def _cells(claim: Claim, run: Observed, published: Sequence[PublishedRatio], floors: Floors) -> Found:
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
