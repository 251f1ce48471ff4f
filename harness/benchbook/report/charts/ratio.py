"""Chart of the ratios of a run to its baseline, with their 95 % CIs; ``forest.py`` draws those of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchbook.analyse import comparison, quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Versus
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Pair
from benchbook.declare.metric import describe
from benchbook.report import figure, links, reasons, theme
from benchbook.report import theme as axes
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

ROW_HEIGHT = 30
MOST_LINES = 40
"""A chart of more lines has one line for each metric, on which its systems overlap."""
DENSE_HEIGHT = 22
MOST_BASELINES = 6
"""With fewer setups, a reader may choose each as the baseline."""


def chart(run: Run, workload: str | None = None) -> Figure | Markdown:
    """Draw the ratio of each cell to the baseline, for every metric, or only in the phases of ``workload``."""
    base = comparison.baseline(run)
    title = f"Compared with {base.label}" if base else "The comparison with a baseline"
    if refusal := refused(run, title):
        return refusal
    if base is None:
        return missing(title, "this run has no valid trial")
    wanted = None if workload is None else run.phases(workload)
    pairs = [pair for pair in comparison.metrics(run) if wanted is None or pair[0] in wanted]
    drawn = _figure(run, base, pairs)
    if drawn is None:
        return missing(title, "no second system was measured in the same blocks")
    cells = [cell for cell in labelled(run) if cell.ok and cell.name != base.name]
    # Two setups have the same ratios either way round.
    if not 1 < len(cells) < MOST_BASELINES or len(drawn.table.rows) > MOST_LINES:
        return drawn
    others = [_figure(run, cell, pairs) for cell in cells]
    return replace(drawn, others=tuple(filter(None, others)), choice="baseline")


def _figure(run: Run, base: Cell, pairs: Sequence[Pair]) -> Figure | None:
    """Draw the ratios to one baseline; None if nothing was measured in the same blocks."""
    title = f"Compared with {base.label}"
    made = [one for phase, metric in pairs for one in comparison.against(run, phase, metric, base)]
    found = [one for one in made if not comparison.mixed(run, one)]
    if not found:
        return None
    notes = [figure.note(one.ratio.trials for one in found)]
    if left := dict.fromkeys(one.cell.label for one in made if comparison.mixed(run, one)):
        sized = any(one.cell.label in left for one in found)
        notes.append(
            "Embedded systems and servers are not ranked together, so the chart"
            f" {'shows only the size on disk for' if sized else 'leaves out'} {', '.join(left)}."
        )
    return Figure(
        theme.scaled_title(run, f"{title}: {_finding(found)}"),
        _ratio_draw(found, base.label),
        _ratio_alternative(found, title),
        _ratio_table(found),
        " ".join(note for note in notes if note),
        f"{lead.RATIO}; n = {quantity.counted(min(one.ratio.trials for one in found), 'block')}",
        option=base.label,
    )


def _finding(found: list[Versus]) -> str:
    """Return in how many metrics each system is better than the baseline, and in how many worse."""
    said = comparison.verdicts(found)
    parts = []
    for name in dict.fromkeys(one.cell.label for one in found):
        own = [judged.winner for one, judged in zip(found, said, strict=True) if one.cell.label == name]
        better, worse = own.count(name), sum(winner not in (None, name) for winner in own)
        parts.append(f"{name} is better in {better} of {len(own)} metrics and worse in {worse}")
    return "; ".join(parts)


def label(one: Versus) -> str:
    """Return the label of a ratio: the metric and, for queries, the type."""
    title = describe(one.above.metric).title
    return title if one.above.phase in ("trial", "load") else f"{title}, {one.above.phase}"


def short(one: Versus) -> str:
    """Return the short label of a ratio for a row: phase and metric."""
    metric = describe(one.above.metric)
    return metric.short if one.above.phase == "trial" else f"{one.above.phase}, {metric.short}"


def better(one: Versus) -> str:
    """Return which side of 1 is better for the compared cell."""
    return {"higher": "above 1 is better", "lower": "below 1 is better"}.get(one.above.direction, "")


def _ratio_draw(found: list[Versus], base: str) -> Any:
    import altair as alt

    labels = list(dict.fromkeys(one.cell.label for one in found))
    systems = [next(one.cell.system for one in found if one.cell.label == name) for name in labels]
    order = list(dict.fromkeys(short(one) for one in found))
    points: list[dict[str, Any]] = [
        {
            "row": short(one),
            "cell": one.cell.label,
            "value": ratio,
            "block": block + 1,
            "trial": trials.get(block),
        }
        for one in found
        for trials in [{point.block: links.anchor(point.trial_id) for point in one.above.points}]
        for block, ratio in figure.evenly(one.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "row": short(one),
            "cell": one.cell.label,
            "value": one.advantage.value,
            "low": one.advantage.low,
            "high": one.advantage.high,
            "text": _advantage(one),
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
    dense = len(order) * len(labels) > MOST_LINES
    offset = None if dense else alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2))
    paint = alt.Color("cell:N", scale=theme.colours(systems, labels))
    scale, axis = axes.logarithmic(
        [1.0, *marks.ends(means, points)], f"Times as good as {base}: right of 1 is better"
    )
    layers = marks.rows(
        means, points, scale, axis, y=y, offset=offset, paint=paint,
        shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
        names=[alt.Tooltip("row:N"), alt.Tooltip("cell:N")],
    )  # fmt: skip
    height = len(order) * (DENSE_HEIGHT if dense else ROW_HEIGHT + 16 * (len(labels) - 1))
    return alt.layer(marks.one(scale, axis), *layers).properties(width="container", height=height)


def _interval(one: Versus) -> str:
    if one.advantage.low is None or one.advantage.high is None:
        return f"no interval: {reasons.of_ratio(one.ratio)}"
    return f"{quantity.number(one.advantage.low)} to {quantity.number(one.advantage.high)}"


def _advantage(one: Versus) -> str:
    return f"{quantity.number(one.advantage.value)} ({_interval(one)})"


def _ratio_alternative(found: list[Versus], title: str) -> str:
    parts = [f"{label(one)}: {one.cell.label} {_advantage(one)}" for one in found]
    return f"{title}: times as good, with 95 % CIs and a line at 1. {'; '.join(parts)}."


def _ratio_table(found: list[Versus]) -> Table:
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
    base = found[0].below.cell.label
    columns = [
        "Metric",
        "System",
        "Times as good",
        "95 % CI",
        "Paired trials",
        f"Its value over that of {base}",
        "Method",
    ]
    return Table(columns, rows, numeric=frozenset({"Times as good", "Paired trials"}))
