"""A judged claim in words: its sides, its ratio, what was published, and the two answers on it."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchbook.analyse import grade, judgement, quantity
from benchbook.analyse.claims import ends, telling
from benchbook.analyse.grade import Reading
from benchbook.analyse.model import ALPHA
from benchbook.analyse.wording import factor_words, level_words, listing, together
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.claim import PHASE, Share
from benchbook.declare.metric import describe
from benchbook.declare.workload import Words, workloads
from benchbook.report import holding, reasons, theme
from benchbook.report.table import escape_html

if TYPE_CHECKING:
    from benchbook.analyse.claim_evidence import JudgedCell
    from benchbook.analyse.claims import Judgement
    from benchbook.analyse.run import Run
    from benchbook.analyse.values import Cell

MOST_NAMED = 3
"""Most cases of a claim that a sentence names."""


def word(one: Judgement) -> str:
    """Return both answers on a claim."""
    return ", ".join(filter(None, [holds(one), holding.size_words(grade.reading(one))]))


def holds(one: Judgement) -> str:
    """Return whether a claim holds; if only some of its cases show it, in how many."""
    found = grade.reading(one)
    alike = sum(cell.answer.holds == found.holds for cell in one.cells)
    said, many = holding.holds_words(found), len(one.cells)
    if found.holds in judgement.SAID and 0 < alike < many:
        return f"{said} in {alike} of {many} cases"
    met = sum(cell.answer.holds == "holds" for cell in one.cells)
    return (
        f"{said} (holds in {met} of {many} cases)" if found.holds == "fails" and met and not alike else said
    )


def answer(one: Judgement) -> str:
    """Return both answers on a claim; of one with a size, with the factor and what was published."""
    said = word(one)
    return f"{said}: {_factor(one)}, {was(one)}" if grade.reading(one).size and one.measured else said


def _factor(one: Judgement) -> str:
    """Return the measured ratio: the least and the largest one of its cases if they differ, or else of its runs."""
    if found := ends(one):
        return f"{span(found[0].measured, found[1].measured)} times in {len(one.cells)} cases"
    over = one.by_case[0] if len(one.by_case) == 1 else None
    members = () if over is None else over.members if one.scope == "processors" else over.here
    ratios = [math.exp(member.fit.centre) for member in members]
    if len(ratios) > 1:
        return f"{span(min(ratios), max(ratios))} times in {len(ratios)} runs"
    return f"{quantity.number(one.measured)} times"


def rests(one: Judgement) -> str:
    """Return what a verdict rests on: "5 runs on 3 processors"."""
    runs = "1 run" if one.runs == 1 else f"{one.runs} runs"
    return f"{runs} on {'1 processor' if one.processors == 1 else f'{one.processors} processors'}"


def scopes(one: Judgement) -> dict[str, str]:
    """Return scope → ratio with its interval, and answer: over processors, on this one, in this run, and elsewhere."""
    held = {f"over {rests(one)}" if one.processors > 1 else f"here, {rests(one)}": one}
    if one.here is not None:
        held[f"here, {rests(one.here)}"] = one.here
    if one.alone is not None and (one.here or one).runs > 1:
        held["this run alone"] = one.alone
    found = {
        name: f"{_ratio_or_span(each)}, {holding.words(grade.reading(each)._replace(here=False))}"
        for name, each in held.items()
        if each.measured
    }
    if one.expect is not None:
        found["on another processor expect"] = interval(*one.expect)
    return found


def _ratio_or_span(one: Judgement) -> str:
    return measured_words(one) if ends(one) else ratio_text(one.measured, one.low, one.high)


def meaningless(one: Judgement) -> bool:
    """Return whether a statement has no number, so that neither a ratio of ours nor a verdict says anything of it."""
    return one.published is None and grade.reading(one)[:3] == ("not comparable", None, None)


def has_ratio(one: Judgement) -> bool:
    """Return whether a ratio can be shown."""
    return bool(one.measured) and one.test != "agree" and not meaningless(one)


class Stated(NamedTuple):
    """Statement of a publication on a ratio."""

    text: str
    value: float | None
    """The place at which a chart marks it."""
    kind: str
    """``=``, ``≥`` or ``≤``."""


SIGNS = {"at-least": "≥", "at-most": "≤"}


def asked_bound(one: Judgement) -> tuple[str, float] | None:
    """Return the sign and the value of the bound that a question of our own asks about; None without one."""
    expected = one.cells[0].expected if one.own and one.cells else None
    if expected is None or expected.kind not in SIGNS:
        return None
    return SIGNS[expected.kind], expected.value


def statement(one: Judgement) -> str:
    """Return the statement of a claim; that of a question which the publication did not ask says so."""
    return f"Our own question: {one.asked}" if one.own else one.statement


def stated(one: Judgement) -> Stated:
    """Return the published ratio, or the bound or band that the publication's words mean; none for our own question."""
    if one.own:
        return Stated(quantity.MISSING, None, "=")
    expected = one.cells[0].expected if one.cells else None
    if expected is not None and one.published is None and expected.within is not None:
        low, high = expected.within
        return Stated(f"{low:.3g}-{high:.3g}", math.sqrt(low * high), "=")
    value = one.published
    bound = expected is not None and expected.kind in SIGNS  # a trend may be judged by its direction alone
    if (value is None or bound) and expected is not None and one.verdict != "underspecified":
        value = 1.0 if expected.kind == "equal" else expected.value
    kind = SIGNS.get(expected.kind if expected is not None else one.test, "=")
    if value is None:
        return Stated(quantity.MISSING, None, kind)
    return Stated(f"{kind} {quantity.number(value)}" if kind != "=" else quantity.number(value), value, kind)


