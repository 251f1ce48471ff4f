"""Figures of a page: an interactive chart, a static drawing, an alternative text and a table of the same values."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import altair as alt

from benchbook.report import compact, theme
from benchbook.report.table import (
    Block,
    Markdown,
    Missing,
    Table,
    displayed,
    escape_html,
    escape_markdown,
)

T = TypeVar("T")

POINTS = 250
"""Most points in a row of a chart; means and intervals include every trial."""


def evenly(items: Sequence[T], most: int = POINTS) -> Sequence[T]:
    """Return at most ``most`` of the items, evenly spaced, including the first and the last.

    >>> evenly(range(10), 4)
    [0, 3, 6, 9]
    >>> evenly([1, 2], 4)
    [1, 2]
    """
    if len(items) <= most:
        return items
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def note(counts: Iterable[int], most: int = POINTS) -> str:
    """Return the note below a chart that does not draw every trial; empty if it does.

    >>> note([3, 5000])
    'The chart draws at most 250 of the 5,000 trials of a setup; means and intervals include all.'
    """
    largest = max(counts, default=0)
    if largest <= most:
        return ""
    return f"The chart draws at most {most} of the {largest:,} trials of a setup; means and intervals include all."


AXIS_TITLE = 44
"""Characters in a line of a horizontal axis' title that fit below a chart on a page of 390 pixels."""
PRINT_INK = "#222222"
"""Replacement of ``currentColor`` outside the page, as in a PDF."""


LINK = re.compile(r"</?a\b[^>]*>")


@dataclass(frozen=True)
class Figure:
    """A chart with its title, its alternative text and its table.

    The chart's function computes ``title`` and ``alt`` from the data: a title states the finding.
    """

    title: str
    chart: alt.TopLevelMixin
    alt: str
    table: Table
    note: str = ""
    subtitle: str = ""
    """What is drawn: metric, unit, kind of axis, which values are better, number of trials."""
    width: int = theme.STATIC_WIDTH
    """Width of the static drawing in pixels, close to its width in the page, so that its text fits."""
    option: str = ""
    """Its name among figures that a reader chooses from, such as that of a baseline."""
    others: tuple[Figure, ...] = ()
    """The figures that a reader may choose in its place, each with an ``option``; print and PDF have none of them."""
    choice: str = ""
    """What is chosen, for the label and the address of the page: "baseline"."""

    @functools.cached_property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification with its data; axis titles are broken into lines that fit a phone."""
        # The tests validate every chart; validating here would take a third of the time of a page.
        made = self.chart.to_dict(validate=False)
        _wrap_titles(made)
        return made

    @functools.cached_property
    def name(self) -> str:
        """An identifier that depends only on the content, so that rendering is reproducible."""
        content = json.dumps([self.title, self.spec], sort_keys=True)
        return "figure-" + hashlib.sha256(content.encode()).hexdigest()[:10]

    @functools.cached_property
    def svg(self) -> str:
        """The static drawing, with ids that are unique to this figure."""
        import vl_convert

        drawn = vl_convert.vegalite_to_svg({**_visible(self.spec), "width": self.width})
        drawn = LINK.sub("", drawn)  # nothing inside a hidden drawing may be focused
        drawn = re.sub(r'(id="|url\(#)(?=[A-Za-z]+\d+)', rf"\g<1>{self.name}-", drawn)
        return re.sub(
            r'<svg ([^>]*?) width="[\d.]+" height="[\d.]+"', r'<svg \1 aria-hidden="true"', drawn, count=1
        )

    def html(self) -> str:
        """Return the figure for a page, and hidden behind it those that may be chosen in its place."""
        if not self.others:
            return self._html()
        hidden = "".join(replace(other, width=self.width)._html(hidden=True) for other in self.others)
        return f'<div class="bb-choice" data-choice="{escape_html(self.choice)}">{self._html()}{hidden}</div>'

    def _html(self, *, hidden: bool = False) -> str:
        """Return this figure alone; the script of the page draws ``bb-live`` from the specification."""
        named = f' data-option="{escape_html(self.option)}"' if self.option else ""
        named += " hidden" if hidden else ""
        note = f'<p class="bb-note">{escape_html(self.note)}</p>' if self.note else ""
        below = f'<span class="bb-what">{escape_html(self.subtitle)}</span>' if self.subtitle else ""
        return (
            f'<figure class="bb-figure" id="{self.name}"{named}>'
            f"<figcaption>{escape_html(self.title)}{below}</figcaption>"
            f'<div class="bb-chart" role="img" aria-label="{escape_html(self.alt)}">'
            f'<div class="bb-static">{compact.drawing(self.svg, self.name)}</div>'
            '<div class="bb-live" aria-hidden="true"></div></div>'
            f'<script type="application/json" class="bb-spec">{compact.specification(self.spec)}</script>{note}'
            f'<details class="bb-data"><summary>Table</summary>{self.table.html()}</details></figure>'
        )

    def markdown(self) -> str:
        """Return the title, what is drawn, and the drawing, which a PDF keeps on one page."""
        drawing = base64.b64encode(self.svg.replace("currentColor", PRINT_INK).encode()).decode()
        below = f"\\\n{escape_markdown(self.subtitle)}" if self.subtitle else ""
        note = f"\n\n{escape_markdown(self.note)}" if self.note else ""
        parts = [
            _typst("#block(breakable: false)["),
            f"**{escape_markdown(self.title)}**{below}",
            f"![](data:image/svg+xml;base64,{drawing}){{width=100%}}{note}",
            _typst("]"),
        ]
        return "\n\n".join(parts)

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        bundle = {
            "text/html": self.html(),
            "image/svg+xml": self.svg.replace("currentColor", PRINT_INK),
            "text/plain": f"{self.title}. {self.alt}",
        }
        return displayed(bundle, self.markdown)


def _typst(code: str) -> str:
    """Return code for a PDF as a block of Markdown, which other formats leave out."""
    return f"```{{=typst}}\n{code}\n```"


def _visible(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without layers that only catch the pointer, which a static drawing has no use for."""
    layers = [part for part in spec.get("layer", ()) if part.get("mark", {}).get("opacity") != 0]
    return {**spec, "layer": layers} if layers else spec


