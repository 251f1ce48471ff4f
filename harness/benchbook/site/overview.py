"""The forest plot of the index: a row for each comparison, the published ratio and the measured one."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse import grade
from benchbook.analyse.claims import Judgement
from benchbook.analyse.run import Run
from benchbook.declare.publication import Publication
from benchbook.report import claim, holding, theme
from benchbook.report.figure import Figure
from benchbook.report.table import Table
from benchbook.site import outcome

LINE = 52
"""Characters of a line of a statement that fit at 390 pixels."""
LINE_HEIGHT = 15
HEAD = 16
"""Height in pixels of a row's first lines: the comparison, and the answer with its numbers."""
MARK = 17
"""Distance in pixels from the last line of text to the mark."""
WORDS = 11
"""Distance in pixels from the mark to the words at both ends of the axis."""
ROW_GAP = 25
"""Height in pixels from the words to the next row."""
SHAPES = {"≥": "triangle-right", "≤": "triangle-left"}
"""Sign of a bound → shape of its mark."""
NARROWEST = 1e-3
WIDEST = 1e3
"""Ends of an interval beyond these are drawn at them, or at its outermost ratio."""


@dataclass(frozen=True)
class Row:
    """One claim with its published and its measured ratio."""

    name: str
    """Name of the comparison, and who published it when."""
    statement: str
    holds: str
    """Whether it holds, as a code."""
    word: str
    """Both answers for readers, such as "holds here, smaller"."""
    meaning: str
    """Definition of the answers."""
    shown: claim.Shown
    """The measured ratio with its interval, or those of the cases."""
    stated: claim.Stated
    """The published ratio or bound."""
    published: str
    """The same as text; of several cases, the least and the largest."""
    ends: tuple[str, str]
    """What a ratio left of 1 means, and right of 1."""

    @property
    def head(self) -> str:
        """The second line: answer and numbers."""
        answer = self.word[0].upper() + self.word[1:]
        measured = f": {self.shown.text}" if self.shown.values else ""
        return f"{answer}{measured}, published {self.published}" if self.stated.value else answer + measured


def row(run: Run, one: Judgement, publication: Publication | None) -> Row:
    """Return the row of a claim."""
    by = f" ({publication.by}, {publication.when})" if publication else ""
    return Row(
        name=f"{run.info['title'] or run.experiment}{by}",
        statement=one.statement.rstrip("."),
        holds=grade.reading(one).holds,
        word=claim.word(one),
        meaning=holding.meant(grade.reading(one)),
        shown=claim.shown(one),
        stated=claim.stated(one),
        published=claim.published_words(one),
        ends=outcome.ends(one, outcome.names(run, one, publication)),
    )


def figure(title: str, rows: Sequence[Row]) -> Figure:
    """Draw a row for each claim, on one logarithmic axis of ratios."""
    note = (
        "Hollow diamond: published; a triangle is a bound (at least, at most). Dot and bar: rerun, with its CI of at "
        "least 95 %; a claim with several cases has a dot for each. A ratio of 1 means no difference."
    )
    return Figure(title, _draw(rows), _alternative(title, rows), table(rows), note)


def table(rows: Sequence[Row]) -> Table:
    """Return the numbers of the picture."""
    columns = [
        "Comparison",
        "Claim",
        "Published",
        "Rerun (CI)",
        "Answer",
        "Left of 1",
        "Right of 1",
    ]
    cells = [[one.name, one.statement, one.published, one.shown.text, one.word, *one.ends] for one in rows]
    return Table(columns, cells, stacked=True)


def _alternative(title: str, rows: Sequence[Row]) -> str:
    parts = [
        f"{one.statement}: published {one.published}, rerun {one.shown.text}, {one.word}; left of 1 is {one.ends[0]}, "
        f"right of 1 is {one.ends[1]}"
        for one in rows
    ]
    return f"{title}. Forest plot on a logarithmic axis of ratios, {len(rows)} rows. {'. '.join(parts)}."


def _within(value: float) -> float:
    return min(max(value, NARROWEST), WIDEST)