def interval(low: float | None, high: float | None) -> str:
    """Return an interval without its name; empty without one.

    >>> interval(1.039, 1.28), interval(None, None)
    ('1.04-1.28', '')
    """
    if low is None or high is None:
        return ""
    return f"{quantity.number(low)}-{quantity.number(high)}"


def interval_name(found: Sequence[Judgement]) -> str:
    """Return what the intervals of some claims are; levels differ in a run that was judged after each block."""
    levels = {one.level for one in found}
    if len(levels) == 1:
        return f"{100 * (1 - levels.pop()):.4g} % CI"
    return "CI"


def span(least: float | None, most: float | None) -> str:
    """Return the least and the largest of several ratios.

    >>> span(0.5, 1.25)
    '0.500 to 1.25'
    """
    return f"{quantity.number(least)} to {quantity.number(most)}"


def ratio_text(value: float | None, low: float | None, high: float | None) -> str:
    """Return a ratio with its interval."""
    around = interval(low, high)
    return quantity.number(value) + (f" ({around})" if around else "")


# The finding: who, what, by how much, what was published, and what it means.

TOOL = "tool"
"""Factor whose levels are tools; a phase that each of them does is no part of a finding."""

LONGER = "took {ratio} times as long as"
"""What a side with a higher value of a time did."""


@functools.cache
def _words() -> Mapping[str, Words]:
    """Return option ``do``, or the first word of a phase's name → the words of such operations."""
    return {name: words for one in workloads().values() for name, words in one.words.items()}


def _finding(one: Judgement, sides: _Sides, ratio: str, queries: Sequence[str]) -> str:
    """Return what was measured of both sides; ``queries`` are the phases that ask queries."""
    phase, over = _phase(one), sides.over
    of = f"{sides.system} {sides.of}".strip()
    metric, words = describe(one.metric), _did(one)
    if did := metric.did or (LONGER if one.metric.endswith("seconds") else ""):
        done = words.done if words else Words.done
        return f"{of} {' '.join(did.format(ratio=ratio, phase=_act(one) or phase, done=done).split())} {over}"
    if one.metric in ("latency_mean", "latency_p50") and phase not in ("trial", "load"):
        usually = "usually " if one.metric == "latency_p50" else ""
        where = "" if TOOL in one.cells[0].sides.levels else _in_phase(one)
        kind = f" of type {phase}" if phase else ""
        operation = f"a query{kind}" if _phases(one) <= {*queries} else f"an operation{where}"
        doing = words.doing if words else operation
        if sides.system:
            return f"with {sides.system}, {doing} {usually}took {ratio} times as long {sides.of} as {over}"
        return f"{doing} {usually}took {ratio} times as long with {of} as with {over}"
    was, that = _was(one)
    of_over = over if sides.system else f"of {over}"
    return f"{_quantity(one)} of {of} {was} {ratio} times {that} {of_over}"


