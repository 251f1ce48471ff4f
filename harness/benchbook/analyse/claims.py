"""Judge claims on a run: each published statement gets a verdict and its reason.

Claims are those that the run declared before it began (rule 15 of docs/methods.md). ``declare.claim`` defines a claim,
``claim_cells`` finds the cases that it compares, ``claim_evidence`` estimates each of them, and ``judgement`` says
which verdict the estimates give.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchbook.analyse import answers, beside, judgement, looked, over_runs, reach, same_work
from benchbook.analyse.beside import Groups
from benchbook.analyse.claim_cells import Sides, absent, differing, elsewhere, sides, skipped
from benchbook.analyse.claim_evidence import OF_FAILURES, JudgedCell, judged
from benchbook.analyse.claim_notes import (
    as_meant,
    corrected_after,
    declared_later,
    notes,
    refusals,
    without_words,
)
from benchbook.analyse.judgement import Answer, Word
from benchbook.analyse.model import ALPHA, Fit
from benchbook.analyse.over_runs import NO_RATIO, Over, OverRuns, Scope
from benchbook.analyse.paired import pooled
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.same_work import SameWork
from benchbook.analyse.scaled import scaled
from benchbook.analyse.values import Cell
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.checkout import layers
from benchbook.declare.claim import OWN, Choice, Claim, PublishedMachine, Share, least
from benchbook.declare.level import Setting, amount, listed, natural, same
from benchbook.declare.published import PublishedRatio, Row, ratios
from benchbook.errors import RequestError, command

FEWEST_ANSWERS = 20
"""Answers below which agreement shows little."""
FEWEST_LEVELS = 2
HOLDS = ("reproduced", "different size", "direction only")


@dataclass(frozen=True)
class Judgement:
    """A claim and what a run shows of it."""

    id: str
    statement: str
    source: str
    published: float | None
    """Published ratio; the geometric mean of the judged cases where there are several. None without a number."""
    measured: float | None
    """Measured ratio, likewise; of a substitute where the verdict is ``substitute only``."""
    low: float | None
    """Ends of the interval of ``measured``; None where there is none."""
    high: float | None
    margin: float
    """Equivalence margin: 0.1 is 10 %."""
    verdict: Word
    reasons: tuple[Reason, ...]
    """Why, the verdict's own first, and what a reader must know beside it."""
    phase: str
    metric: str
    test: str
    over_metric: str | None = None
    """The metric of the side ``over``, where it is another one."""
    cells: tuple[JudgedCell, ...] = ()
    """The evidence of each case."""
    notes: tuple[Reason, ...] = ()
    """Those of ``reasons`` that a reader must know beside the verdict."""
    conditions: tuple[Reason, ...] = ()
    """Differences from the publication, such as batches of 1,000 instead of 5,000."""
    in_cells: Share = "all"
    """In how many cases it must hold."""
    missing: int = 0
    """Setups that were published or planned and have no result."""
    level: float = ALPHA
    """Level of its tests: 1 minus the confidence of its interval."""
    fit: Fit | None = None
    """The estimate of ``measured`` on logarithms; None without an interval, or if nothing may be compared."""
    own: bool = False
    """True if it is a question of ours, which the publication did not ask."""
    worded: bool = False
    """True if the publication states the size in words, and the bound is what they are taken for."""
    from_publication: bool = True
    """False if the experiment reruns no publication, so that its claims are whoever declared them's."""
    scope: Scope = "run"
    """What the verdict and the ratio rest on."""
    runs: int = 1
    """The number of runs that they rest on; of several cases, the least."""
    processors: int = 1
    """The number of processors of these runs."""
    expect: tuple[float, float] | None = None
    """The ratio to expect on another processor: ends of its interval at ``level``. None for several cases."""
    by_case: tuple[Over | None, ...] = ()
    """The runs that each of ``cells`` rests on; None for a case that is not judged."""
    alone: Judgement | None = None
    """What the run shows alone, if the verdict rests on several."""
    here: Judgement | None = None
    """What the runs on its processor show, if the verdict rests on several processors."""

    @property
    def asked(self) -> str:
        """Its statement; that of a question of ours without the mark."""
        return self.statement.removeprefix(OWN).strip() if self.own else self.statement


