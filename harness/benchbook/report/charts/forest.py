"""Ratios as a forest: a line at 1, and for each row its interval, its mean and the points of its trials."""

from __future__ import annotations

from typing import Any

from benchbook.report import axis as axes

Rows = list[dict[str, Any]]


def layers(
    means: Rows, points: Rows, title: str, *, y: Any, offset: Any, paint: Any, shape: Any, names: Any
) -> Any:
    """Return the layers: ``means`` have ratio, low, high, words, ``points`` ratio and block, both what ``y`` names."""
    import altair as alt

    ends = [1.0, *(row["ratio"] for row in points)]
    ends += [row[end] for row in means for end in ("low", "high") if row[end]]
    scale, axis = axes.logarithmic(ends, title)
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    even = alt.Chart(alt.InlineData(values=[{"one": 1}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    return alt.layer(
        even.encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        alt.Chart(alt.InlineData(values=[row for row in means if row["low"] is not None]))
        .mark_rule(strokeWidth=7, opacity=0.28, strokeCap="round")
        .encode(y=y, yOffset=offset, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=paint),
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=False, strokeWidth=1.5, size=38)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=paint,
            shape=shape,
            tooltip=[
                *names,
                alt.Tooltip("block:O"),
                alt.Tooltip("ratio:Q", format=".3~g", title="times as good"),
            ],
        ),
        alt.Chart(alt.InlineData(values=means))
        .mark_tick(thickness=2.5, size=18, opacity=1)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=paint,
            tooltip=[*names, alt.Tooltip("words:N", title="times as good")],
        ),
    )
