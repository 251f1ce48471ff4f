"""The forest plot of the index: a row for each comparison, the published ratio and the measured one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import grade
from benchbook.analyse.claims import Judgement
from benchbook.analyse.grade import Reading
from benchbook.analyse.run import Run
from benchbook.declare.publication import Publication
from benchbook.report import claim, holding
from benchbook.report.charts import forest
from benchbook.report.table import Block, Details, Table, escape_html
from benchbook.site import outcome

NOTE = (
    "Diamond: published; with ≥ or ≤ it is a bound. Dot and bar: rerun, with its CI of at least 95 %; a claim with "
    "several cases has a dot for each. Thin line: the ratio to expect on another processor. All rows share one "
    "logarithmic axis of ratios; the dashed line is at 1, no difference."
)


@dataclass(frozen=True)
class Row:
    """One claim with its published and its measured ratio."""

    name: str
    """Name of the comparison."""
    by: str
    """Who published it when."""
    address: str
    """The page of the comparison."""
    statement: str
    reading: Reading
    word: str
    """Both answers for readers, such as "holds here, smaller"."""
    shown: claim.Shown
    """The measured ratio with its interval, or those of the cases."""
    stated: claim.Stated
    """The published ratio or bound."""
    published: str
    """The same as text; of several cases, the least and the largest."""
    was: str
    """What was published, and how: a number, a bound, or words."""
    ends: tuple[str, str]
    """What a ratio left of 1 means, and right of 1."""
    expect: tuple[float, float] | None = None
    """The ratio to expect on another processor."""


def row(run: Run, one: Judgement, publication: Publication | None) -> Row:
    """Return the row of a claim."""
    return Row(
        name=str(run.info["title"] or run.experiment),
        by=f"{publication.by}, {publication.when}" if publication else "",
        address=f"{run.experiment}.html",
        statement=one.statement.rstrip("."),
        reading=grade.reading(one),
        word=claim.word(one),
        shown=claim.shown(one),
        stated=claim.stated(one),
        published=claim.published_words(one),
        was=claim.was(one),
        ends=outcome.ends(one, outcome.names(run, one, publication)),
        expect=one.expect,
    )


def figure(title: str, rows: Sequence[Row]) -> Block:
    """Draw a row for each claim, which leads to its page, on one logarithmic axis of ratios."""
    scale = forest.scale_of([one.shown for one in rows], [one.stated.value for one in rows])
    drawn = "".join(_drawn(one, scale) for one in rows)
    far = f" {forest.FAR}" if forest.is_beyond(drawn) else ""
    numbers = table(rows)
    markup = (
        f'<div class="bb-forest bb-overview"><p><b>{escape_html(title)}</b></p>'
        f'<p class="bb-note">{escape_html(NOTE + far)}</p>{forest.plot(drawn, scale, above=True)}</div>'
        f"{Details('Table', numbers).html()}"
    )
    return Block(markup, f"**{title}**\n\n{numbers.markdown()}")


def _drawn(one: Row, scale: forest.Scale) -> str:
    by = f"<small>{escape_html(one.by)}</small>" if one.by else ""
    said = f'<a href="{escape_html(one.address)}">{escape_html(one.name)}</a>{by}{escape_html(one.statement)}'
    lane = forest.lane(scale, one.shown, one.stated.value, one.stated.kind, one.expect)
    left, right = (f"<small>{escape_html(text)}</small>" for text in (f"← {one.ends[0]}", f"{one.ends[1]} →"))
    published = f"<small>{escape_html(one.was)}</small>" if one.stated.value else ""
    measured = f"<b>{escape_html(one.shown.text)}</b>" if one.shown.values else ""
    return forest.parts(
        one.reading.holds,
        said,
        f'<span class="bb-sided">{lane}<span class="bb-ends">{left}{right}</span></span>',
        holding.marked(one.word, one.reading),
        measured + published,
    )


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
    cells = [
        [f"{one.name} ({one.by})", one.statement, one.published, one.shown.text, one.word, *one.ends]
        for one in rows
    ]
    return Table(columns, cells, stacked=True)