def ends(one: Judgement) -> tuple[JudgedCell, JudgedCell] | None:
    """Return the cases with the least and the largest ratio, if a pooled ratio would hide them; else None.

    It would if the intervals of these two do not overlap, if cases have different verdicts, if the pooled interval
    includes 1 and no case's interval does, or if the pooled ratio alone would get another verdict.
    """
    cells = telling(one)
    if len(cells) < 2:
        return None
    least, most = (pick(cells, key=lambda cell: cell.measured or 0.0) for pick in (min, max))
    apart = (least.high or 0.0) < (most.low or 0.0)
    differ = len({str(cell.verdict) for cell in cells}) > 1
    unlike = _includes_1(one) and not any(map(_includes_1, cells))
    return (least, most) if apart or differ or unlike or _other_verdict(one, cells) else None


def telling(one: Judgement) -> list[JudgedCell]:
    """Return the cases whose ratios say something: those with an interval, without those that are not judged."""
    cells = [cell for cell in one.cells if cell.measured and cell.low is not None and cell.high is not None]
    judged = [cell for cell in cells if not cell.unfit]
    return judged if len(judged) > 1 else cells


def _other_verdict(one: Judgement, cells: Sequence[JudgedCell]) -> bool:
    """Return whether a decided verdict is not that of the pooled ratio, where all cases are expected to be alike."""
    if one.verdict not in judgement.DECIDED or len({cell.expected for cell in cells}) > 1:
        return False
    return judgement.word(judgement.evidence(one.fit, cells[0].expected).at(one.level)) != one.verdict


def _includes_1(one: Judgement | JudgedCell) -> bool:
    return one.low is not None and one.high is not None and one.low <= 1 <= one.high


def judge_run(results: Path, run_id: str, published: Path) -> list[Judgement]:
    """Judge every claim that a run declared.

    ``published`` is the folder of published CSV files, used if the run kept no copy. Raises
    RequestError for an A/A run, and where the results have no such run.
    """
    return list(of_run(Run(results, run_id), published))


@functools.cache
def of_run(run: Run, published: Path | None = None, now: looked.Look | None = None) -> tuple[Judgement, ...]:
    """Return the judgements on all claims of a run alone, worked out once: a page shows them in several places.

    ``published`` is as for ``judge_run``; by default the folder of this checkout. ``now`` is the look that is being
    taken at a run that continues until its claims are decided. ``over`` judges over all runs.
    """
    return _of_run(run, published, now)


def _of_run(
    run: Run, published: Path | None, now: looked.Look | None, groups: Groups = ()
) -> tuple[Judgement, ...]:
    with run.connected():
        run.require()
        claims, machine = declared(run)
        if run.against_itself:
            raise RequestError(
                f"{run.run_id} is an A/A run: it measures the noise floor and has no claims.",
                f"Name another run; `{command('list runs')}` shows them.",
            )
        work = same_work.of_run(run)
        today = published or Catalogue().published(run.experiment)
        held = _numbers(run) or today
        return tuple(
            judge(
                claim, looked.part(run, claim.id, now), ratios(claim, today if corrected_after(claim, run) else held),
                work, machine, groups,
            )
            for claim in claims
        )  # fmt: skip


def _numbers(run: Run) -> Path | dict[str, list[Row]] | None:
    """Return the published numbers as they were for a run; None for one that kept none.

    Older runs have them in a folder alone, which results on object storage lack.
    """
    if (held := run.facts("declared").get("published")) is not None:
        return dict(held)
    own = run.results / "runs" / run.run_id / "declared" / "published"
    return own if own.is_dir() else None


