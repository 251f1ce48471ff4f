"""Compare what several machines found in one experiment: whether an answer depends on the machine, and a summary.

Each run is judged alone, as on its own page. A finding is a claim or, in an experiment without claims, a comparison
with the baseline. Its answers are counted, and ``random_effects`` combines its ratios. A run that did different work
is left out, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchbook.analyse import claims, comparison, grade, judgement, random_effects
from benchbook.analyse.alike import work
from benchbook.analyse.claim_evidence import JudgedCell
from benchbook.analyse.claim_notes import without_words
from benchbook.analyse.claims import Judgement
from benchbook.analyse.difference import MIXING, Difference, differences
from benchbook.analyse.judgement import SAID, Answer
from benchbook.analyse.model import Fit
from benchbook.analyse.random_effects import Summary
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.analyse.wording import level_words
from benchbook.declare.claim import PHASE
from benchbook.declare.experiment import LIMIT_FACTORS
from benchbook.errors import RequestError, command
from benchbook.host import processor

OPPOSITE = ("better", "worse")
"""Verdicts on a comparison that say something."""
Case = tuple[tuple[str, str], ...]
"""The levels of a case, without limits of the machine."""
Dependence = Literal["direction", "size", "none", "undecided"]


@dataclass(frozen=True)
class Result:
    """The result of one machine for a claim or a comparison."""

    machine: str
    verdict: str
    """The verdict on a comparison, or on a claim; ``answer`` is what pages show of a claim."""
    value: float | None
    """The ratio, of a comparison as "times as good"."""
    low: float | None
    high: float | None
    fit: Fit | None
    """The estimate on logarithms; None if there is none, or if it is not judged."""
    because: tuple[Reason, ...] = ()
    """Why it has its verdict."""
    judgement: Judgement | None = None
    """The judgement on the claim; None for a comparison."""
    answer: Answer | None = None
    """Whether a claim holds, and how large its difference is; None for a comparison."""

    @property
    def said(self) -> Answer | str:
        """What the machine says: the answer on a claim, or the verdict on a comparison."""
        return self.verdict if self.answer is None else self.answer


@dataclass(frozen=True)
class Finding:
    """A claim or a comparison on several machines."""

    id: str
    statement: str
    results: tuple[Result, ...]
    case: Case | None = None
    """The levels of its case; None for all cases of a claim."""

    @property
    def cases(self) -> list[Finding]:
        """Its cases as findings, each with its levels as the statement; none for a claim with one case."""
        cells = {
            one.machine: {shared_levels(cell): cell for cell in one.judgement.cells}
            for one in self.results if one.judgement is not None
        }  # fmt: skip
        keys = list(dict.fromkeys(key for held in cells.values() for key in held))
        telling = (
            [name for name in dict(keys[0]) if len({dict(key).get(name) for key in keys}) > 1] if keys else []
        )
        return [
            Finding(
                self.id,
                ", ".join(level_words(name, dict(key)[name]) for name in telling if name in dict(key)),
                tuple(_of_case(one.machine, cells.get(one.machine, {}).get(key)) for one in self.results),
                key,
            )
            for key in keys
            if len(keys) > 1
        ]

    @property
    def said(self) -> list[Answer | str]:
        """What the machines say, in their order."""
        return [one.said for one in self.results]

    @property
    def summary(self) -> Summary | None:
        """The summary of the ratios; None for fewer than two, or if a ratio hides cases that differ."""
        if any(one.judgement is not None and claims.ends(one.judgement) for one in self.results):
            return None
        return random_effects.summary([one.fit for one in self.results if one.fit is not None])

    @property
    def dependence(self) -> Dependence:
        """The kind of dependence on the machine: in its direction, only in the size, not, or too few decided."""
        return dependence(self.said)


def shared_levels(cell: JudgedCell) -> Case:
    """Return the levels that both sides of a case share, without limits, as a key."""
    return tuple((name, level) for name, level in cell.sides.levels.items() if name not in LIMIT_FACTORS)


def _of_case(machine: str, cell: JudgedCell | None) -> Result:
    if cell is None:
        return _not_run(machine, "not-measured-here", NOT_RUN)
    fit = None if cell.unfit else cell.ratio.fit
    return Result(
        machine,
        str(cell.verdict),
        cell.measured,
        cell.low,
        cell.high,
        fit,
        (cell.because,),
        answer=cell.answer,
    )


NOT_RUN = Answer("out of reach here")
"""The answer on a claim that a machine did not judge."""


def _not_run(machine: str, why: str, answer: Answer | None = None) -> Result:
    """Return the result of a machine that did not judge a claim or a comparison."""
    return Result(machine, "not run", None, None, None, None, (because(why),), answer=answer)


def dependence(said: Iterable[Answer | str]) -> Dependence:
    """Return how answers and verdicts depend on the machine; an undecided one says nothing.

    >>> smaller, other, open_ = Answer("holds", "smaller"), Answer("reversed"), Answer("open")
    >>> dependence([smaller, other]), dependence([smaller, Answer("holds", "as published"), open_])
    ('direction', 'size')
    >>> dependence([smaller, Answer("holds", "open")]), dependence(["better", "undecided"])
    ('none', 'undecided')
    """
    answers, verdicts = set(), set()
    number = 0
    for one in said:
        if isinstance(one, Answer) and one.holds in SAID:
            answers.add(one)
        elif one in OPPOSITE:
            verdicts.add(one)
        else:
            continue
        number += 1
    if number < random_effects.FEWEST:
        return "undecided"
    holding = {one.holds for one in answers}
    if verdicts.issuperset(OPPOSITE) or ("holds" in holding and len(holding) > 1):
        return "direction"
    return "size" if len({one.size for one in answers if one.size != "open"}) > 1 else "none"


@dataclass(frozen=True)
class Machines:
    """The runs of an experiment on several machines, and what they found."""

    runs: Mapping[str, Run]
    """Name of the machine → its run; the first is the one that the others are compared with."""
    findings: tuple[Finding, ...]
    noun: str
    """The word for a finding: claim or comparison."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Name of the machine → why its run is not compared."""

    @property
    def sentence(self) -> str:
        """A sentence on whether the answers depend on the machine."""
        kinds = Counter(one.dependence for one in self.findings)
        decided = len(self.findings) - kinds["undecided"]
        them = f"{self.noun}{'s' if decided > 1 else ''} that at least 2 machines decided"
        depends = kinds["direction"] + kinds["size"]
        if not decided:
            return f"It is open whether an answer depends on the machine: no 2 machines decided the same {self.noun}."
        if not depends:
            every = f"all {decided}" if decided > 1 else "the one"
            return f"Each judged alone, the machines agree on {every} {them}."
        size = f", for {kinds['size']} of them in its size alone" if kinds["size"] else ""
        return f"The answer depends on the machine for {depends} of {decided} {them}{size}."

    @property
    def same_processor(self) -> list[list[str]]:
        """The names of runs on one and the same processor."""
        found = processor.groups(self.runs, lambda name: self.runs[name].processor)
        return [names for names in found if len(names) > 1]

    def deviations(self, name: str) -> list[Difference]:
        """Return how the work of a machine's run differs from that of the first: systems, experiment and harness."""
        first, run = next(iter(self.runs.values())), self.runs[name]
        found = differences(first, run, _matched(first, run))
        return [one for one in found if one.group in ("experiment", "systems", "harness", *MIXING)]


