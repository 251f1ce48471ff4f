"""The verdicts of a run as a picture: one row a claim or comparison, the colour and shape its verdict."""

from __future__ import annotations

from typing import Any

from benchbook.report import axis as axes
from benchbook.report import quantity
from benchbook.report.figure import Figure
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing
from benchbook.site.outcome import NOT_RANKED, STYLES, Outcome, outcomes

ROW_HEIGHT = 44
"""Pixels of one row: its words stand above its mark, so that they have the whole width of a phone."""


def chart(run: Run, title: str | None = None) -> Figure | Words:
    """Draw what a run came to; a sentence stands for it where there is nothing to judge."""
    name = title or f"Verdicts of {run.info['experiment']}"
    found = outcomes(run)
    if not found:
        return missing(name, "the run has no claims, and no two systems that gave the same answers")
    drawn = [one for one in found if one.verdict != NOT_RANKED]
    if not drawn:
        return missing(name, "its systems are not ranked with each other")
    note = "" if len(drawn) == len(found) else "What is not ranked stands in the table alone."
    return Figure(name, _draw(drawn), _alternative(drawn, name), table(found), note)


def table(found: list[Outcome]) -> Table:
    """Return one row an outcome: statement, verdict, ratio, published ratio, reason."""
    rows = [
        [
            one.statement,
            one.verdict,
            one.ratio(),
            quantity.number(one.published) if one.published is not None else quantity.MISSING,
            one.reason,
        ]
        for one in found
    ]
    return Table(["What", "Verdict", "Ratio (95 % interval)", "Published", "Why"], rows)


def _draw(found: list[Outcome]) -> Any:
    import altair as alt

    rows = [
        {
            "row": one.row,
            "label": f"{one.row}: {one.verdict}" + ("" if one.value is not None else ", no ratio"),
            "verdict": one.verdict,
            "ratio": one.value,
            "low": one.low,
            "high": one.high,
            "published": one.published,
            "words": one.ratio(),
            "what": one.statement,
        }
        for one in found
    ]
    order = list(dict.fromkeys(one.row for one in found))
    verdicts = [verdict for verdict in STYLES if any(one.verdict == verdict for one in found)]
    ends = [1.0] + [
        end for one in found for end in (one.value, one.low, one.high, one.published) if end is not None
    ]
    claims = any(one.published is not None for one in found)
    words = "Ratio measured (bar: interval; line: published)" if claims else found[0].axis
    scale, axis = axes.logarithmic(ends if len(ends) > 1 else [0.5, 1.0, 2.0], words)
    y = alt.Y("row:N", sort=None, scale=alt.Scale(domain=order, padding=0), axis=None)
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    colour = alt.Color(
        "verdict:N", scale=alt.Scale(domain=verdicts, range=[STYLES[one][0] for one in verdicts])
    )
    shape = alt.Shape(
        "verdict:N", scale=alt.Scale(domain=verdicts, range=[STYLES[one][1] for one in verdicts])
    )
    tooltip = [
        alt.Tooltip("what:N", title="what"),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("words:N", title="ratio"),
    ]
    measured = [row for row in rows if row["ratio"] is not None]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        alt.Chart(alt.InlineData(values=[row for row in measured if row["low"] is not None]))
        .mark_rule(strokeWidth=7, opacity=0.3, strokeCap="round")
        .encode(y=y, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour),
        alt.Chart(alt.InlineData(values=measured))
        .mark_point(filled=True, size=85)
        .encode(y=y, x=x, color=colour, shape=shape, tooltip=tooltip),
    ]
    if claims:
        layers.append(
            alt.Chart(alt.InlineData(values=[row for row in rows if row["published"] is not None]))
            .mark_tick(thickness=2.5, size=17, color="currentColor")
            .encode(y=y, x=alt.X("published:Q", scale=scale, axis=axis))
        )
    layers.append(
        alt.Chart(alt.InlineData(values=rows))
        .mark_text(align="left", baseline="bottom", dy=-8, dx=2)
        .encode(y=y, x=alt.value(0), text="label:N", tooltip=tooltip)
    )
    return alt.layer(*layers).properties(width="container", height=ROW_HEIGHT * len(order) + 8)


def _alternative(found: list[Outcome], name: str) -> str:
    parts = [f"{one.statement}: {one.verdict}, ratio {one.ratio()}" for one in found]
    return f"{name}, one row for each of {len(found)}. {'; '.join(parts)}."