@functools.cache
def over(run: Run, published: Path | None = None) -> tuple[Judgement, ...]:
    """Return the judgements on all claims of a run, each over all runs that measured it alike (``beside``).

    Pages and ``claims`` show these. With runs on several processors, a verdict holds over them. Else it holds on the
    processor of the run (``Judgement.scope``), whatever the ratio is.
    """
    with run.connected():
        groups = beside.of(run) if run.declared.get("claims") else ((run,),)
        wide = _of_run(run, published, None, groups)
        if all(one.scope == "run" for one in wide):
            return wide
        single = of_run(run, published)
        several = any(one.scope == "processors" for one in wide)
        here = _of_run(run, published, None, groups[:1]) if several else wide
    return tuple(
        replace(
            one,
            alone=None if one.scope == "run" else first,
            here=near if one.scope == "processors" else None,
        )
        for one, near, first in zip(wide, here, single, strict=True)
    )


def declared(run: Run) -> tuple[list[Claim], PublishedMachine | None]:
    """Return the claims that a run declared, and the publication's machine."""
    experiment = run.declared
    try:
        found = [Claim.model_validate(as_meant(held)) for held in experiment.get("claims") or []]
        today = _claims_of_today(layers(), run.experiment)
        worded = {without_words(one): one for one in today}
        corrected = {one.id: one for one in today if corrected_after(one, run)}
        claims = [corrected.get(claim.id) or worded.get(without_words(claim), claim) for claim in found]
        known = {claim.id for claim in found}
        claims += [one for one in corrected.values() if one.added and found and one.id not in known]
        machine = experiment.get("published_machine")
        return claims, PublishedMachine.model_validate(machine) if machine else None
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise RequestError(
            f"The claims of run {run.run_id} were written by another version of Benchbook and cannot be read: {first}.",
            f"Use the revision that made the run; `{command(f'show {run.run_id}')}` names it.",
        ) from error


@functools.cache
def _reruns(known: tuple[Path, ...], experiment: str) -> bool:
    """Return whether an experiment states which publication it reruns, in the declarations of today."""
    return Catalogue(*known).publication(experiment) is not None


@functools.cache
def _claims_of_today(known: tuple[Path, ...], experiment: str) -> tuple[Claim, ...]:
    """Return the claims that the layers declare for an experiment.

    A claim of a run is shown with the wording of today if nothing else of it has changed. One that was corrected after
    the run is judged as corrected.
    """
    try:
        declared = Catalogue(*known).unchecked("experiment", experiment).get("claims") or []
        return tuple(map(Claim.model_validate, declared))
    except (RequestError, ValueError):  # an experiment that none declares, or that is being edited
        return ()