def _share(one: Judgement, other: str, system: str, ratio: str) -> str:
    """Return how large a metric was beside another of the same trials."""
    return f"{_quantity(one)} of {system} {_was(one)[0]} {ratio} times the {title_within(other)}"


def title_within(metric: str) -> str:
    """Return the title of a metric within a sentence."""
    title = describe(metric).title
    return title[0].lower() + title[1:]


def _quantity(one: Judgement) -> str:
    return f"the {title_within(one.metric)}{_in_phase(one)}"


def _phases(one: Judgement) -> set[str]:
    return {cell.sides.levels.get(PHASE, one.phase) for cell in one.cells}


def _phase(one: Judgement) -> str:
    """Return the phase of all cases; empty if they have several."""
    return _only(_phases(one))


def _only(found: set[str]) -> str:
    """Return the only element; empty if there are several."""
    first, *others = found
    return "" if others else first


def _in_phase(one: Judgement) -> str:
    phase = _phase(one)
    return "" if phase in ("", "trial", "load") else f" in phase {phase}"


def _act(one: Judgement) -> str:
    """Return the level of the factor ``do`` that all cases have; empty if they have several or none."""
    return _only({cell.sides.levels.get("do", "") for cell in one.cells})


def _did(one: Judgement) -> Words | None:
    """Return the words of what all cases do; None if they do several things."""
    acts = {
        cell.sides.levels.get("do") or cell.sides.levels.get(PHASE, one.phase).partition("-")[0]
        for cell in one.cells
    }
    return _words().get(acts.pop()) if len(acts) == 1 else None


def _was(one: Judgement) -> tuple[str, str]:
    """Return the verb and the pronoun that a metric needs."""
    return ("were", "those") if title_within(one.metric).partition(" ")[0].endswith("s") else ("was", "that")


class _Sides(NamedTuple):
    """The two sides of a claim in words."""

    system: str
    """The system of both sides, which then are its levels ("with …"); empty if the sides are two systems."""
    of: str
    over: str


MOST_LISTED = 6
"""Systems, or cases on one side of 1, that are named; of more, only the number or none."""


def _sides(run: Run, one: Judgement) -> _Sides:
    over, of = one.cells[0].sides.cells[0], one.cells[0].sides.cells[-1]
    factors = one.cells[0].sides.factors
    if "system" in factors:
        named = [
            _named(run.title(cell.system), _levels(run, cell, [
                name for name in factors if name != "system" and (name != "arm" or cell.arm in _named_arms(run))
            ]))
            for cell in (of, over)
        ]  # fmt: skip
        return _Sides("", *named)
    # A claim about a factor may be pooled over systems, which are then its subject together.
    systems = dict.fromkeys(case.sides.cells[-1].system for case in one.cells)
    subject = (
        listing([run.title(system) for system in systems]) if len(systems) <= MOST_LISTED else "the systems"
    )
    return _Sides(subject, *(f"with {_levels(run, cell, factors)}" for cell in (of, over)))


def _levels(run: Run, cell: Cell, factors: Sequence[str]) -> str:
    return ", ".join(
        arm_words(run, level) if name == "arm" else level_words(name, level)
        for name, level in cell.levels.items()
        if name in factors
    )


def arm_words(run: Run, arm: str) -> str:
    """Return a configuration in a sentence, by the name that the table of the publication declares for it."""
    return _named_arms(run).get(arm) or level_words("arm", arm)


def _named_arms(run: Run) -> Mapping[str, str]:
    """Return the configurations that the publication of a run's experiment names, such as a stand-in for a service."""
    publication = Catalogue().publication(run.experiment)
    return publication.configurations if publication else {}


def _named(title: str, levels: str) -> str:
    return f"{title} with {levels}" if levels else title


