"""The store of packed days over MySQL, step by step from the published method to the same work.

A point is the ratio of one block, the upright tick their mean, the pale bar its 95 % interval; the open diamond is
the published ratio at the same number of stocks.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse.run import Run
from benchbook.report import quantity, scaled, theme
from benchbook.report import theme as axes
from benchbook.report.figure import Figure
from benchbook.report.steps import Step, steps
from benchbook.report.table import Table, Words, missing
from benchbook.report.theme import PALETTE, SHAPES

PUBLISHED = "published (QData over MySQL)"
WORDS = {
    "reads_per_second": "Reads a second",
    "latency_mean": "Mean latency",
    "latency_max": "Longest latency",
}


def chart(run: Run, phase: str, metric: str = "reads_per_second") -> Figure | Words:
    """Draw the steps of a phase."""
    title = f"{WORDS[metric]} of {phase} reads, packed days over tables"
    found = steps(run, phase, metric)
    if not found:
        return missing(title, "this run measured no cell of both that can be compared")
    title = f"{WORDS[metric]} of {phase} reads, packed days over {found[0].over}"
    axis = f"times {found[0].over}"
    return Figure(scaled.title(run, title), _draw(found, axis), _alternative(found, title), _table(found))


def _draw(found: list[Step], words: str) -> Any:
    import altair as alt

    order = list(dict.fromkeys(one.row for one in found))
    kinds = [*dict.fromkeys(one.asked for one in sorted(found, key=lambda one: one.asked))]
    means = [
        {
            "row": one.row, "kind": one.asked, "ratio": one.versus.value, "low": one.versus.ratio.low,
            "high": one.versus.ratio.high, "words": one.text(),
        }
        for one in found
    ]  # fmt: skip
    points = [
        {"row": one.row, "kind": one.asked, "ratio": ratio, "block": block}
        for one in found
        for block, ratio in _points(one)
    ]
    published = [
        {"row": row, "kind": PUBLISHED, "ratio": ratio, "words": quantity.number(ratio)}
        for row, ratio in dict.fromkeys((one.row, one.published) for one in found)
        if ratio
    ]
    every = [1.0, *(ratio for one in found for _, ratio in _points(one))]
    every += [one.published for one in found if one.published]
    every += [end for one in found for end in (one.versus.ratio.low, one.versus.ratio.high) if end]
    scale, axis = axes.logarithmic(every, words)
    named = [*kinds, *([PUBLISHED] if published else [])]
    y = alt.Y(
        "row:N", title=None, sort=None, scale=alt.Scale(domain=order, padding=0.15),
        # Lines between the rows: a row with fewer ways of asking than others is not filled to its middle.
        axis=alt.Axis(
            grid=True, ticks=False, tickBand="extent", labelExpr="split(datum.label, ', ')", labelLineHeight=13
        ),
    )  # fmt: skip
    offset = alt.YOffset("kind:N", sort=None, scale=alt.Scale(domain=named, padding=0.6))
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=360)
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=named, range=list(PALETTE[: len(named)])), legend=legend
    )
    shape = alt.Shape(
        "kind:N", scale=alt.Scale(domain=named, range=list(SHAPES[: len(named)])), legend=legend
    )

    def data(rows: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=rows))

    whole = [row for row in means if row["low"]]
    bands = [
        data(whole)
        .mark_rule(strokeWidth=8, opacity=0.28, strokeCap="round")
        .encode(y=y, yOffset=offset, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour)
    ]
    return alt.layer(
        data([{"one": 1}])
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        *(bands if whole else []),
        data(points)
        .mark_point(filled=False, strokeWidth=1.5, size=40)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=colour,
            shape=shape,
            tooltip=["row:N", "kind:N", "block:O", "ratio:Q"],
        ),
        data(means)
        .mark_tick(thickness=2.5, size=14, opacity=1)
        .encode(y=y, yOffset=offset, x=x, color=colour, tooltip=["row:N", "kind:N", "words:N"]),
        data(published)
        .mark_point(filled=False, strokeWidth=2, size=110)
        .encode(y=y, yOffset=offset, x=x, color=colour, shape=shape, tooltip=["row:N", "kind:N", "words:N"]),
    ).properties(width="container", height=max(theme.ROW_HEIGHT, 18 * len(named)) * len(order))


def _points(one: Step) -> list[tuple[int, float]]:
    above, below = one.versus.above.by_block, one.versus.below.by_block
    return [(block, above[block] / below[block]) for block in sorted(above.keys() & below.keys())]


def _alternative(found: list[Step], title: str) -> str:
    parts = [
        f"{one.row}, {one.asked}: {one.text()}"
        + (f", published {quantity.number(one.published)}" if one.published else "")
        for one in found
    ]
    return f"{title}, with 95 % intervals and a line at 1. {'; '.join(parts)}."


def _table(found: list[Step]) -> Table:
    rows = [
        [
            str(one.stocks), one.label, one.asked, one.text(), str(len(_points(one))),
            quantity.number(one.published) if one.published else quantity.MISSING,
        ]
        for one in found
    ]  # fmt: skip
    return Table(
        ["Stocks", "Step", "Packed days", "Times the tables (95 % interval)", "Blocks", "Published"],
        rows,
        numeric=frozenset({"Stocks", "Blocks", "Published"}),
    )