def of_runs(runs: Mapping[str, Run], *, across: bool = False) -> Machines:
    """Compare the runs of one experiment on several machines, by name; the first is what the others are compared with.

    A run of different work is left out, unless ``across``. Raises RequestError for an A/A run, or runs of different
    experiments.
    """
    name, first = next(iter(runs.items()))
    left_out: dict[str, str] = {}
    for other, run in runs.items():
        if run.experiment != first.experiment:
            raise RequestError(
                f"{other} is a run of {run.experiment}, and {name} one of {first.experiment}.",
                f"Name runs of one experiment; `{command('list runs')}` shows them.",
            )
        if why := _unlike(first, run, across):
            left_out[other] = why
    kept = {other: run for other, run in runs.items() if other not in left_out}
    if first.declared.get("claims"):
        return Machines(kept, tuple(_claims(kept, across)), "claim", left_out)
    return Machines(kept, tuple(_comparisons(kept)), "comparison", left_out)


def _unlike(first: Run, run: Run, across: bool) -> str:
    """Return why the ratios of two runs are not those of the same work; empty if they are."""
    try:
        return _differing(first, run, across)
    except RequestError as error:
        return error.message
    except Exception as error:
        if run is first:
            raise
        # A run that somebody contributed may hold anything; it must not take the page of another one with it.
        return f"it cannot be judged ({type(error).__name__})"


