"""A metric along a number: one line a system, its interval upright at every point, and a limit where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.report import axis as axes
from benchbook.report import colour, quantity, theme
from benchbook.report.estimate import FEWEST_TRIALS
from benchbook.report.figure import Figure
from benchbook.report.table import Table

HEIGHT = 280


@dataclass(frozen=True)
class Dot:
    """The trials of one system at one place of the curve, in the metric's own unit."""

    system: str
    label: str
    at: float
    value: float
    low: float | None
    high: float | None
    trials: int


@dataclass(frozen=True)
class Axes:
    """What the two axes are called, with their units."""

    along: str
    value: str


def figure(dots: Sequence[Dot], title: str, names: Axes, limit: Sequence[Dot] = ()) -> Figure:
    """Return the figure; ``limit`` is drawn as a grey dashed line."""
    return Figure(
        title, _draw(dots, names, limit), _alternative(dots, title, limit), _table(dots, names, limit)
    )


def _draw(dots: Sequence[Dot], names: Axes, limit: Sequence[Dot]) -> Any:
    import altair as alt

    everything = [*dots, *limit]
    ends = [end for one in everything for end in (one.value, one.low, one.high) if end]
    labels = list(dict.fromkeys(one.label for one in sorted(dots, key=lambda one: colour.slot(one.system))))
    systems = [next(one.system for one in dots if one.label == label) for label in labels]
    y_scale, y_axis = axes.value(ends, names.value)
    places = sorted({one.at for one in everything})
    x = alt.X(
        "at:Q",
        scale=alt.Scale(type="log", domain=[places[0] / 1.15, places[-1] * 1.15], nice=False),
        axis=alt.Axis(title=names.along, values=places, format="d", grid=False),
    )
    y = alt.Y("value:Q", scale=y_scale, axis=y_axis)
    legend = theme.legend(labels, lines=False)
    paint = alt.Color("label:N", scale=theme.colours(systems, labels), legend=legend)
    # The same legend: one that is told not to be contradicts it, and the browser says so.
    dashes = alt.StrokeDash("label:N", scale=theme.dashes(systems, labels), legend=legend)
    rows = [
        {"label": one.label, "at": one.at, "value": one.value, "low": one.low, "high": one.high}
        for one in dots
    ]
    tooltip = [
        alt.Tooltip("label:N"),
        alt.Tooltip("at:Q", title=names.along),
        alt.Tooltip("value:Q", title=names.value, format=".4~g"),
    ]
    known = alt.Chart(alt.InlineData(values=[row for row in rows if row["low"] is not None]))
    drawn = alt.Chart(alt.InlineData(values=rows))
    layers = [
        known.mark_rule(strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=x, y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q", color=paint
        ),
        drawn.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=paint, strokeDash=dashes),
        drawn.mark_point(filled=True, size=55).encode(
            x=x,
            y=y,
            color=paint,
            shape=alt.Shape("label:N", scale=theme.shapes(systems, labels), legend=legend),
            tooltip=tooltip,
        ),
    ]
    if limit:
        held = [{"at": one.at, "value": one.value, "words": one.label} for one in limit]
        base = alt.Chart(alt.InlineData(values=held))
        layers.insert(0, base.mark_line(strokeDash=[5, 4], color="gray", strokeWidth=2).encode(x=x, y=y))
        end = alt.Chart(alt.InlineData(values=held[-1:]))
        layers.append(end.mark_text(align="right", dy=-9, color="gray").encode(x=x, y=y, text="words:N"))
    return alt.layer(*layers).properties(width="container", height=HEIGHT)


def _alternative(dots: Sequence[Dot], title: str, limit: Sequence[Dot]) -> str:
    parts = []
    for label in dict.fromkeys(one.label for one in (*dots, *limit)):
        own = sorted((one for one in (*dots, *limit) if one.label == label), key=lambda one: one.at)
        ends = [own[0], own[-1]] if len(own) > 1 else own
        parts.append(f"{label} " + ", ".join(f"{quantity.number(one.value)} at {one.at:g}" for one in ends))
    return f"{title}, one line for each system: {'; '.join(parts)}."


def _table(dots: Sequence[Dot], names: Axes, limit: Sequence[Dot]) -> Table:
    columns = ["System", names.along, names.value, "95 % interval", "Trials"]
    rows = []
    for one in (*dots, *limit):
        spread = f"none: fewer than {FEWEST_TRIALS} trials"
        if one.low is not None and one.high is not None:
            spread = f"{quantity.number(one.low)} to {quantity.number(one.high)}"
        rows.append([one.label, f"{one.at:g}", quantity.number(one.value), spread, str(one.trials)])
    return Table(columns, rows, numeric=frozenset({*columns[1:3], "Trials"}))