def lines_of(title: str) -> list[str]:
    """Return a title in as few lines as possible, of about equal length.

    >>> lines_of("PostgreSQL over SeaweedFS: right of 1 is faster")
    ['PostgreSQL over SeaweedFS:', 'right of 1 is faster']
    """
    fewest = len(textwrap.wrap(title, AXIS_TITLE))
    widths = range(len(title) // fewest, AXIS_TITLE + 1)
    return next(lines for width in widths if len(lines := textwrap.wrap(title, width)) == fewest)


def _wrap_titles(spec: dict[str, Any]) -> None:
    """Break the titles of horizontal axes, including those of nested charts, into lines that fit a phone."""
    below = spec.get("encoding", {}).get("x", {})
    for place in (below, below.get("axis") or {}):
        if isinstance(place.get("title"), str) and len(place["title"]) > AXIS_TITLE:
            place["title"] = lines_of(place["title"])
    for group in ("layer", "hconcat", "vconcat", "concat"):
        for part in spec.get(group, ()):
            _wrap_titles(part)
    if isinstance(spec.get("spec"), dict):
        _wrap_titles(spec["spec"])


VIEW_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
TITLE_LINE = 18
"""Height of a line of a title in a drawing of several figures, in pixels."""
TITLE_CHARACTER = 7
"""Width of its average character, in pixels."""


@dataclass(frozen=True)
class Figures:
    """Several figures, side by side if the page is wide enough."""

    figures: Sequence[Figure]
    """Each drawn at ``theme.HALF_WIDTH``."""
    note: str = ""

    def html(self) -> str:
        """Return the figures in a grid of the page."""
        if not self.figures:
            return ""
        note = f'<p class="bb-note">{escape_html(self.note)}</p>' if self.note else ""
        return f'<div class="bb-figures">{"".join(figure.html() for figure in self.figures)}</div>{note}'

    def markdown(self) -> str:
        """Return the figures in two columns of a PDF."""
        if not self.figures:
            return ""
        between = f"\n\n{_typst('], [')}\n\n"
        grid = [
            _typst("#grid(columns: (1fr, 1fr), gutter: 1.5em, ["),
            between.join(figure.markdown() for figure in self.figures),
            _typst("])"),
        ]
        return "\n\n".join([*grid, escape_markdown(self.note)])

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        plain = "\n".join(f"{figure.title}. {figure.alt}" for figure in self.figures)
        made = {"text/html": self.html(), "text/plain": f"{plain}\n{self.note}".strip()}
        drawn = {"image/svg+xml": _stacked(self.figures)} if self.figures else {}
        return displayed(made | drawn, self.markdown)


def _stacked(figures: Sequence[Figure]) -> str:
    """Return one drawing of several figures, each below its title, for PDF and notebooks."""
    parts, widest, top = [], 0.0, 0.0
    for figure in figures:
        drawn = figure.svg
        found = VIEW_BOX.search(drawn)
        width, height = (float(found[1]), float(found[2])) if found else (figure.width, figure.width)
        title = textwrap.wrap(figure.title, figure.width // TITLE_CHARACTER)
        for line in title:
            top += TITLE_LINE
            parts.append(f'<text x="0" y="{top:g}" font-weight="bold">{escape_html(line)}</text>')
        top += TITLE_LINE / 2
        place = f'<svg x="0" y="{top:g}" width="{width:g}" height="{height:g}" '
        parts.append(drawn.replace("<svg ", place, 1))
        top += height + TITLE_LINE
        widest = max(widest, width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest:g}" height="{top:g}" viewBox="0 0 {widest:g} {top:g}"'
        f' font-family="sans-serif" font-size="13" fill="{PRINT_INK}">{"".join(parts)}</svg>'
    ).replace("currentColor", PRINT_INK)


def shown(*charts: Figure | Figures | Markdown) -> Figures | Block:
    """Return the charts side by side, without those that lack data; sentences of refused charts come first."""
    figures = [
        replace(one, width=theme.HALF_WIDTH)
        for chart in charts if not isinstance(chart, Markdown)
        for one in (chart.figures if isinstance(chart, Figures) else [chart])
    ]  # fmt: skip
    said = [one for one in charts if isinstance(one, Markdown) and not isinstance(one, Missing)]
    notes = "".join(one.html() for one in said)
    drawn = Figures(figures)
    if not said:
        return drawn
    written = "\n\n".join(one.markdown for one in said)
    return Block(notes + drawn.html(), written, f"{written}\n\n{drawn.markdown()}")
