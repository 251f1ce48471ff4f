"""Charts of a history: one metric over the runs of an experiment or the releases of a system, with its changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.past import Change, Point, Series
from benchbook.declare.metric import describe
from benchbook.report import theme
from benchbook.report.charts import marks
from benchbook.report.figure import Figure
from benchbook.report.table import Table

HEIGHT = 240
APART = 0.08
"""Distance between two lines at one point, where points are 1 apart."""
COLUMNS = ("Setup", "Point", "Day", "Version", "Typical value", "95 % CI", "Trials", "Change")


def charts(found: Sequence[Series]) -> dict[str, list[Figure]]:
    """Return for each profile and processor a chart for each metric of a phase that has two points or more."""

    def place(one: Series) -> str:
        return f"Profile {one.profile}, {one.processor}"

    def drawn_together(one: Series) -> tuple[str, ...]:
        return (place(one), one.phase, one.metric)

    several = sorted(
        (one for one in found if len(one.points) > 1 and any(point.typical.value for point in one.points)),
        key=drawn_together,
    )
    return {
        where: [_figure(list(each)) for _, each in groupby(held, drawn_together)]
        for where, held in groupby(several, place)
    }


def text_of(change: Change) -> str:
    """Return a change in words.

    >>> text_of(Change(3, 0.001, 1.5, "better"))
    'better: 1.50 times the value before (p = 0.001)'
    """
    return f"{change.direction}: {quantity.number(change.ratio)} times the value before (p = {change.p:.2g})"


def interval(one: Point, unit: str) -> str:
    """Return the interval of a point; empty without one."""
    if one.typical.low is None or one.typical.high is None:
        return ""
    return f"{quantity.text(one.typical.low, unit)} to {quantity.text(one.typical.high, unit)}"


def _figure(held: Sequence[Series]) -> Figure:
    first = held[0]
    metric = describe(first.metric)
    phase = "" if first.phase in ("trial", "load") else f" ({first.phase})"
    changes = [(one, change) for one in held for change in one.changes]
    said = "; ".join(
        f"{one.cell} {change.direction} from {one.points[change.place].label} on" for one, change in changes
    )
    title = f"{metric.title}{phase}: {said or _none(held)}"
    return Figure(
        title,
        _draw(held, f"{metric.title} ({first.unit})" if first.unit not in ("", "1") else metric.title),
        f"{title}. A line for each of {len(held)} setups over each {first.by}, with 95 % CIs.",
        _table(held),
        subtitle=f"{first.unit}, {first.direction} is better, logarithmic axis; bars are 95 % CIs; a ring marks "
        "the first point after a change",
    )


def _none(held: Sequence[Series]) -> str:
    """Return why there is no change."""
    if any(one.enough for one in held):
        return "no change was found"
    return f"{len(held[0].points)} {held[0].by}s are too few to find a change"


def _draw(held: Sequence[Series], title: str) -> Any:
    import altair as alt

    order = list(dict.fromkeys((point.day, point.label) for one in held for point in one.points))
    order.sort()
    rows = [
        {
            "label": one.cell, "value": point.typical.value, "low": point.typical.low, "high": point.typical.high,
            "x": order.index((point.day, point.label)) + APART * (line - (len(held) - 1) / 2),
            "point": point.label, "version": point.version, "changed": place in {each.place for each in one.changes},
            "text": f"{quantity.text(point.typical.value, one.unit)} ({interval(point, one.unit) or 'no interval'})",
        }
        for line, one in enumerate(held)
        for place, point in enumerate(one.points)
        if point.typical.value is not None and point.typical.value > 0
    ]  # fmt: skip
    scale, axis = theme.logarithmic(marks.ends(rows, rows), title)
    versions = {point.label: point.version for one in held for point in one.points}
    shown = json.dumps(
        [
            f"{versions[label] or label} ({day[:7]})" if held[0].by == "release" else day
            for day, label in order
        ]
    )
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.5, len(order) - 0.5], nice=False),
        axis=alt.Axis(
            title="Release" if held[0].by == "release" else "Run", values=list(range(len(order))),
            tickCount=len(order), grid=False, labelExpr=f"{shown}[datum.value]", labelOverlap=False, labelAngle=-45,
            labelAlign="right",
        ),
    )  # fmt: skip
    y = alt.Y("value:Q", scale=scale, axis=axis)
    paint, shape = theme.by_label("label:N", list(dict.fromkeys(one.cell for one in held)))
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("label", "point", "version", "text")]

    def data(wanted: Sequence[dict[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=list(wanted)))

    layers = [
        data([row for row in rows if row["low"]])
        .mark_rule(strokeWidth=4, opacity=0.28, strokeCap="round")
        .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=paint),
        data(rows).mark_line(strokeWidth=1.4).encode(x=x, y=y, color=paint),
        data(rows).mark_point(filled=True, size=40).encode(x=x, y=y, color=paint, shape=shape, tooltip=tooltip),
        data([row for row in rows if row["changed"]])
        .mark_point(filled=False, size=220, shape="circle", stroke="currentColor", strokeWidth=2)
        .encode(x=x, y=y, tooltip=tooltip),
    ]  # fmt: skip
    return alt.layer(*layers).properties(width="container", height=HEIGHT)


def _table(held: Sequence[Series]) -> Table:
    rows = [
        [
            one.cell, point.label, point.day, point.version, quantity.text(point.typical.value, one.unit),
            interval(point, one.unit), str(point.typical.trials), changes.get(place, ""),
        ]
        for one in held
        for changes in [{each.place: text_of(each) for each in one.changes}]
        for place, point in enumerate(one.points)
    ]  # fmt: skip
    return Table(COLUMNS, rows, numeric=frozenset({"Trials"}), stacked=True)
