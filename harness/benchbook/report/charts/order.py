"""Chart of the effect of a trial's position in its block on its result."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.comparison import Estimate, Point, estimates
from benchbook.analyse.interval import Interval, mean_log
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report import figure, links, theme
from benchbook.report.charts import marks
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing

TITLE = "Effect of the position within a block"

MOST_LEGEND = 12
"""Most cells in a legend."""


def chart(run: Run, metric: str = "rows_per_second", phase: str | None = None) -> Figures | Markdown:
    """Draw each trial's value relative to its cell's mean, by its position in the block."""
    loads = run.loads
    name = phase or (loads[0] if loads else "load")
    found = [
        estimate for estimate in estimates(run, name, metric) if estimate.value and len(estimate.points) > 1
    ]
    points = [
        (estimate, point.position, point.value / estimate.value, point)
        for estimate in found
        for point in estimate.points
        if estimate.value and point.value > 0
    ]
    positions = sorted({position for _, position, _, _ in points})
    if len(positions) < 2:
        return missing(
            TITLE,
            f"it needs {describe(metric).title.lower()} in phase {name}, at two positions in a block or more",
        )
    means = {
        place: mean_log([ratio for _, position, ratio, _ in points if position == place])
        for place in positions
    }
    return Figures(
        [
            Figure(
                theme.scaled_title(run, f"{TITLE}: {describe(metric).title.lower()}"),
                _draw(found, points, means),
                _alternative(means),
                _table(means, points),
                width=theme.HALF_WIDTH,
            )
        ]
    )


Means = dict[int, Interval]
Points = list[tuple[Estimate, int, float, Point]]


def _draw(found: list[Estimate], points: Points, means: Means) -> Any:
    import altair as alt

    labels = [estimate.cell.label for estimate in found]
    systems = [estimate.cell.system for estimate in found]
    rows = [
        {
            "cell": estimate.cell.label,
            "position": position + 1,
            "percent": _points(ratio),
            "block": point.block + 1,
            "trial": links.anchor(point.trial_id),
        }
        for estimate, position, ratio, point in figure.evenly(points, figure.POINTS * len(found))
    ]
    bars = [
        {
            "position": place + 1,
            "percent": _points(one.value),
            "low": _points(one.low),
            "high": _points(one.high),
        }
        for place, one in means.items()
        if one.value is not None
    ]
    # The legend is not essential here, and one of many cells would be larger than the chart.
    legend = theme.legend(labels, lines=False) if len(labels) <= MOST_LEGEND else None
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 3], opacity=0.7)
    difference = alt.Tooltip("percent:Q", format="+.2~f", title="difference, %")
    x = alt.X("position:O", title="Position within the block", axis=alt.Axis(labelAngle=0))
    title = "Difference from the setup's mean (%)"
    y = alt.Y("percent:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(format="+.4~g"))
    return alt.layer(
        alt.Chart(alt.InlineData(values=[row for row in bars if row["low"] is not None]))
        .mark_rule(strokeWidth=9, opacity=0.18, strokeCap="round")
        .encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q"),
        zero.encode(y=alt.Y("zero:Q", title=title)),
        marks.linked(
            alt.Chart(alt.InlineData(values=rows))
            .mark_point(filled=False, strokeWidth=1.6)
            .encode(
                x=x,
                y=y,
                color=alt.Color("cell:N", scale=theme.colours(systems, labels), legend=legend),
                shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels), legend=legend),
                tooltip=[alt.Tooltip("cell:N"), alt.Tooltip("block:O"), difference],
            ),
            rows,
        ),
        alt.Chart(alt.InlineData(values=bars))
        .mark_tick(thickness=2, size=26, color="currentColor")
        .encode(x=x, y=y),
    ).properties(width="container", height=180)


def _points(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * (ratio - 1)


def _percent(ratio: float | None) -> str:
    return quantity.MISSING if ratio is None else f"{100 * (ratio - 1):+.1f} %"


def _alternative(means: Means) -> str:
    parts = [f"position {place + 1} {_percent(one.value)}" for place, one in means.items()]
    return f"{TITLE}: typical difference from the setup's mean by position: {', '.join(parts)}."


def _table(means: Means, points: Points) -> Table:
    rows = [
        [
            str(place + 1),
            str(sum(position == place for _, position, _, _ in points)),
            _percent(one.value),
            f"{_percent(one.low)} to {_percent(one.high)}"
            if one.low is not None
            else "none: fewer than 3 trials",
        ]
        for place, one in means.items()
    ]
    columns = ["Position", "Trials", "Typical difference", "95 % CI"]
    return Table(columns, rows, numeric=frozenset(columns[1:3]))