def _draw(rows: Sequence[Row]) -> Any:
    import altair as alt

    placed, height = _placed(rows)
    values = [
        value
        for one in placed
        for value in (*one["values"], one["low"], one["high"], one["published"])
        if value is not None and value > 0 and math.isfinite(value)
    ]
    scale, axis = theme.logarithmic(
        [*values, *((1.0,) if values else (0.5, 1.0, 2.0))],
        "Ratio of the two sides (log scale)",
    )
    axis.grid = False
    answers = list(dict.fromkeys(one.holds for one in rows))
    x = alt.X("value:Q", scale=scale, axis=axis)
    vertical = alt.Scale(domain=[height, 0], nice=False, zero=False)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=vertical, axis=None)

    colour = alt.Color(
        "holds:N",
        scale=alt.Scale(domain=answers, range=[theme.answer_colour(one) for one in answers]),
        legend=None,
    )
    tooltip = [
        alt.Tooltip("statement:N", title="claim"),
        alt.Tooltip("claimed:N", title="published"),
        alt.Tooltip("ratio:N", title="rerun"),
        alt.Tooltip("answer:N"),
        alt.Tooltip("meaning:N"),
    ]

    def data(wanted: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=wanted))

    measured = [one | {"value": value} for one in placed for value in one["values"]]
    ranges = [one for one in placed if one["low"] is not None]
    stated = [one | {"value": one["published"]} for one in placed if one["published"] is not None]
    layers: list[Any] = [
        data(placed[1:]).mark_rule(opacity=0.16).encode(y=y("top"), x=alt.value(0), x2=alt.value("width")),
        data([one | {"value": 1} for one in placed])
        .mark_rule(strokeDash=[4, 3], opacity=0.6)
        .encode(x=x, y=y("above"), y2="words:Q"),
        data(ranges)
        .mark_rule(strokeWidth=7, opacity=0.38, strokeCap="round")
        .encode(y=y("mark"), x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour),
        data(measured)
        .mark_point(filled=True, size=110, shape="circle")
        .encode(y=y("mark"), x=x, color=colour, tooltip=tooltip),
    ]
    for shape in dict.fromkeys(one["shape"] for one in stated):
        own = [one for one in stated if one["shape"] == shape]
        layers.append(
            data(own)
            .mark_point(filled=False, size=150, shape=shape, stroke="currentColor", strokeWidth=2)
            .encode(y=y("mark"), x=x, tooltip=tooltip)
        )
    text: dict[str, Any] = {"baseline": "top", "lineHeight": LINE_HEIGHT, "lineBreak": "\n"}
    layers += [
        data(placed)
        .mark_text(align="left", opacity=0.8, **text)
        .encode(y=y("name_text"), x=alt.value(0), text="name:N"),
        data(placed)
        .mark_text(align="left", fontWeight="bold", **text)
        .encode(y=y("top_text"), x=alt.value(0), text="head:N"),
        data(placed)
        .mark_text(align="left", **text)
        .encode(y=y("statement_text"), x=alt.value(0), text="lines:N"),
        data(placed)
        .mark_text(align="left", fontSize=11, opacity=0.8, **text)
        .encode(y=y("words"), x=alt.value(0), text="left:N"),
        data(placed)
        .mark_text(align="right", fontSize=11, opacity=0.8, **text)
        .encode(y=y("words"), x=alt.value("width"), text="right:N"),
    ]
    return alt.layer(*layers).properties(width="container", height=height)


def _placed(rows: Sequence[Row]) -> tuple[list[dict[str, Any]], int]:
    """Return the rows with the heights of their parts in pixels from the top, and the height of all."""
    placed = []
    top = 0
    for one in rows:
        lines = textwrap.wrap(one.statement, LINE) or [""]
        mark = top + 4 + 2 * HEAD + LINE_HEIGHT * len(lines) + MARK
        placed.append(
            {
                "top": top - 2,
                "name_text": top + 6,
                "top_text": top + 6 + HEAD,
                "statement_text": top + 6 + 2 * HEAD,
                "above": mark - WORDS,
                "mark": mark,
                "words": mark + WORDS,
                "name": one.name,
                "head": one.head,
                "lines": "\n".join(lines),
                "statement": one.statement,
                "holds": one.holds,
                "answer": one.word,
                "meaning": one.meaning,
                "values": list(one.shown.values),
                "low": min((_within(one.shown.low), *one.shown.values))
                if one.shown.low is not None
                else None,
                "high": max((_within(one.shown.high), *one.shown.values))
                if one.shown.high is not None
                else None,
                "published": one.stated.value or None,
                "shape": SHAPES.get(one.stated.kind, "diamond"),
                "claimed": one.published,
                "ratio": one.shown.text,
                "left": f"← {one.ends[0]}",
                "right": f"{one.ends[1]} →",
            }
        )
        top = mark + WORDS + ROW_GAP
    return placed, top - ROW_GAP + LINE_HEIGHT + 6