def judge(
    claim: Claim,
    run: Run,
    published: Sequence[PublishedRatio],
    work: SameWork,
    machine: PublishedMachine | None = None,
    groups: Groups = (),
) -> Judgement:
    """Judge one claim on one run; with ``groups``, over all runs there."""
    versions = _present(run, claim.accepts)
    asked = judgeable(instead(claim, versions), published, in_place(run), run.cells)
    stated, claim, published = claim, asked.claim, asked.published
    shortfall = scaled(run.profile, machine, run.facts("host"))
    blank = Judgement(
        claim.id, claim.statement, claim.source, _mean([one.ratio for one in published]), None, None, None,
        claim.margin, "not run", (), claim.phase, claim.metric, claim.test, in_cells=claim.in_cells,
        level=run.level, own=claim.own, over_metric=claim.over_metric, worded=claim.words is not None,
        from_publication=_reruns(layers(), run.experiment) or bool(run.declared.get("publication")),
    )  # fmt: skip
    gaps = absent(claim, run)
    if claim.test == "agree":
        return _said(blank, "not run", gaps) if gaps else _agreement(blank, claim, run, work)
    found = _cells(claim, run, published)
    if claim.underspecified is not None and not spanned(claim, found.cells):
        shown = _shown(blank, run, found.cells)
        if claim.unstated and found.lost:  # the levels are in the run, but their trials failed
            return _said(shown, "inconclusive", found.lost)
        return _said(shown, "underspecified", [because("underspecified", text=claim.underspecified)])
    if gaps:
        return _not_run(blank, claim, run, gaps, published)
    if not found.cells:
        why = [*found.lost, *found.left_out] or [because("no-case")]
        return _said(blank, "inconclusive" if found.lost else "not run", why)
    refused = refusals(found.cells, work)
    found = _tested(claim, run, found)
    wide = over_runs.of_claim(claim, run, found.cells, groups) if groups and not refused else None
    found = replace(found, cells=list(wide.cells)) if wide else found
    conditions = [
        because("system-in-place", system=other, title=run.title(other), published=named)
        for named, other in versions.items()
    ]
    conditions += _scaled(asked, found.cells)
    conditions += elsewhere(claim, run, [cell.sides for cell in found.cells])
    before = [*([shortfall] if shortfall else []), *unstated_note(claim, found.cells)]
    several = wide is not None and wide.scope != "run"
    said = [*before, *found.left_out, *notes(claim, run, found.cells, several=several)]
    if wide is not None and several and not corrected_after(stated, run):
        held = [over.members if wide.scope == "processors" else over.here for over in wide.by_case if over]
        used = {member.run_id for members in held for member in members}
        said += declared_later(stated, used, groups)
    shown = replace(
        _shown(blank, run, found.cells, wide), notes=tuple(said), conditions=tuple(conditions),
        missing=found.missing + len(found.lost),
    )  # fmt: skip
    verdict, why = _verdict(claim, found, refused, conditions, eased=asked.eased)
    if verdict == "out of reach here":
        shown = replace(shown, fit=None, expect=None, by_case=())
    return _said(_unjudged(shown, why[0]) if refused else shown, verdict, why)


def _unjudged(shown: Judgement, why: Reason) -> Judgement:
    """Return a refused claim without its numbers: nothing may be compared, and none of its cases shows anything."""
    cells = tuple(
        replace(cell, ratio=NO_RATIO, unfit=why, evidence=judgement.NONE, verdict="inconclusive", because=why)
        for cell in shown.cells
    )
    return replace(shown, fit=None, measured=None, low=None, high=None, expect=None, by_case=(), cells=cells)


# The verdict on all cases of a claim.


@dataclass(frozen=True)
class Found:
    """The cases that a run has for a claim."""

    cells: list[JudgedCell]
    left_out: list[Reason]
    """Setups that are not judged, and why."""
    lost: list[Reason]
    """Setups that were planned and of which one side has no result, and why."""
    missing: int
    """Setups that were published and are not in the run."""
    unmet: tuple[Reason, ...] = ()
    """Preconditions that cases miss."""
    untested: int = 0
    """The number of these cases, which are unfit."""


def _cells(claim: Claim, run: Run, published: Sequence[PublishedRatio]) -> Found:
    by_cell = [one for one in published if one.levels]
    cells: list[JudgedCell] = []
    left_out: list[Reason] = []
    lost: list[Reason] = []
    met = []
    asked = sides(claim, run.cells)
    telling = claim.across or differing(asked)
    for side in asked:
        number, case = number_of(published, side), side.case(telling)
        if number in by_cell:
            met.append(number)
        if by_cell and number is None:
            left_out.append(because("not-published", case=case))
        elif number is not None and number.ratio is None:
            left_out.append(because("no-published-ratio", case=case, note=number.note))
        elif (made := judged(claim, run, side, number)) is not None:
            cells.append(made)
        else:
            lost.append(because("case-lost", case=case, because=_why_lost(claim, run, side)))
    lacking = [one for one in by_cell if one not in met and one.ratio is not None]
    if lacking and cells:
        left_out.append(because("not-measured", cases=[dict(one.levels) for one in lacking]))
    return Found(cells, left_out, lost, len(lacking))