def sentence(run: Run, one: Judgement) -> str:
    """Return the finding on a measured claim."""
    name, around = interval_name([one]), ""
    if found := ends(one):
        ratio, around = span(found[0].measured, found[1].measured), _around_cases(one)
    else:
        ratio = quantity.number(one.measured)
        known = interval(one.low, one.high)
        cases = f", pooled over {_case_names(one)}" if len(one.cells) > 1 else ""
        own = ""
        if one.level < ALPHA:
            own = f", decided after {trials_words([cell for held in one.cells for cell in held.sides.cells])}"
        around = f" ({f'{name} {known}' if known else 'no interval: too few trials'}{own}{cases})"
    if one.over_metric is None:
        said = _finding(one, _sides(run, one), ratio, run.queries)
    else:
        said = _share(one, one.over_metric, run.title(one.cells[0].sides.cells[0].system), ratio)
    tools = {cell.sides.levels.get(TOOL) for cell in one.cells}
    if len(tools) == 1 and (tool := tools.pop()):
        said = f"in {tool}, {said}"
    return f"{_capital(said)}{around}; {_published(one) if one.from_publication else _claimed(one)}."


def _around_cases(one: Judgement) -> str:
    """Return how many cases a range of ratios is of, and how far their intervals reach."""
    of, number = telling(one), len(one.cells)
    low, high = min(cell.low or 0.0 for cell in of), max(cell.high or 0.0 for cell in of)
    left = "that are judged" if not any(cell.unfit for cell in of) else "with an interval"
    which = f"{number} cases" if len(of) == number else f"the {len(of)} of {number} cases {left}"
    name = interval_name([one])
    return f" in {which} ({name}s between {quantity.number(low)} and {quantity.number(high)})"


def _directions(one: Judgement) -> str:
    """Return in which of the judged cases of a claim the ratio is clearly above or below its bound, often 1."""
    factors = differing_factors([cell for cell in one.cells if cell.measured])
    fit = [cell for cell in one.cells if not cell.unfit]
    if not fit:
        return _undecided(one)
    known = [cell for cell in fit if cell.low is not None and cell.high is not None]
    bounds = {cell.expected.value for cell in fit if cell.expected.kind in SIGNS}
    bound = bounds.pop() if len(bounds) == 1 else 1.0
    above = [cell for cell in known if (cell.low or 0.0) > bound]
    below = [cell for cell in known if (cell.high or 0.0) < bound]

    def where(found: Sequence[JudgedCell]) -> str:
        if len(found) == len(fit):
            return "in all"
        if len(factors) != 1 or len(found) > MOST_LISTED:
            return f"in {len(found)}"
        return f"with {together([level_words(factors[0], cell.sides.levels[factors[0]]) for cell in found])}"

    unfit = [cell.unfit for cell in one.cells if cell.unfit]
    for held, side in ((above, "above"), (below, "below")):
        if len(held) == len(one.cells):
            return f"The ratio is clearly {side} {bound:.3g} in all {_all_cases(one)}."
    sides = (
        [("above", above), ("below", below)]
        if len(above) >= len(below)
        else [("below", below), ("above", above)]
    )
    parts = [f"clearly {side} {bound:.3g} {where(held)}" for side, held in sides if held]
    are = "is" if len(unfit) == 1 else "are"
    but = f"{len(unfit)} {are} not judged ({reasons.briefly(unfit[0])}); of the others, " if unfit else ""
    said = " and ".join(parts) or f"not clearly above or below {bound:.3g} in any"
    return f"Of {_all_cases(one)}, {but}the ratio is {said}."


def trials_words(cells: Sequence[Cell]) -> str:
    """Return the trials of some cells: "3 trials", "4 to 6 trials"; empty if there are none."""
    counted = [cell.ok for cell in cells if cell.ok]
    if not counted:
        return ""
    low, high = min(counted), max(counted)
    return f"{low if low == high else f'{low} to {high}'} trial{'' if high == 1 else 's'}"


class Shown(NamedTuple):
    """The numbers in the row of a claim: one ratio with its interval, or the range of cases that differ."""

    text: str
    values: tuple[float, ...]
    """The ratio of each case."""
    low: float | None
    """The lower end of the interval; of cases that differ, the lowest end of their intervals."""
    high: float | None


