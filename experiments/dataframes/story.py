"""The gap between pandas and Polars: the ratio of their times in three pairs of releases of about the same day."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import limits, quantity
from benchbook.analyse.comparison import Versus, estimates, versus
from benchbook.analyse.run import Run
from benchbook.report import reasons, theme
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

PAIRS = {
    "pandas 1.5.3, Polars 0.20.31": ("pandas-1.5.3", "polars-0.20.31"),
    "pandas 2.2.2, Polars 1.8.2": ("pandas-2.2.2", "polars-1.8.2"),
    "pandas 3.1.1, Polars 2.1.0": ("pandas-3.1.1", "polars-2.1.0"),
}
"""Label → the two systems; the pair in the middle is the published one."""
QUESTIONS = tuple(f"q{number}" for number in range(1, 11))
"""Those of this experiment; dataframes-join, whose page draws the same chart, has five."""
TITLE = "Time of pandas over that of Polars"
ROW_HEIGHT = 62


def gap(run: Run) -> Figure | Markdown:
    """Draw the ratio of each pair for each question."""
    if refusal := refused(run, TITLE):
        return refusal
    found = [
        (question, label, one)
        for question in QUESTIONS
        for label, systems in PAIRS.items()
        if (one := _pair(run, question, systems)) is not None
    ]
    if not found:
        return missing(TITLE, "it needs valid trials of a pair of releases in the same blocks")
    trials = min(one.ratio.trials for *_, one in found)
    return Figure(
        theme.scaled_title(run, f"{TITLE}: {_finding(found)}"),
        _draw(run, found),
        f"{TITLE}, with 95 % CIs. "
        + "; ".join(f"{q}, {label}: {_text(one)}" for q, label, one in found)
        + ".",
        Table(
            ["Question", "Releases", "Times as long (95 % CI)", "Blocks"],
            [[q, label, _text(one), str(one.ratio.trials)] for q, label, one in found],
            numeric=frozenset({"Blocks"}),
        ),
        lead.caveat(run, [held for *_, one in found for held in (one.above, one.below)]),
        f"Ratio, logarithmic axis; right of 1 means that Polars is faster; bars are 95 % CIs; n = {trials} blocks",
    )


def _pair(run: Run, question: str, systems: tuple[str, str]) -> Versus | None:
    held = {one.cell.system: one for one in estimates(run, question, "latency_mean") if one.value}
    above, below = (held.get(name) for name in systems)
    return versus(run, above, below) if above and below else None


def _finding(found: list[tuple[str, str, Versus]]) -> str:
    """Return in how many questions the newest pair's interval lies below or above that of the published pair."""
    _, published, newest = PAIRS
    by = {(question, label): one.ratio for question, label, one in found}
    both = [question for question in QUESTIONS if {(question, published), (question, newest)} <= by.keys()]
    narrower = wider = 0
    for question in both:
        before, after = by[question, published], by[question, newest]
        if None not in (before.low, before.high, after.low, after.high):
            narrower += after.high < before.low  # type: ignore[operator]
            wider += after.low > before.high  # type: ignore[operator]
    return (
        f"since the published releases, narrower in {narrower} of {len(both)} questions and wider in {wider}"
    )


def _draw(run: Run, found: list[tuple[str, str, Versus]]) -> Any:
    import altair as alt

    def brief(one: Versus) -> bool:
        held = limits.brief(run, one.above.phase)
        return one.above.cell.name in held or one.below.cell.name in held

    means: list[dict[str, Any]] = [
        {"row": q, "cell": label, "value": one.ratio.value, "low": one.ratio.low, "high": one.ratio.high,
         "text": _text(one), "brief": brief(one)}
        for q, label, one in found
    ]  # fmt: skip
    order, labels = list(dict.fromkeys(q for q, *_ in found)), list(PAIRS)
    scale, axis = theme.logarithmic(
        [1.0, *marks.ends(means, means)], "pandas takes so many times as long as Polars"
    )
    legend = theme.legend(labels, lines=False)
    layers = marks.rows(
        means, [row | {"block": None} for row in means], scale, axis,
        y=alt.Y("row:N", title=None, sort=None, scale=alt.Scale(domain=order, padding=0.2)),
        offset=alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2)),
        paint=alt.Color(
            "cell:N", legend=legend, scale=alt.Scale(domain=labels, range=list(theme.PALETTE.values())[:3])
        ),
        shape=alt.Shape("cell:N", legend=legend, scale=alt.Scale(domain=labels, range=list(theme.SHAPES[:3]))),
        names=[alt.Tooltip("row:N"), alt.Tooltip("cell:N")],
    )  # fmt: skip
    height = ROW_HEIGHT * len(order)
    return alt.layer(marks.one(scale, axis), *layers).properties(width="container", height=height)


def _text(one: Versus) -> str:
    held = one.ratio
    if held.low is None or held.high is None:
        return f"{quantity.number(one.value)} (no interval: {reasons.of_ratio(held)})"
    return f"{quantity.number(one.value)} ({quantity.number(held.low)} to {quantity.number(held.high)})"