def _tested(claim: Claim, run: Run, found: Found) -> Found:
    """Return the cases with those that miss a precondition of the claim marked: they show nothing."""
    missed = reach.unmet(claim, run, found.cells)
    if not missed:
        return found
    cells = [
        replace(cell, unfit=why, evidence=judgement.NONE, verdict="inconclusive", because=why)
        if (why := missed.get(place))
        else cell
        for place, cell in enumerate(found.cells)
    ]
    alike: dict[object, list[Reason]] = {}
    for why in missed.values():
        alike.setdefault(why.facts["why"], []).append(why)
    unmet = tuple(
        because("cases-unmet", cases=len(why), of=len(cells), because=why[0]) if len(cells) > 1 else why[0]
        for why in alike.values()
    )
    return replace(found, cells=cells, unmet=unmet, untested=len(missed))


def _why_lost(claim: Claim, run: Run, side: Sides) -> Reason:
    """Return why a case has no ratio: no block has both sides, or one side has only zeros."""
    claim = claim.at_case(side.levels)
    for cell, pair in side.pairs(claim):
        found = run.values(cell, pair, claim.validity).by_block.values()
        if found and not any(found):
            return because("all-zero")
        if lost := run.lost(cell, pair, claim.validity):
            return lost.reason(cell)
        if skipped(cell):
            return because("trials-skipped", setup=cell.label, why=cell.reason)
    return because("no-common-block", metric=claim.metric, over_metric=claim.over_metric)


def number_of(published: Sequence[PublishedRatio], side: Sides) -> PublishedRatio | None:
    """Return the published number of a case; None where it was not published."""

    def fits(one: PublishedRatio) -> bool:
        return all(
            name in side.levels and same(side.levels[name], level) for name, level in one.levels.items()
        )

    return next(filter(fits, published), None)


def _verdict(
    claim: Claim, found: Found, refused: Sequence[Reason], conditions: Sequence[Reason], *, eased: bool
) -> tuple[Word, list[Reason]]:
    """Return the verdict on the cases of a claim, and why; ``eased``: the load is smaller than the published one."""
    if refused:
        return "inconclusive", [because("refused", because=refused)]
    at = [because("measured-with", conditions=conditions)] if conditions else []
    if decides := deciding(claim, found.cells):
        return decides[0], [decides[1], *at]
    missing = found.missing + len(found.lost)
    said = judgement.joint([cell.evidence for cell in found.cells], claim.in_cells, missing)
    if said == "contradicted" and eased and claim.metric in OF_FAILURES:
        return "inconclusive", [because("smaller-load"), *at]
    tested = len(found.cells) - found.untested
    if found.unmet and said == "inconclusive" and tested < least(claim.in_cells, len(found.cells) + missing):
        return "out of reach here", [*found.unmet, *at]
    why = [_why(claim, found, missing)]
    if said == "inconclusive" and (alone := _decided_alone(claim, found, missing)) is not None:
        why.append(because("alone", holds=alone))
    return said, [*why, *at]


def _decided_alone(claim: Claim, found: Found, missing: int) -> bool | None:
    """Return whether enough cases of an undecided claim hold, or speak against it, on their own; None if not enough.

    Several cases are several chances of a wrong verdict, so the verdict on all of them is stricter.
    """
    total = len(found.cells) + missing
    needed = least(claim.in_cells, total)
    words = Counter(cell.verdict for cell in found.cells if not cell.unfit)
    if total > 1 and words["contradicted"] > total - needed:
        return False
    return True if total > 1 and words["reproduced"] >= needed else None