def shown(one: Judgement) -> Shown:
    """Return what the row of a claim shows: the pooled ratio, or the range of its cases if they differ."""
    values = tuple(sorted(cell.measured for cell in one.cells if cell.measured))
    if ends(one) is None:
        own = () if one.measured is None else (one.measured,)
        return Shown(ratio_text(one.measured, one.low, one.high), values or own, one.low, one.high)
    low = min(cell.low for cell in one.cells if cell.measured and cell.low is not None)
    high = max(cell.high for cell in one.cells if cell.measured and cell.high is not None)
    return Shown(span(values[0], values[-1]), values, low, high)


def shown_case(cell: JudgedCell) -> Shown:
    """Return what the row of one case shows."""
    return Shown(ratio_text(cell.measured, cell.low, cell.high), (cell.measured or 0.0,), cell.low, cell.high)


def measured_words(one: Judgement) -> str:
    """Return the measured ratio; if cases differ, the least and the largest one."""
    found = ends(one)
    return span(found[0].measured, found[1].measured) if found else quantity.number(one.measured)


def published_words(one: Judgement) -> str:
    """Return the published ratio or bound; if cases have different ones, the least and the largest."""
    found, each = stated(one), [cell.published for cell in one.cells if cell.published]
    if found.kind == "=" and len(set(each)) > 1 and len(each) == len(one.cells):
        return span(min(each), max(each))
    return found.text


def was(one: Judgement) -> str:
    """Return what was published of a claim: "published 1.22", "claimed ≥ 1", or that there is no number."""
    if one.own:
        return "not published"
    found = stated(one)
    if not one.from_publication:
        return f"claimed {published_words(one)}" if found.value else "claimed without a number"
    if one.published is not None and not one.worded:
        return f"{'published' if found.kind == '=' else 'claimed'} {published_words(one)}"
    if found.value:
        return f"published in words, which we take as {found.text}"
    return "published without a number"


def differing_factors(cells: Sequence[JudgedCell]) -> list[str]:
    """Return the factors in which cases differ; the number of objects follows their size, so it is left out."""
    first = cells[0].sides.levels
    found = [name for name in first if len({cell.sides.levels.get(name) for cell in cells}) > 1]
    return [name for name in found if name != "count" or "size" not in found]


def _case_names(one: Judgement) -> str:
    """Return the cases of a claim in words, or their number if there are more than three."""
    if len(one.cells) > MOST_NAMED:
        return f"{len(one.cells)} cases"
    factors = differing_factors(one.cells)
    return listing([case(cell.sides.levels, factors) for cell in one.cells])


def _published(one: Judgement) -> str:
    found = stated(one)
    if one.own:
        return "the publication did not measure this"
    if found.value is not None and found.kind != "=":
        return f"{_claimed_bound(one, found)}{IN_CELLS[one.in_cells]}"
    if (words := published_words(one)) != found.text:
        return f"published: {words}"
    if found.value is None:
        return "no number was published"
    meant = one.published is None and one.cells[0].expected.within is not None
    return (
        f"the published words are read as {found.text}" if meant else f"the published ratio is {found.text}"
    )


def _claimed_bound(one: Judgement, found: Stated) -> str:
    """Return the bound of a one-sided claim; of one in words, that these are taken for it."""
    above = found.kind == "≥"
    if found.value == 1 and not one.worded:
        return f"the publication claims a ratio {'above' if above else 'below'} 1"
    bound = f"a ratio of {'at least' if above else 'at most'} {quantity.number(found.value)}"
    return f"published in words, which we take as {bound}" if one.worded else f"the claim is {bound}"


IN_CELLS: Mapping[Share, str] = {"all": "", "most": " in most cases", "any": " in some cases"}
"""In how many of its cases a claim is stated → the end of a sentence."""


def _claimed(one: Judgement) -> str:
    """Return what is claimed where no publication is rerun."""
    found = stated(one)
    if bound := asked_bound(one):
        return f"the question is whether the ratio is {'at least' if bound[0] == '≥' else 'at most'} {bound[1]:.3g}"
    if found.value is None:
        return "no number is claimed"
    if found.value == 1 and found.kind != "=":
        return f"the claim is a ratio {'above' if found.kind == '≥' else 'below'} 1"
    least = {"≥": "at least ", "≤": "at most "}.get(found.kind, "")
    return f"the claim is a ratio of {least}{published_words(one).removeprefix(found.kind).strip()}"


