"""Outcomes of a run in words: answers on its claims, its lead claim, or its comparisons if it has no claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import claims, comparison, grade, quantity
from benchbook.analyse.claims import Judgement
from benchbook.analyse.grade import Reading
from benchbook.analyse.judgement import Holds
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.analyse.wording import listing
from benchbook.declare.metric import describe
from benchbook.declare.publication import Publication
from benchbook.report import claim, conclusion, holding, reasons


@dataclass(frozen=True)
class Outcome:
    """What was found on a claim or a comparison, with its ratio and interval."""

    statement: str
    verdict: str
    """Whether a claim holds, or the verdict on a comparison."""
    value: float | None
    low: float | None
    high: float | None
    published: float | None
    reason: str
    brief: str = ""
    """A comparison with what was measured first; empty for a claim."""
    word: str = ""
    """Both answers on a claim for readers; empty for a comparison."""
    cases: str = ""
    """The range of the ratios of a claim's cases, if one ratio of all of them would hide how they differ."""

    def ratio(self) -> str:
        """Return the ratio with its interval as text; of a claim whose cases differ, their range."""
        return self.cases or claim.ratio_text(self.value, self.low, self.high)


def outcomes(run: Run) -> list[Outcome]:
    """Return the answers on the claims of a run; the verdicts on its comparisons with the baseline, if it ran none."""
    judged = claims.over(run) if run.declared.get("claims") else []
    if any(one.verdict != "not run" for one in judged):
        return [
            Outcome(
                one.statement,
                grade.reading(one).holds,
                one.measured,
                one.low,
                one.high,
                one.published,
                reasons.sentence(one.reasons),
                word=claim.word(one),
                cases=f"{claim.measured_words(one)} in {len(one.cells)} cases" if claims.ends(one) else "",
            )
            for one in judged
        ]
    return [one.outcome for one in compared(run)]


# Claims of a publication


def published_claims(run: Run) -> list[Judgement]:
    """Return the judgements on the claims that were published, without questions of ours."""
    return [one for one in claims.over(run) if not one.own]


def lead(run: Run) -> Judgement | None:
    """Return the claim that represents a comparison: that of the headline of its page, or the first one."""
    return next(iter([*(one for _, one in conclusion.leading(run)), *published_claims(run)]), None)


def place(found: Reading) -> tuple[int, int, str, bool]:
    """Return the place of an answer on pages."""
    answers, sizes = list(holding.HOLDS), [None, *holding.SIZES]
    return answers.index(found.holds), sizes.index(found.size), found.factor or "", found.here


def groups(found: Sequence[Judgement]) -> dict[Holds, int]:
    """Return whether claims hold and the number of them, in the order of pages."""
    counted = Counter(grade.reading(one).holds for one in found)
    return {one: counted[one] for one in holding.HOLDS if counted[one]}


@dataclass(frozen=True)
class Names:
    """Names of the two sides of a claim's ratio."""

    of: str
    over: str


def names(run: Run, one: Judgement, publication: Publication | None) -> Names:
    """Return the names of a claim's sides: titles of systems or levels of factors.

    A publication names the sides of its lead claim; other claims may have other sides, or the same ones reversed.
    """
    first = lead(run)
    if publication and publication.of and publication.over and first is not None and one.id == first.id:
        return Names(publication.of, publication.over)
    if not one.cells:
        return Names("one side", "the other side")
    sides = one.cells[0].sides
    return Names(_side(run, sides.cells[-1], sides.factors), _side(run, sides.cells[0], sides.factors))


def _side(run: Run, cell: Cell, factors: Sequence[str]) -> str:
    if "system" in factors:
        return run.title(cell.system)
    return ", ".join(f"{name.replace('_', ' ')} {cell.levels.get(name, '')}" for name in factors)


QUALITIES = {"1/s": "faster", "B/s": "faster", "s": "faster", "B": "smaller"}
"""Unit of a metric → word for a better value."""


def ends(one: Judgement, sides: Names) -> tuple[str, str]:
    """Return what a ratio left of 1 means, and right of 1: "MySQL faster", "packed days faster"."""
    metric = describe(one.metric)
    quality = QUALITIES.get(metric.unit, "better")
    of, over = sides.of.removeprefix("the "), sides.over.removeprefix("the ")
    if metric.direction == "higher":
        return f"{over} {quality}", f"{of} {quality}"
    if metric.direction == "lower":
        return f"{of} {quality}", f"{over} {quality}"
    return f"{over} higher", f"{of} higher"


