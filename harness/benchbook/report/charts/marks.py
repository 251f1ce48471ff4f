"""Marks that charts of rows share: the 95 % CI as a pale bar, every trial as a point, the typical value as a tick."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchbook.report import links

Rows = list[dict[str, Any]]


def rows(
    means: Rows,
    points: Rows,
    scale: Any,
    axis: Any,
    *,
    y: Any,
    paint: Any,
    shape: Any,
    offset: Any = None,
    spread: Any = None,
    names: Sequence[Any] = (),
    tick: int = 18,
) -> list[Any]:
    """Return the layers.

    ``means`` have value, low, high, text and perhaps brief, which dashes the interval of a phase under a second;
    ``points`` have value and block, and perhaps trial, to whose page they lead. Both have the fields of the channels:
    ``offset`` separates the rows of one label, ``spread`` the points of one row. ``names`` are tooltips of both.
    """  # fmt: skip
    import altair as alt

    beside = {"yOffset": offset} if offset is not None else {}
    apart = {"yOffset": spread} if spread is not None else beside
    x, low = (alt.X(f"{field}:Q", scale=scale, axis=axis) for field in ("value", "low"))
    known = [row for row in means if row["low"] is not None]
    brief = [row for row in known if row.get("brief")]
    bands = ((known if not brief else [row for row in known if not row["brief"]], {"strokeCap": "round"}),
             (brief, {"strokeDash": [3, 3]}))  # fmt: skip
    return [
        *(
            alt.Chart(alt.InlineData(values=held))
            .mark_rule(strokeWidth=8, opacity=0.28, **style)
            .encode(y=y, x=low, x2="high:Q", color=paint, **beside)
            for held, style in bands if held
        ),
        linked(
            alt.Chart(alt.InlineData(values=points))
            .mark_point(filled=False, strokeWidth=1.5, size=45)
            .encode(
                y=y, x=x, color=paint, shape=shape, **apart,
                tooltip=[*names, alt.Tooltip("block:O"), alt.Tooltip("value:Q", format=".3~g")],
            ),
            points,
        ),
        alt.Chart(alt.InlineData(values=means))
        .mark_tick(thickness=2.5, size=tick, opacity=1)
        .encode(y=y, x=x, color=paint, **beside, tooltip=[*names, alt.Tooltip("text:N", title="typical (95 % CI)")]),
    ]  # fmt: skip


def linked(points: Any, held: Rows) -> Any:
    """Return a chart of points that lead to the page of their ``trial``; the chart itself if the page has no link."""
    where = links.page_address()
    if not where or not all(row.get("trial") for row in held):
        return points
    made = points.transform_calculate(href=f"{json.dumps(where + '#')} + datum.trial").encode(href="href:N")
    made.mark.cursor = "pointer"
    return made


def one(scale: Any, axis: Any) -> Any:
    """Return the dashed line at 1 of a chart of ratios."""
    import altair as alt

    line = alt.Chart(alt.InlineData(values=[{"one": 1}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    return line.encode(x=alt.X("one:Q", scale=scale, axis=axis))


def ends(means: Rows, points: Rows) -> list[float]:
    """Return all values that an axis must show."""
    return [row["value"] for row in points] + [
        row[end] for row in means for end in ("low", "high") if row[end]
    ]


def kind(scale: Any) -> str:
    """Return the kind of an axis in words."""
    return "logarithmic" if scale.to_dict().get("type") == "log" else "linear"