def found(run: Run, one: Judgement) -> str:
    """Return what the rerun found of a claim; of one without a ratio, what it states."""
    if has_ratio(one) and one.cells:
        return sentence(run, one)
    return f"The claim: {one.statement.rstrip('.')}."


def finding(run: Run, one: Judgement) -> str:
    """Return the answer on a claim, what the rerun found of it, and what follows; of cases that differ, in which."""
    return f"{_capital(word(one))}. {found(run, one)} {_because(one)}".rstrip()


def finding_html(run: Run, one: Judgement) -> str:
    """Return the same in HTML, with the colour and the definition of the answer."""
    reading = grade.reading(one)
    said = escape_html(f"{found(run, one)} {_because(one)}".rstrip())
    return (
        f'<div class="bb-found" style="--answer: {theme.answer_colour(reading.holds)}">'
        f"{holding.marked(_capital(word(one)), reading)} {said}</div>"
    )


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _because(one: Judgement) -> str:
    failed = any(cell.failed for cell in one.cells)
    beyond = one.verdict == "out of reach here"
    why = _directions(one) if ends(one) and not failed and not beyond else meaning(one)
    against = [cell for cell in one.cells if cell.verdict == "contradicted"]
    supported = any(cell.verdict in ("reproduced", "direction only") for cell in one.cells)
    if one.verdict == "inconclusive" and len(one.cells) > len(against) > 0 and not supported and not failed:
        why += " None confirms the claim, and too few refute it."
    return f"{why} {_disagreement(one)}".strip()


def _disagreement(one: Judgement) -> str:
    """Return the ratio on each processor if they lie on both sides of the bound, which the mean would hide."""
    if not (fits := grade.apart(one)):
        return ""
    ratios = listing([quantity.number(math.exp(fit.centre)) for fit in fits])
    return f"Processors disagree: the ratio is {ratios} on {len(fits)} of them."


def meaning(one: Judgement) -> str:
    """Return what the answer means for this claim, in one sentence; empty if its words say it."""
    found = grade.reading(one)
    if found.factor is not None:
        said = reasons.by_level(one.reasons[0].facts)
        return f"{_capital(said)}; the publication does not state it."
    if one.verdict == "out of reach here":
        return _out_of_reach(one)
    if failed := sum(cell.failed for cell in one.cells):
        operations = "operation" if failed == 1 else "operations"
        return f"{failed:,} {operations} failed, so neither side is called better."
    others = {cell.answer for cell in one.cells} - {judgement.Answer(found.holds, found.size)}
    if len(one.cells) > 1 and others and one.verdict in ("different size", "contradicted"):
        needed = " More than half were needed." if one.in_cells == "most" else ""
        return f"Of {_all_cases(one)}: {_counted_cases(one)}.{needed}"
    return UNJUDGED.get(one.verdict) or (_undecided(one) if found.holds == "open" else _larger(one, found))


UNJUDGED = {
    "underspecified": "The publication says too little to check it.",
    "substitute only": "A substitute was measured, so the claim itself is not judged.",
    "not run": "This run did not measure it.",
}
"""Verdict of a claim that is not judged → why."""


def _larger(one: Judgement, found: Reading) -> str:
    """Return what a decided answer means beside its words."""
    if found.size in ("smaller", "larger", "mixed"):
        return "The direction is as published, but the ratio is not."
    if found.size == "open":
        return "The direction is as published; the ratio is uncertain."
    if any(cell.because.code == "step-reversed" for cell in one.cells):
        return "One step goes the other way."
    if found.holds == "fails" and one.cells:
        same = stated(one).value == 1
        return "There is a difference where none was published." if same else "The published bound is missed."
    return ""


def _out_of_reach(one: Judgement) -> str:
    """Return what the claim requires and what was measured."""
    unmet = [why for why in one.reasons if why.code in UNMET]
    alone = "" if unmet[0].code == "cases-unmet" else "It cannot be tested here: "
    return f"{alone}{reasons.sentence(unmet)}."


UNMET = ("out-of-reach", "other-errors", "virtual-machine", "cases-unmet")
"""Codes of reasons that name a precondition that is not met."""


