"""A chart in a page: interactive, with a static drawing, a text and a table of the same values."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import altair as alt

from benchbook.report import theme
from benchbook.report.table import Table, escape_html

# The code that draws charts in a page: Vega, Vega-Lite and Vega-Embed, as vl-convert carries them.


@functools.cache
def bundle() -> str:
    """Return the code, safe inside a ``script`` element. Making it takes about a second; no network is used."""
    import vl_convert

    code = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # the stub asks for a snippet
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


# How many points a chart of very many trials draws: all of them, up to what can still be told apart.
#
# Means and intervals are always over every trial; only the points beside them are thinned, evenly over the
# order of the run, and the figure says so.

T = TypeVar("T")

POINTS = 250
"""Points of one row of a chart."""


def evenly(items: Sequence[T], most: int = POINTS) -> Sequence[T]:
    """Return at most ``most`` of the items, evenly spread, the first and the last among them.

    >>> evenly(range(10), 4)
    [0, 3, 6, 9]
    >>> evenly([1, 2], 4)
    [1, 2]
    """
    if len(items) <= most:
        return items
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def note(counts: Iterable[int], most: int = POINTS) -> str:
    """Return the words beside a chart that does not draw every trial; empty where it does.

    >>> note([3, 5000])
    'At most 250 of the 5,000 trials of a cell are drawn; means and intervals are over all of them.'
    """
    largest = max(counts, default=0)
    if largest <= most:
        return ""
    return f"At most {most} of the {largest:,} trials of a cell are drawn; means and intervals are over all of them."


# A chart in a page: an interactive drawing, a static one inside the page, words and a table that say the same.

AXIS_TITLE = 44
"""Letters of a line of the title of a horizontal axis: what stands below a drawing on a page of 390 pixels."""
PRINT_INK = "#222222"
"""What ``currentColor`` becomes where a drawing leaves the page, as in a PDF."""


@dataclass(frozen=True)
class Figure:
    """A chart with its title, its alternative text and its table.

    ``alt`` is computed from the data by the chart's function and says what the drawing shows.
    """

    title: str
    chart: alt.TopLevelMixin
    alt: str
    table: Table
    note: str = ""
    width: int = theme.STATIC_WIDTH
    """Width of the static drawing in pixels, near that at which the page shows it, so that its text fits."""

    @functools.cached_property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification with its data; titles below an axis are in lines that fit a phone."""
        made = self.chart.to_dict()
        _wrap_titles(made)
        return made

    @functools.cached_property
    def name(self) -> str:
        """An identifier that depends on the content only, so that a page renders to the same bytes twice."""
        content = json.dumps([self.title, self.spec], sort_keys=True)
        return "figure-" + hashlib.sha256(content.encode()).hexdigest()[:10]

    def svg(self) -> str:
        """Return the static drawing; its inner names are made unique to this figure."""
        import vl_convert

        drawn = vl_convert.vegalite_to_svg({**self.spec, "width": self.width})
        drawn = re.sub(r'(id="|url\(#)(?=[A-Za-z]+\d+)', rf"\g<1>{self.name}-", drawn)
        return re.sub(
            r'<svg ([^>]*?) width="[\d.]+" height="[\d.]+"', r'<svg \1 aria-hidden="true"', drawn, count=1
        )

    def html(self) -> str:
        """Return the figure for a page; the page's own script draws ``bb-live`` from the specification."""
        spec = json.dumps(self.spec, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        note = f'<p class="bb-note">{escape_html(self.note)}</p>' if self.note else ""
        return (
            f'<figure class="bb-figure" id="{self.name}"><figcaption>{escape_html(self.title)}</figcaption>'
            f'<div class="bb-chart" role="img" aria-label="{escape_html(self.alt)}">'
            f'<div class="bb-static">{self.svg()}</div><div class="bb-live"></div></div>'
            f'<script type="application/json" class="bb-spec">{spec}</script>{note}'
            f'<details class="bb-data"><summary>Table</summary>{self.table.html()}</details></figure>'
        )

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        page = self.html()
        drawn = page.partition('<div class="bb-static">')[2].partition("</svg>")[0] + "</svg>"
        return {
            "text/html": page,
            "image/svg+xml": drawn.replace("currentColor", PRINT_INK),
            "text/plain": f"{self.title}. {self.alt}",
        }


def lines_of(title: str) -> list[str]:
    """Return a title in as few lines as fit, of about the same length.

    >>> lines_of("PostgreSQL over SeaweedFS: right of 1 is faster")
    ['PostgreSQL over SeaweedFS:', 'right of 1 is faster']
    """
    fewest = len(textwrap.wrap(title, AXIS_TITLE))
    widths = range(len(title) // fewest, AXIS_TITLE + 1)
    return next(lines for width in widths if len(lines := textwrap.wrap(title, width)) == fewest)


def _wrap_titles(spec: dict[str, Any]) -> None:
    """Break the titles of horizontal axes, of this drawing and of those in it, into lines that a phone shows whole."""
    below = spec.get("encoding", {}).get("x", {})
    for place in (below, below.get("axis") or {}):
        if isinstance(place.get("title"), str) and len(place["title"]) > AXIS_TITLE:
            place["title"] = lines_of(place["title"])
    for group in ("layer", "hconcat", "vconcat", "concat"):
        for part in spec.get(group, ()):
            _wrap_titles(part)
    if isinstance(spec.get("spec"), dict):
        _wrap_titles(spec["spec"])


@dataclass(frozen=True)
class Figures:
    """Several figures side by side where the page is wide enough."""

    figures: Sequence[Figure]
    """Each drawn at ``theme.HALF_WIDTH``."""
    note: str = ""

    def html(self) -> str:
        """Return the figures in a grid of the page."""
        note = f'<p class="bb-note">{escape_html(self.note)}</p>' if self.note else ""
        return f'<div class="bb-figures">{"".join(figure.html() for figure in self.figures)}</div>{note}'

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        plain = "\n".join(f"{figure.title}. {figure.alt}" for figure in self.figures)
        return {"text/html": self.html(), "text/plain": f"{plain}\n{self.note}".strip()}
