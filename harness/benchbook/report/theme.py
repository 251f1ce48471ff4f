"""The one Altair theme: legible on light, dark and printed pages and at the width of a phone.

Text and lines are drawn in ``currentColor`` on no background, so a chart takes the colour of the page's
own text. The width is that of the container; the height is in pixels and grows with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from altair.utils import schemapi

from benchbook.report import colour
from benchbook.report.colour import DASHES, SHAPES

# A chart is held against the schema once, whole, when it becomes a specification; not each of its parts as well.
schemapi.disable_debug_mode()

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
STATIC_WIDTH = 720
"""Width in pixels of the drawing that stands in the page for readers without JavaScript and for print."""
HALF_WIDTH = 430
"""The same for charts that stand two abreast."""
LABEL_LIMIT = 150
"""Pixels a row label may take, so that at 390 pixels more than half the width is left for the data."""
SHORT_LABEL = 20
"""Characters of a legend's label of which two stand beside each other at 390 pixels."""
LEGEND_LIMIT = 320
"""Pixels of a label that has a line of its own."""

ROW_HEIGHT = 46
"""Pixels of one row of points."""


@alt.theme.register("benchbook", enable=True)
def benchbook() -> alt.theme.ThemeConfig:
    """Return the configuration that every chart carries."""
    axis = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "domainOpacity": 0.45,
        "tickColor": "currentColor",
        "tickOpacity": 0.45,
        "gridColor": "currentColor",
        "gridOpacity": 0.13,
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": LABEL_LIMIT,
        "labelOverlap": "greedy",
        "tickCount": 5,
    }
    legend = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "top",
        "direction": "horizontal",
        "columns": 2,
        "labelLimit": LABEL_LIMIT,
        "title": None,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    }
    config: dict[str, Any] = {
        "background": "transparent",
        "font": FONT,
        "padding": {"left": 2, "right": 12, "top": 4, "bottom": 4},
        "view": {"stroke": None},
        "axis": axis,
        "legend": legend,
        "text": {"color": "currentColor", "font": FONT, "fontSize": 12},
        "rule": {"color": "currentColor"},
        "point": {"size": 55, "filled": True, "opacity": 1},
        "line": {"strokeWidth": 2},
    }
    return alt.theme.ThemeConfig(autosize={"type": "fit-x", "contains": "padding"}, config=config)  # type: ignore[typeddict-item]


def colours(systems: Sequence[str], labels: Sequence[str] | None = None) -> alt.Scale:
    """Return the colour scale of ``systems``, over their labels where the data carries those."""
    return alt.Scale(domain=list(labels or systems), range=[colour.colour(system) for system in systems])


def shapes(systems: Sequence[str], labels: Sequence[str] | None = None) -> alt.Scale:
    """Return the shape scale of ``systems``, over their labels where the data carries those.

    Several cells of one system have its colour and differ in shape.
    """
    return alt.Scale(domain=list(labels or systems), range=[SHAPES[place] for place in _places(systems)])


def dashes(systems: Sequence[str], labels: Sequence[str] | None = None) -> alt.Scale:
    """Return the dash scale of ``systems``, over their labels where the data carries those; chosen like shapes."""
    return alt.Scale(
        domain=list(labels or systems), range=[list(DASHES[place]) for place in _places(systems)]
    )


def _places(systems: Sequence[str]) -> list[int]:
    """Return the place of each one's shape: the system's own, and for a further cell of it the next that is free.

    Free is a shape that nothing of the same colour has, until there is none.
    """
    own = {system: SHAPES.index(colour.shape(system)) for system in systems}
    taken = {(colour.colour(system), place) for system, place in own.items()}
    places, met = [], set()
    for system in systems:
        paint, place = colour.colour(system), own[system]
        if system in met:
            others = [(place + step) % len(SHAPES) for step in range(1, len(SHAPES))]
            place = next((other for other in others if (paint, other) not in taken), place)
            taken.add((paint, place))
        met.add(system)
        places.append(place)
    return places


def legend(labels: Sequence[str], *, lines: bool = True) -> alt.Legend:
    """Return a legend of lines, or of points; long labels stand below each other, whole also on a phone."""
    drawn: dict[str, Any] = {"symbolType": "stroke"} if lines else {"symbolStrokeWidth": 0}
    if max(map(len, labels), default=0) > SHORT_LABEL:
        drawn |= {"columns": 1, "labelLimit": LEGEND_LIMIT}
    return alt.Legend(**drawn)
