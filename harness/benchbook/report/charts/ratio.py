"""Ratios to the baseline with their 95 % intervals and a line at 1: what the comparison rests on."""

from __future__ import annotations

from typing import Any

from benchbook.report import quantity, scaled, theme, thin, versus
from benchbook.report.charts import forest
from benchbook.report.comparison import refused
from benchbook.report.figure import Figure
from benchbook.report.metric import metric as words_of
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.versus import Versus
from benchbook.report.words import Words, missing

ROW_HEIGHT = 30


def chart(run: Run) -> Figure | Words:
    """Draw every metric's ratio of each cell to the baseline."""
    base = versus.baseline(run)
    title = f"Compared with {base.label}" if base else "The comparison with a baseline"
    if words := refused(run, title):
        return words
    if base is None:
        return missing(title, "no trial of this run counts")
    made = [one for phase, metric in versus.metrics(run) for one in versus.against(run, phase, metric, base)]
    found = [one for one in made if not versus.mixed(run, one)]
    if not found:
        return missing(title, "no second system was measured in the same blocks")
    notes = [thin.note(one.ratio.trials for one in found)]
    if left := dict.fromkeys(one.cell.label for one in made if versus.mixed(run, one)):
        notes.append(
            f"Embedded systems and servers are not ranked with each other: of {', '.join(left)} only sizes are shown."
        )
    return Figure(
        scaled.title(run, title),
        _draw(found, base.label),
        _alternative(found, title),
        _table(found),
        " ".join(note for note in notes if note),
    )


def label(one: Versus) -> str:
    """Return what a ratio is of: the metric and, for queries, the type."""
    title = words_of(one.above.metric).title
    return title if one.above.phase in ("trial", "load") else f"{title}, {one.above.phase}"


def short(one: Versus) -> str:
    """Return the row's label: the phase and the metric in a word."""
    words = words_of(one.above.metric)
    return words.short if one.above.phase == "trial" else f"{one.above.phase}, {words.short}"


def better(one: Versus) -> str:
    """Say which side of 1 is better for the cell that is compared."""
    return {"higher": "above 1 is better", "lower": "below 1 is better"}.get(one.above.direction, "")


def _draw(found: list[Versus], base: str) -> Any:
    import altair as alt

    labels = list(dict.fromkeys(one.cell.label for one in found))
    systems = [next(one.cell.system for one in found if one.cell.label == name) for name in labels]
    order = list(dict.fromkeys(short(one) for one in found))
    points: list[dict[str, Any]] = [
        {"row": short(one), "cell": one.cell.label, "ratio": ratio, "block": block + 1}
        for one in found
        for block, ratio in thin.evenly(one.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "row": short(one),
            "cell": one.cell.label,
            "ratio": one.advantage.value,
            "low": one.advantage.low,
            "high": one.advantage.high,
            "words": _words(one),
        }
        for one in found
    ]
    y = alt.Y(
        "row:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=order, padding=0.2),
        axis=alt.Axis(grid=False),
    )
    offset = alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2))
    paint = alt.Color("cell:N", scale=theme.colours(systems, labels))
    return forest.layers(
        means,
        points,
        f"Times as good as {base}: right of 1 is better",
        y=y,
        offset=offset,
        paint=paint,
        shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
        names=[alt.Tooltip("row:N"), alt.Tooltip("cell:N")],
    ).properties(width="container", height=len(order) * (ROW_HEIGHT + 16 * (len(labels) - 1)))


def _interval(one: Versus) -> str:
    if one.advantage.low is None or one.advantage.high is None:
        return f"no interval: {one.ratio.reason}"
    return f"{quantity.number(one.advantage.low)} to {quantity.number(one.advantage.high)}"


def _words(one: Versus) -> str:
    return f"{quantity.number(one.advantage.value)} ({_interval(one)})"


def _alternative(found: list[Versus], title: str) -> str:
    parts = [f"{label(one)}: {one.cell.label} {_words(one)}" for one in found]
    return f"{title}, as times as good with 95 % intervals and a line at 1. {'; '.join(parts)}."


def _table(found: list[Versus]) -> Table:
    rows = [
        [
            label(one),
            one.cell.label,
            quantity.number(one.advantage.value),
            _interval(one),
            str(one.ratio.trials),
            f"{quantity.number(one.value)}, {better(one)}",
            one.ratio.method,
        ]
        for one in found
    ]
    columns = [
        "Metric",
        "System",
        "Times as good",
        "95 % interval",
        "Paired trials",
        "Ratio of values",
        "Method",
    ]
    return Table(columns, rows, numeric=frozenset({"Times as good", "Paired trials"}))
