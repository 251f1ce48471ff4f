"""Latency per query type: one row a type and cell, every trial a point, the mean with its interval.

Cells of one system have one colour, so that only a row of its own with its name tells them apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchbook.report import axis as axes
from benchbook.report import quantity, scaled, theme, thin
from benchbook.report.charts import strip
from benchbook.report.comparison import refused
from benchbook.report.estimate import Estimate, estimates
from benchbook.report.figure import Figure, Figures
from benchbook.report.metric import metric as words_of
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

LINE_HEIGHT = 22
"""Pixels of one cell within a query type."""


def chart(run: Run, metric: str = "latency_p50") -> Figure | Figures | Words:
    """Draw ``metric`` of every query phase; where a system has several cells, one figure a phase that names each."""
    title = f"{words_of(metric).title} by query type"
    if words := refused(run, title):
        return words
    found = [estimate for phase in run.phases("query") for estimate in estimates(run, phase, metric)]
    if not any(estimate.points for estimate in found):
        return missing(title, f"no trial of this run that counts measured {metric} in a query phase")
    if len({one.cell.system for one in found}) < len({one.cell.name for one in found}):
        return Figures(_by_phase(run, metric))
    return Figure(
        scaled.title(run, title),
        _draw(found, metric),
        _alternative(found, title),
        _table(found),
        thin.note(len(one.points) for one in found),
    )


def _by_phase(run: Run, metric: str) -> list[Figure]:
    drawn = [
        strip.chart(run, phase, metric, f"{words_of(metric).title}, {phase}") for phase in run.phases("query")
    ]
    return [replace(figure, width=theme.HALF_WIDTH) for figure in drawn if isinstance(figure, Figure)]


def _draw(found: list[Estimate], metric: str) -> Any:
    import altair as alt

    measured = [estimate for estimate in found if estimate.value is not None]
    largest = max(point.value for estimate in measured for point in estimate.points)
    divisor, unit = quantity.scale(largest, measured[0].unit)
    labels = list(dict.fromkeys(estimate.cell.label for estimate in found))
    systems = [next(e.cell.system for e in found if e.cell.label == label) for label in labels]
    phases = list(dict.fromkeys(estimate.phase for estimate in found))
    points: list[dict[str, Any]] = [
        {"type": e.phase, "cell": e.cell.label, "value": point.value / divisor, "block": point.block + 1}
        for e in measured
        for point in thin.evenly(e.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "type": e.phase,
            "cell": e.cell.label,
            "value": (e.value or 0.0) / divisor,
            "low": None if e.low is None else e.low / divisor,
            "high": None if e.high is None else e.high / divisor,
            "mean": e.text(),
            "interval": e.interval(),
        }
        for e in measured
    ]
    spread = [row["value"] for row in points] + [
        row[end] for row in means for end in ("low", "high") if row[end]
    ]
    scale, axis = axes.value(spread, f"{words_of(metric).title} ({unit})")
    y = alt.Y(
        "type:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=phases, padding=0.25),
        axis=alt.Axis(grid=False),
    )
    offset = alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2))
    x = alt.X("value:Q", scale=scale, axis=axis)
    colour = alt.Color("cell:N", scale=theme.colours(systems, labels))
    tooltip = [alt.Tooltip("type:N"), alt.Tooltip("cell:N"), alt.Tooltip("mean:N"), alt.Tooltip("interval:N")]
    return alt.layer(
        alt.Chart(alt.InlineData(values=[row for row in means if row["low"] is not None]))
        .mark_rule(strokeWidth=7, opacity=0.28, strokeCap="round")
        .encode(y=y, yOffset=offset, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour),
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=False, strokeWidth=1.5, size=38)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=colour,
            shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
            tooltip=[
                alt.Tooltip("type:N"),
                alt.Tooltip("cell:N"),
                alt.Tooltip("block:O"),
                alt.Tooltip("value:Q", format=".3~g", title=unit),
            ],
        ),
        alt.Chart(alt.InlineData(values=means))
        .mark_tick(thickness=2.5, size=LINE_HEIGHT * 0.8, opacity=1)
        .encode(y=y, yOffset=offset, x=x, color=colour, tooltip=tooltip),
    ).properties(width="container", height=max(1, len(phases)) * (LINE_HEIGHT * len(labels) + 14))


def _alternative(found: list[Estimate], title: str) -> str:
    parts = []
    for phase in dict.fromkeys(estimate.phase for estimate in found):
        own = [
            f"{e.cell.label} {e.text() if e.points else 'not measured'}" for e in found if e.phase == phase
        ]
        parts.append(f"{phase}: {', '.join(own)}")
    return f"{title}, one row for each query type and system, every trial a point. {'; '.join(parts)}."


def _table(found: list[Estimate]) -> Table:
    rows = [
        [e.phase, e.cell.label, str(len(e.points)), e.text(), e.interval() if e.points else "not measured"]
        for e in found
    ]
    columns = ["Query type", "System", "Trials", "Mean", "95 % interval"]
    return Table(columns, rows, numeric=frozenset({"Trials", "Mean"}))