def _why(claim: Claim, found: Found, missing: int) -> Reason:
    cells = found.cells
    if len(cells) == 1 and not missing:
        return cells[0].because
    telling = claim.across or differing([cell.sides for cell in cells])
    fit = [cell for cell in cells if not cell.unfit]
    by_answer: dict[Answer, list[dict[str, str]]] = {}
    for cell in fit:
        by_answer.setdefault(cell.answer, []).append(cell.sides.case(telling))
    unfit = [{"case": cell.sides.case(telling), "because": cell.unfit} for cell in cells if cell.unfit]
    return because(
        "cases", cases=len(cells) + missing, needed=claim.in_cells,
        answers=[{**one._asdict(), "cases": by_answer[one]} for one in judgement.ordered(by_answer)],
        unfit=unfit, lost=found.lost, not_run=found.missing,
    )  # fmt: skip


def _agreement(blank: Judgement, claim: Claim, run: Run, work: SameWork) -> Judgement:
    """Judge whether two sides gave the same answers: the share of queries whose answers agree."""
    # A system gives the same answers to the same data in every case: the first one has them all.
    side = next(iter(sides(claim, run.cells)), None)
    found = _answers(claim, work, side) if side else {}
    compared, first = len(found), next((query for query, alike in found.items() if not alike), "")
    agreed = sum(found.values())
    if not compared:
        return _said(blank, "not run", [because("answers-unrecorded", phase=claim.phase)])
    shown = replace(blank, measured=agreed / compared)
    why = because("answers-agree", agreed=agreed, compared=compared)
    if agreed < compared:
        return _said(shown, "contradicted", [why, because("first-differing", query=first)])
    if compared < FEWEST_ANSWERS:
        few = because("few-answers", agreed=agreed, compared=compared, least=FEWEST_ANSWERS)
        return _said(shown, "inconclusive", [few])
    return _said(shown, "reproduced", [why])


def _answers(claim: Claim, work: SameWork, side: Sides) -> dict[str, bool]:
    """Return query → whether both sides gave it the same answer."""
    by_query: dict[str, list[list[answers.Answer]]] = {}
    for group in work.groups:
        if group.dataset not in side.cells[0].datasets:
            continue
        for one in group.answers:
            for place, cell in enumerate(side.cells):
                if (one.query_type, one.system, one.arm) == (claim.phase, cell.system, cell.arm):
                    by_query.setdefault(one.query_id, [[], []])[place].append(one)
    return {
        query: bool(over and of) and not answers.compare([*over, *of], work.tolerance).differing
        for query, (over, of) in by_query.items()
    }


def _said(found: Judgement, verdict: Word, why: Sequence[Reason]) -> Judgement:
    return replace(found, verdict=verdict, reasons=(*why, *found.notes))


def _not_run(
    blank: Judgement, claim: Claim, run: Run, gaps: list[Reason], published: Sequence[PublishedRatio]
) -> Judgement:
    """Say why it was not run, and show what a substitute gives."""
    chosen = _present(run, claim.substitutes)
    other = instead(claim, chosen)
    found = _tested(other, run, _cells(other, run, published)) if chosen else None
    if found is None or not found.cells:
        return _said(blank, "not run", gaps)
    in_place = [because("substitute", system=system, named=named) for named, system in chosen.items()]
    verdict, _ = _verdict(other, found, (), (), eased=False)
    seen = [(cell.evidence, cell.expected) for cell in found.cells]
    said = judgement.answer(verdict, seen, claim.in_cells, found.missing + len(found.lost))
    why = [*gaps, *in_place, because("substitute-verdict", **said._asdict()), *found.unmet, *found.left_out]
    return _said(_shown(blank, run, found.cells), "substitute only", why)


def _shown(blank: Judgement, run: Run, cells: list[JudgedCell], wide: OverRuns | None = None) -> Judgement:
    """Put the numbers of cases into a judgement, pooled where there are several; ``wide``: those over all runs."""
    if not cells:
        return blank
    if wide:
        blank = replace(
            blank, scope=wide.scope, runs=wide.runs, processors=wide.processors, expect=wide.expect(run.level),
            by_case=wide.by_case,
        )  # fmt: skip
    whole = (wide.whole if wide else None) or cells[0].ratio
    if len(cells) > 1 and not (wide and wide.whole):
        whole = pooled(run, [cell.logs for cell in cells], [cell.noise for cell in cells])
    values = [cell.published for cell in cells]
    return replace(
        blank, published=_mean(values) or blank.published, measured=whole.value, low=whole.low, high=whole.high,
        cells=tuple(cells), fit=whole.fit,
    )  # fmt: skip