def caveat(run: Run, one: Judgement | None) -> str:
    """Return what limits a comparison most: few trials, cores, and differences from the publication."""
    parts = [part for part in (_cores(run), _trials(run, one)) if part]
    unfit = [cell for cell in one.cells if cell.unfit] if one else []
    if one and unfit:
        brief = [cell.unfit for cell in unfit if cell.unfit and cell.unfit.code == "short-phase"]
        why = f" ({reasons.lasted(brief[0])})" if brief else ""
        parts.append(f"{len(unfit)} of {len(one.cells)} cases are not judged{why}")
    parts += ["; ".join(claim.conditions(one))] if one and one.conditions else []
    return ", ".join(parts)


def _cores(run: Run) -> str:
    cpu = run.facts("host").get("cpu") or {}
    cores = cpu.get("usable_cores", cpu.get("logical_cores", cpu.get("cores")))
    published = (run.declared.get("published_machine") or {}).get("cores")
    if not cores:
        return ""
    return f"{cores} cores" + (f" in place of {published}" if published and published != cores else "")


def _trials(run: Run, one: Judgement | None) -> str:
    judged = [cell for held in one.cells for cell in held.sides.cells] if one else []
    counted = claim.trials_words(judged) or claim.trials_words(run.cells)
    return f"{counted} of each side" if counted else ""


# Comparisons of a run without claims


@dataclass(frozen=True)
class Compared:
    """One comparison of a cell with the baseline of a run."""

    metric: str
    other: str
    outcome: Outcome


def compared(run: Run) -> list[Compared]:
    """Return every comparison with the baseline; none if the systems did not do the same work."""
    made = []
    for one in comparison.judged(run):
        pair, better = one.pair, one.pair.advantage
        found = Outcome(
            f"{pair.sides}: {pair.quantity}", one.word, better.value, better.low, better.high, None,
            reasons.text(one.reason), f"{pair.quantity}: {pair.sides}",
        )  # fmt: skip
        made.append(Compared(describe(pair.above.metric).title, pair.cell.label, found))
    return made


def tool_finding(run: Run) -> str:
    """Return how the baseline of a run without claims compares with the others, metric by metric."""
    base = comparison.baseline(run)
    ranked = [one for one in compared(run) if one.outcome.verdict != comparison.NOT_RANKED]
    if base is None or not ranked:
        return "No comparison: fewer than two systems gave the same answers."
    others = list(dict.fromkeys(own_name(run, one) for one in run.cells if one.name != base.name and one.ok))
    parts = []
    name = own_name(run, base)
    won = all(one.outcome.verdict == "worse" for one in ranked)
    for metric in dict.fromkeys(one.metric for one in ranked):
        counted = _counted([one.outcome for one in ranked if one.metric == metric])
        parts.append(f"{metric}: {'' if won else f'{name} was '}{counted}.")
    head = (
        f"{name} was better than {listing(others)} in all {len(ranked)} comparisons"
        if won
        else f"{name} compared with {listing(others)}"
    )
    return f"{head}. {' '.join(parts)}"


def own_name(run: Run, cell: Cell) -> str:
    """Return the name of a cell among those of its run: its system, or its levels if all have the same system."""
    alone = len({one.system for one in run.cells}) == 1
    return ", ".join(level for _, level in cell.varying) if alone and cell.varying else cell.title


def _counted(found: Sequence[Outcome]) -> str:
    """Return in how many comparisons the baseline won and lost, and by which factors."""
    parts = []
    for verdict, said in (("worse", "better"), ("better", "worse")):
        values = [one.value for one in found if one.verdict == verdict and one.value]
        factors = sorted(max(value, 1 / value) for value in values)
        if factors:
            low, high = quantity.number(factors[0]), quantity.number(factors[-1])
            by = f"{low} times" if low == high else f"{low} to {high} times"
            parts.append(f"{by} {said} in {len(factors)} of {len(found)}")
    equal = sum(one.verdict == comparison.NO_DIFFERENCE for one in found)
    if equal:
        parts.append(f"no different in {equal} of {len(found)}")
    undecided = sum(one.verdict in (comparison.UNDECIDED, comparison.NO_VERDICT) for one in found)
    if undecided:
        parts.append(f"undecided in {undecided} of {len(found)}")
    return ", ".join(parts)