def _undecided(one: Judgement) -> str:
    """Return why a claim is open: how many cases show what, or what its one interval includes."""
    if len(one.cells) > 1:
        return f"Of {_all_cases(one)}: {_counted_cases(one)}."
    unfit = next((cell.unfit for cell in one.cells if cell.unfit), None)
    if unfit:
        return f"It is not judged ({reasons.briefly(unfit)})."
    if one.verdict == "different size":
        return "The difference is smaller than published, if there is any: the interval includes 1."
    if one.verdict == "direction only":
        return "The direction is as published; whether the bound is met is open."
    if not one.cells and one.reasons:
        return f"There is no ratio ({reasons.sentence(one.reasons)})."
    wide = "The interval is too wide for a decision."
    return wide if one.low is not None or not one.cells else "There is no interval."


def _all_cases(one: Judgement) -> str:
    """Return how many cases there are, and what distinguishes them: "5 cases (one per batch size)"."""
    factors = " and ".join(map(factor_words, differing_factors(one.cells)))
    return f"{len(one.cells)} cases" + (f" (one per {factors})" if factors else "")


def _counted_cases(one: Judgement) -> str:
    """Return how many cases have which answer, the most frequent first."""
    counted = Counter(None if cell.unfit else cell.answer for cell in one.cells)
    said = [(holding.brief(*found) if found else "not judged", held) for found, held in counted.most_common()]
    return "; ".join(f"{held} {words}" for words, held in said)


def case(levels: Mapping[str, str], factors: Sequence[str], between: str = ", ") -> str:
    """Return the levels of a case in words, of the factors in which cases differ."""
    return (
        between.join(level_words(name, levels[name]) for name in factors if name in levels) or "its only case"
    )


def conditions(one: Judgement) -> list[str]:
    """Return the conditions of a claim, with titles of systems: "MySQL 9.7 in place of MySQL 8.0"."""
    return [reasons.condition(held) for held in one.conditions]


def caveats(one: Judgement) -> list[str]:
    """Return what a reader must know beside the ratio: scale, substitutes, cases that are not judged, one device."""
    found = [f"measured with {', and with '.join(conditions(one))}"] if one.conditions else []
    found += [reasons.text(held) for held in one.reasons if held.code == "substitute"]
    unfit = [cell.unfit for cell in one.cells if cell.unfit]
    if unfit:
        some = f"{len(unfit)} of {len(one.cells)} cases {'is' if len(unfit) == 1 else 'are'} not judged"
        short = reasons.briefly(unfit[0])
        found.append(f"{some if len(unfit) < len(one.cells) else 'not judged'} ({short})")
    found += [reasons.text(note) for note in one.notes if note.code == "one-device"]
    return found


UNITS = {"1/s": 1.0, "op/s": 1.0, "s": 1.0, "ms": 1e-3, "B": 1.0, "B/s": 1.0, "MiB/s": 2.0**20}
"""Unit of a published value → the factor to the unit of its metric."""


def published_values(run: Run, ids: Sequence[str]) -> list[tuple[Cell, float]]:
    """Return the published value of each side of some claims, with our cell, in the unit of the claim's metric."""
    from benchbook.analyse import claims

    if not ids or run.against_itself or not run.declared.get("claims"):
        return []
    found: dict[str, tuple[Cell, float]] = {}
    for one in claims.of_run(run):
        for held in one.cells if one.id in ids else ():
            factor = UNITS.get((held.unit or "").partition(" (")[0])
            for cell, value in (
                (held.sides.cells[0], held.published_over),
                (held.sides.cells[-1], held.published_of),
            ):
                if factor and value:
                    found[cell.name] = (cell, value * factor)
    return list(found.values())


def published_title(run: Run, system: str) -> str:
    """Return the title of the system that a publication measured where a run has ``system``, perhaps in its place."""
    from benchbook.analyse import claims

    publication = Catalogue().publication(run.experiment)
    if publication is not None and system in publication.systems:
        return publication.systems[system]
    judged = () if run.against_itself or not run.declared.get("claims") else claims.of_run(run)
    found = (
        reasons.published_title(why)
        for one in judged
        for why in one.conditions
        if why.code == "system-in-place" and why.facts["system"] == system
    )
    return next(filter(None, found), run.title(system))
