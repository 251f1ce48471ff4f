"""The section of a report on other processors: whether the answers depend on the processor, and a mean over them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from benchbook.analyse import claims, grade, machines, quantity
from benchbook.analyse.claims import Judgement
from benchbook.analyse.grade import Reading
from benchbook.analyse.judgement import Answer
from benchbook.analyse.machines import Case, Finding, Machines, Result
from benchbook.analyse.random_effects import Summary
from benchbook.analyse.run import Run
from benchbook.analyse.wording import level_words, listing
from benchbook.declare.experiment import LIMIT_FACTORS
from benchbook.errors import sentence
from benchbook.report import across, claim, conclusion, history, holding, opening
from benchbook.report.charts import forest
from benchbook.report.claim import Shown
from benchbook.report.table import Block, Details, Table, escape_html, escape_markdown
from benchbook.report.tables import setting

MOST = 3
"""Most findings that are drawn; the table has all."""
MARKS = (
    "Dot and bar: the ratio on one processor with its 95 % CI; a hollow diamond is a published ratio. A bar that "
    "reaches the edge is longer than shown."
)
MEAN = (
    "The mean over processors is that of a random-effects model (variance between processors: Paule and Mandel; "
    "interval: Hartung-Knapp-Sidik-Jonkman)."
)
OVER = "The row over all runs is the answer on this page: it rests on every run of the same work."
TIMES = "A ratio above 1 means that the first of the two is better."
PREDICTED = "The bar of another processor is the 95 % prediction interval for its ratio."
TWO = "Two processors show little about others, so the CI of their mean is wide."


def section(run: Run) -> Block | None:
    """Return the section on all published runs of an experiment; None if there is nothing to show."""
    parts = [
        one for one in (_on_processors(run), across.section(run), history.section(run)) if one is not None
    ]
    if not parts:
        return None
    return Block("".join(one.markup for one in parts), "\n\n".join(one.markdown for one in parts))


def _on_processors(run: Run) -> Block | None:
    runs = opening.processors(run)
    return shown(machines.of_runs(runs)) if len(runs) > 1 else None


def shown(found: Machines) -> Block:
    """Return what the runs on several processors found."""
    number = len(found.runs)
    title = f"Results on {number} processors" if number > 1 else "Other processors"
    parts: list[tuple[str, str]] = [(f'<h2 id="machines">{title}</h2>', f"## {title}")]
    if number > 1:
        drawn, over = _drawn(found), _over(found)
        apart = sum(bool(grade.apart(one)) for one in over.values())
        both = f" For {quantity.counted(apart, found.noun)}, the ratios of processors lie on both sides of the bound."
        parts.append(_paragraph(found.sentence + (both if apart else "")))
        means = [one.summary for one in drawn if one.summary and one.id not in over]
        notes = [
            *([TIMES] if found.noun == "comparison" else []),
            MARKS,
            *([forest.CASES] if any(one.cases for one in drawn) else []),
            *([OVER] if any(one.id in over for one in drawn) else []),
            *([MEAN] if means else []),
            *([PREDICTED if any(one.prediction() for one in means) else TWO] if means else []),
        ]
        parts += [_forest(one, over.get(one.id)) for one in drawn]
        parts.append(
            (f'<p class="bb-note">{escape_html(" ".join(notes))}</p>', escape_markdown(" ".join(notes)))
        )
    for names in found.same_processor:
        parts.append(
            _paragraph(
                f"By the facts of their runs, {listing(names)} have the same processor, so their results are not "
                "independent."
            )
        )
    for name, why in found.left_out.items():
        parts.append(_paragraph(f"The run of {name} is left out: {why.rstrip('.')}."))
    folded = [("The processors and their runs", table(found))]
    if number > 1:
        folded.insert(0, (f"Every {found.noun} on each processor", every(found, _over(found))))
    parts += [(Details(name, made).html(), f"**{name}**\n\n{made.markdown()}") for name, made in folded]
    return Block("".join(markup for markup, _ in parts), "\n\n".join(written for _, written in parts))


def _over(found: Machines) -> dict[str, Judgement]:
    """Return claim → its judgement over processors, as the forest of all claims shows it."""
    if found.noun != "claim":
        return {}
    first = next(iter(found.runs.values()))
    return {one.id: one for one in claims.over(first) if one.scope == "processors"}


def _paragraph(text: str) -> tuple[str, str]:
    return f"<p>{escape_html(text)}</p>", escape_markdown(text)


def _drawn(found: Machines) -> list[Finding]:
    """Return the findings to draw: those that answer the question, then those that depend on the machine."""
    first = next(iter(found.runs.values()))
    leads = [one.id for _, one in conclusion.leading(first)]
    ratios = [one for one in found.findings if sum(result.value is not None for result in one.results) > 1]
    depends = [one for one in ratios if one.dependence in ("direction", "size")]
    chosen = [one for one in ratios if one.id in leads] or ratios[:1]
    drawn = {one.id: one for one in (*chosen, *depends)}
    return list(drawn.values())[:MOST]


def _forest(one: Finding, over: Judgement | None) -> tuple[str, str]:
    """Return the rows of a finding: a machine each, the mean over them, and what is expected on a new machine.

    ``over`` is the judgement on a claim over all runs.
    """
    seen = {result.machine: _shown(result) for result in one.results}
    rows = [(result.machine, result.said, seen[result.machine]) for result in one.results]
    if over is not None:
        said = grade.reading(over)
        rows.append((f"Over {claim.rests(over)}", Answer(said.holds, said.size), claim.shown(over)))
        if over.expect is not None:
            rows.append(
                ("Another processor", "expected", Shown(claim.interval(*over.expect), (), *over.expect))
            )
    elif made := one.summary:
        rows.append(("Mean over processors", "random effects", mean(made)))
        if predicted := made.prediction():
            low, high = map(math.exp, predicted)
            rows.append(("Another processor", "predicted", Shown(claim.interval(low, high), (), low, high)))
    first = _first(one)
    stated = claim.stated(first) if first else claim.Stated("", None, "=")
    scale = forest.scale_of([held for _, _, held in rows], [stated.value])
    lines = "".join(
        forest.parts(
            said.holds if isinstance(said, Answer) else said, escape_html(name),
            forest.lane(scale, held, stated.value, stated.kind), _marked(said), f"<b>{escape_html(held.text)}</b>",
        )
        for name, said, held in rows
    )  # fmt: skip
    counts = counted(one)
    text = f"{counts[0].upper()}{counts[1:]}. {heterogeneity(one)}"
    statement = sentence(_statement(one))
    markup = f"<p><b>{escape_html(statement)}</b> {escape_html(text)}</p>"
    written = "\n".join(
        f"- {escape_markdown(f'{name}: {holding.said(said)}, {held.text}')}" for name, said, held in rows
    )
    return (
        f'{markup}<div class="bb-forest">{forest.plot(lines, scale)}</div>',
        f"**{escape_markdown(statement)}** {escape_markdown(text)}\n\n{written}",
    )


def _marked(said: Answer | str) -> str:
    """Return the same in HTML, an answer with its definition."""
    if isinstance(said, Answer):
        return holding.marked(holding.said(said), Reading(*said))
    return f'<span class="bb-answer">{escape_html(said)}</span>'


def counted(one: Finding) -> str:
    """Return how many machines say what: "holds, smaller on 2 machines; reversed on 1"."""
    counts = Counter(map(holding.said, one.said)).most_common()
    said = [f"{text} on {number}" for text, number in counts]
    said[0] += " machine" if counts[0][1] == 1 else " machines"
    return "; ".join(said)


def _first(one: Finding) -> Judgement | None:
    return next((result.judgement for result in one.results if result.judgement), None)


def _statement(one: Finding) -> str:
    first = _first(one)
    return claim.statement(first) if first else one.statement


def _shown(one: Result) -> Shown:
    if one.judgement is not None:
        return claim.shown(one.judgement)
    return Shown(
        claim.ratio_text(one.value, one.low, one.high), (one.value,) if one.value else (), one.low, one.high
    )


def mean(made: Summary) -> Shown:
    """Return the mean over machines with its interval."""
    value, (low, high) = math.exp(made.fit.centre), map(math.exp, made.fit.interval())
    return Shown(claim.ratio_text(value, low, high), (value,), low, high)


def heterogeneity(one: Finding) -> str:
    """Return what I^2 says, or why there is no mean over machines."""
    made = one.summary
    if made is None:
        if any(result.judgement is not None and claims.ends(result.judgement) for result in one.results):
            return "The cases of this claim differ, so only each of them has a mean over processors (in the table)."
        return "There is no mean over processors, because fewer than 2 have a ratio that is judged."
    share = f"{100 * made.i_squared:.0f} %"
    if share == "0 %":
        return "I² is 0 %: the processors differ no more than the noise of their trials explains."
    return f"I² is {share}: the noise of the trials does not explain this share of the variation between processors."


def every(found: Machines, over: Mapping[str, Judgement]) -> Table:
    """Return a row for each finding and each of its cases: answer and ratio on each machine, and their mean."""
    rows = []
    for one in found.findings:
        if any(held.value for held in one.results):
            whole = over.get(one.id)
            rows.append(_row(one, _statement(one), claim.shown(whole).text if whole else None))
            rows += [
                _row(case, f"Only {case.statement}", _of_case(whole, case.case))
                for case in one.cases
                if one.summary is None
            ]
    columns = [found.noun.capitalize(), *found.runs, "Mean over processors (95 % CI)", "I²"]
    return Table(columns, rows, stacked=True)


def _of_case(over: Judgement | None, levels: Case | None) -> str | None:
    """Return the mean of a case over processors, as the other table of the page has it; None if there is none."""
    held = zip(over.cells, over.by_case, strict=True) if over else ()
    found = [runs for cell, runs in held if runs and machines.shared_levels(cell) == levels]
    return across.in_words(found[0].estimate.mean) if found else None


def _row(one: Finding, statement: str, over: str | None = None) -> list[str]:
    made = one.summary
    cells = [
        f"{holding.said(held.said)}: {_shown(held).text}" if held.value else holding.said(held.said)
        for held in one.results
    ]
    share = quantity.MISSING if made is None else f"{100 * made.i_squared:.0f} %"
    if over is not None:
        return [statement, *cells, over, share]
    return [statement, *cells, quantity.MISSING if made is None else mean(made).text, share]


def table(found: Machines) -> Table:
    """Return a row for each machine: its hardware, its run, and in what its work differs from that of the first."""
    rows = []
    for name, run in found.runs.items():
        differs = [one.instead for one in found.deviations(name)]
        rows.append(
            [name, _hardware(run), conclusion.strength(run), _run(run), "; ".join(differs) or "nothing"]
        )
    columns = ["Processor", "Hardware", "Evidence", "Run", "Differs from the first in"]
    return Table(columns, rows, stacked=True)


def _hardware(run: Run) -> str:
    """Return the hardware in a phrase, with the limits that all trials share."""
    shared = {
        (name, level) for cell in run.cells for name, level in cell.levels.items()
        if name in LIMIT_FACTORS and name not in dict(cell.varying)
    }  # fmt: skip
    return ", ".join(filter(None, [setting.machine(run), *(level_words(*one) for one in sorted(shared))]))


def _run(run: Run) -> str:
    when = run.info["started_at"]
    return f"{run.run_id}, profile {run.profile}" + (f", {when:%Y-%m-%d}" if when else "")