def _differing(first: Run, run: Run, across: bool) -> str:
    claims.declared(run)
    matched = _matched(first, run)
    if not matched and run is not first:
        return "it has no setup in common with the first run"
    found = [
        one.instead
        for one in differences(first, run, matched)
        if not across and (one.group in MIXING or one.what == "profile")
    ]
    if not found and first.declared.get("claims"):
        claims.of_run(run)  # it is judged once; whatever it raises concerns it alone
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def _matched(first: Run, run: Run) -> list[tuple[Cell, Cell]]:
    theirs = {_setup(cell): cell for cell in run.cells if cell.ok}
    return [(cell, theirs[_setup(cell)]) for cell in first.cells if cell.ok and _setup(cell) in theirs]


def _setup(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Return the levels of a cell as a key; a limit that all cells of the run share is one of the machine."""
    varying = dict(cell.varying)
    return tuple(one for one in cell.size if one[0] not in LIMIT_FACTORS or one[0] in varying)


def _claims(runs: Mapping[str, Run], across: bool) -> list[Finding]:
    """Return the claims of the first run on every machine that declared them alike and did the same work."""
    declared, judged = {}, {}
    for name, run in runs.items():
        declared[name] = {one.id: without_words(one) for one in claims.declared(run)[0]}
        judged[name] = {one.id: one for one in claims.of_run(run)}
    first = next(iter(runs))
    found = []
    for one in judged[first].values():
        results = []
        for name, run in runs.items():
            if declared[name].get(one.id) != declared[first][one.id]:
                results.append(_not_run(name, "declared-otherwise", NOT_RUN))
            elif not across and not _same_work(runs[first], one, run, judged[name][one.id]):
                results.append(_not_run(name, "other-work", NOT_RUN))
            else:
                results.append(_of_claim(name, judged[name][one.id]))
        found.append(Finding(one.id, one.statement, tuple(results)))
    return found


def _same_work(first: Run, one: Judgement, run: Run, other: Judgement) -> bool:
    """Return whether two runs did the same in each case of a claim that both measured: options, data and versions."""

    def done(of: Run, held: Judgement) -> dict[Hashable, Hashable]:
        return {
            shared_levels(cell): tuple(
                work(of, side, cell.sides.levels.get(PHASE, held.phase)) for side in cell.sides.cells
            )
            for cell in held.cells
        }

    ours, theirs = done(first, one), done(run, other)
    return all(ours[case] == theirs[case] for case in ours.keys() & theirs.keys())


def _of_claim(machine: str, one: Judgement) -> Result:
    judged = one.verdict in (*judgement.DECIDED, "inconclusive") and not any(cell.unfit for cell in one.cells)
    fit = one.fit if judged else None
    found = grade.reading(one)
    return Result(
        machine,
        str(one.verdict),
        one.measured,
        one.low,
        one.high,
        fit,
        one.reasons,
        one,
        Answer(found.holds, found.size),
    )


def _comparisons(runs: Mapping[str, Run]) -> list[Finding]:
    """Return the comparisons with the baseline of the first run, on every machine that made them."""
    made: dict[str, dict[Hashable, Result]] = {}
    for name, run in runs.items():
        made[name] = {_key(one): _of_comparison(name, one) for one in comparison.judged(run)}
    first = next(iter(runs.values()))
    return [
        Finding(
            f"{one.pair.above.phase}-{one.pair.above.metric}-{one.pair.cell.name}",
            f"{one.pair.quantity}: {one.pair.sides}",
            tuple(
                found.get(_key(one)) or _not_run(name, "not-measured-here") for name, found in made.items()
            ),
        )
        for one in comparison.judged(first)
        if one.word != comparison.NOT_RANKED
    ]


def _key(one: comparison.Judged) -> Hashable:
    pair = one.pair
    return (pair.above.phase, pair.above.metric, _setup(pair.above.cell), _setup(pair.below.cell))


def _of_comparison(machine: str, one: comparison.Judged) -> Result:
    better = one.pair.advantage
    fit = None if one.pair.unfit else better.fit
    return Result(machine, one.word, better.value, better.low, better.high, fit, (one.reason,))