def _mean(values: Sequence[float | None]) -> float | None:
    held = [value for value in values if value]
    return math.exp(sum(map(math.log, held)) / len(held)) if held else None


# Substitutes for systems that a run lacks: shown in their place, and never judged (rule 15 of docs/methods.md).


def _present(run: Run, others: Mapping[str, str]) -> dict[str, str]:
    """Return the systems that a run lacks → the others that it has in their place."""
    there = {cell.system for cell in run.cells if cell.ok}
    return {named: other for named, other in others.items() if named not in there and other in there}


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


InPlace = Mapping[str, Mapping[str, Setting]]
"""Factor → published level → the level that a profile has in its place."""


def in_place(run: Run) -> InPlace:
    """Return the levels that a run's profile has in place of published ones."""
    profile = (run.declared.get("profiles") or {}).get(run.profile) or {}
    return profile.get("in_place") or {}


@dataclass(frozen=True)
class Asked:
    """A claim at the levels at which a run can judge it."""

    claim: Claim
    published: Sequence[PublishedRatio]
    in_place: InPlace
    """What the profile has in place of published levels; empty if the claim is judged at these."""
    moved: tuple[tuple[str, str, str], ...] = ()
    """The levels of the claim that have others in their place: factor, published level, the level here."""

    @property
    def eased(self) -> bool:
        """Whether a number here is smaller than the published one, such as fewer workers."""
        sizes = [(amount(here), amount(there)) for _, there, here in self.moved]
        return any(here is not None and there is not None and here < there for here, there in sizes)


def judgeable(
    claim: Claim, published: Sequence[PublishedRatio], by_factor: InPlace, cells: Sequence[Cell]
) -> Asked:
    """Return a claim at its published levels, if all of its cases are among the cells; else at those in their place."""
    changed, moved = at_scale(claim, by_factor)

    def compared(one: Claim) -> int:
        return sum(len(side.cells) for side in sides(one, cells))

    if moved and compared(claim) >= max(compared(changed), 1):
        return Asked(claim, published, {})
    return Asked(changed, published_at_scale(published, by_factor), by_factor, moved)


def here(by_factor: InPlace, factor: str, level: Setting) -> Setting:
    """Return a level, or the one that a profile has in its place."""
    return by_factor.get(factor, {}).get(str(level), level)


def at_scale(claim: Claim, by_factor: InPlace) -> tuple[Claim, tuple[tuple[str, str, str], ...]]:
    """Return the claim at the levels that a profile has in place of the published ones, and which these are."""
    used: dict[tuple[str, str], Setting] = {}

    def moved(factor: str, level: Setting) -> Setting:
        now = here(by_factor, factor, level)
        if now != level:
            used[factor, str(level)] = now
        return now

    def side(levels: Mapping[str, Setting]) -> dict[str, Setting]:
        return {name: moved(name, level) for name, level in levels.items()}

    def chosen(levels: Mapping[str, Choice], place: Callable[[str, Setting], Setting]) -> dict[str, Choice]:
        return {
            name: [place(name, one) for one in level] if isinstance(level, list) else place(name, level)
            for name, level in levels.items()
        }

    where = chosen(claim.where, moved)
    requires = [
        one.model_copy(update={"where": chosen(one.where, functools.partial(here, by_factor))})
        for one in claim.requires
    ]
    changed = claim.model_copy(
        update={"of": side(claim.of), "over": side(claim.over), "where": where, "requires": requires}
    )
    return changed, tuple((factor, there, str(now)) for (factor, there), now in used.items())


def published_at_scale(published: Sequence[PublishedRatio], by_factor: InPlace) -> list[PublishedRatio]:
    """Return published numbers at the levels that a profile has in place of the published ones.

    A number for a level that now means another one is left out.
    """

    def meaning(factor: str, level: str) -> str | None:
        here = {there: str(level) for there, level in by_factor.get(factor, {}).items()}
        return here.get(level, None if level in here.values() else level)

    found = []
    for one in published:
        levels = {factor: meaning(factor, level) for factor, level in one.levels.items()}
        along = {meaning(one.along, level): value for level, value in one.by_level.items()}
        if None not in levels.values():
            found.append(
                replace(
                    one, levels={factor: level for factor, level in levels.items() if level is not None},
                    by_level={level: value for level, value in along.items() if level is not None},
                )
            )  # fmt: skip
    return found


def _scaled(asked: Asked, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Say which levels the cases have in place of published ones: "1,000 stocks in place of 10,000".

    Arms are left out: the table of configurations describes them.
    """

    def measured(factor: str, here: str) -> bool:
        return any(cell.levels.get(factor) == here for one in cells for cell in one.sides.cells)

    claim = asked.claim
    pairs = dict.fromkeys(one for one in asked.moved if one[0] != "arm" and measured(one[0], one[2]))
    for factor in {*claim.across, *([claim.along] if claim.along else [])} & asked.in_place.keys():
        named = [(factor, there, str(here)) for there, here in asked.in_place[factor].items()]
        pairs |= dict.fromkeys(one for one in named if measured(factor, one[2]))
    found: dict[str, dict[str, str]] = {}
    for factor, there, here in sorted(pairs, key=lambda pair: natural(pair[1])):
        found.setdefault(factor, {})[there] = here
    return [
        because("levels-in-place", factor=factor, here=[*dict.fromkeys(levels.values())], published=[*levels])
        for factor, levels in found.items()
    ]


# Factors whose level a publication leaves open: the claim is judged at several levels, or not at all. What holds at
# each of them holds whatever was meant; what holds at one and not at another depends on it.


def spanned(claim: Claim, cells: Sequence[JudgedCell]) -> bool:
    """Say whether a run has several levels of everything that the publication leaves open."""
    return bool(claim.unstated) and all(
        len(_levels(cells, factor)) >= FEWEST_LEVELS for factor in claim.unstated
    )


def unstated_note(claim: Claim, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Say at which levels the claim was judged, and why at these."""
    if not spanned(claim, cells):
        return []
    levels = {factor: _levels(cells, factor) for factor in claim.unstated}
    return [because("levels-unstated", levels=levels)]


def deciding(claim: Claim, cells: Sequence[JudgedCell]) -> tuple[Word, Reason] | None:
    """Return the verdict where levels that the publication leaves open disagree, and why; None where they agree.

    Underspecified where it holds at one level and not at another; inconclusive where it does not hold at one and
    another shows nothing.
    """
    for factor in claim.unstated:
        by_level: dict[Answer, list[str]] = {}
        for level in _levels(cells, factor):
            here = [(cell.evidence, cell.expected) for cell in cells if cell.sides.levels[factor] == level]
            said = judgement.joint([one for one, _ in here], claim.in_cells)
            by_level.setdefault(judgement.answer(said, here, claim.in_cells), []).append(level)
        found = {one.holds for one in by_level}
        if found.isdisjoint(judgement.CONTRARY) or found.issubset(judgement.CONTRARY):
            continue
        answers = [{**one._asdict(), "levels": by_level[one]} for one in judgement.ordered(by_level)]
        holds = "holds" in found
        why = because("depends" if holds else "levels-disagree", factor=factor, answers=answers)
        return ("underspecified" if holds else "inconclusive"), why
    return None


def _levels(cells: Sequence[JudgedCell], factor: str) -> list[str]:
    """Return the levels of a factor, sizes and numbers in their order."""
    found = {cell.sides.levels[factor] for cell in cells if factor in cell.sides.levels}
    return sorted(found, key=lambda level: (len(level), level))
