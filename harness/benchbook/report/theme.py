"""The theme of all charts: colours, shapes, axes and labels.

``systems/<name>.toml`` declares the colour and shape of a system, which are the same in every chart. Colours are from
Okabe and Ito's set for colour-blind readers; colours of medium lightness replace its light ones. Each has a contrast of
at least 3 to 1 on white and on the dark page, and each pair stays distinct under protanopia and deuteranopia. Colour is
never the only distinction: rows have labels, and lines differ in shape and dash.

Text and lines use ``currentColor`` without a background, so a chart has the colour of the page's text. Charts are as
wide as their container; their height in pixels grows with the rows.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any, get_args

import altair as alt
from altair.utils import schemapi

from benchbook.analyse import judgement, scaled
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.system import Shape
from benchbook.errors import RequestError

PALETTE = {
    "blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "pink": "#CC79A7",
    "violet": "#7733FF", "crimson": "#E5004C", "periwinkle": "#6680FF", "plum": "#9B4B80",
}  # fmt: skip
HOLDS, CONTRARY, OPEN, NO_ANSWER = "#009E73", "#D55E00", "#858A93", "#7733FF"
ANSWERS: dict[str, str] = {
    "holds": HOLDS,
    **dict.fromkeys(judgement.CONTRARY, CONTRARY),
    "open": OPEN,
    "out of reach here": NO_ANSWER,
    "not comparable": NO_ANSWER,
}
"""Whether a claim holds → its colour on every page. Text beside it says the same: colour is not enough."""
SHAPES: tuple[str, ...] = get_args(Shape)
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (10, 4), (4, 1))
PLACES = len(PALETTE) * len(SHAPES)


@functools.cache
def _declared(system: str) -> tuple[str | None, str | None]:
    """Return the colour and shape that this checkout declares."""
    try:
        found = Catalogue().system(system)
    except RequestError:
        return None, None
    return found.colour, found.shape


def look(system: str) -> tuple[str, str]:
    """Return the names of the colour and the shape of ``system``.

    They come from its declaration in this checkout, or else from the digest of its name, so that a system looks the
    same on every page and a new system changes no other.

    >>> look("duckdb"), look("sqlite")
    (('blue', 'circle'), ('vermilion', 'square'))
    """
    colour, shape = _declared(system)
    drawn = int.from_bytes(hashlib.sha256(system.encode()).digest()[:4], "big") % PLACES
    return colour or list(PALETTE)[drawn % len(PALETTE)], shape or _shape_at(drawn)


def answer_colour(holds: str) -> str:
    """Return the colour of an answer as ``#rrggbb``; that of a comparison without a claim is grey.

    >>> answer_colour("holds"), answer_colour("better")
    ('#009E73', '#858A93')
    """
    return ANSWERS.get(holds, OPEN)


def slot(system: str) -> int:
    """Return the place of ``system`` among all pairs of colour and shape, which orders systems.

    >>> slot("duckdb"), slot("sqlite"), slot("cassandra-5.0.9")
    (0, 1, 9)
    """
    colour, shape = look(system)
    first = list(PALETTE).index(colour)
    return next(place for place in range(first, PLACES, len(PALETTE)) if _shape_at(place) == shape)


def _shape_at(place: int) -> str:
    """Return the shape of a place; within one colour, each round of the palette has another shape."""
    rounds = place // len(PALETTE)
    return SHAPES[(place + rounds + rounds // 2) % len(SHAPES)]


def colour(system: str) -> str:
    """Return the colour of ``system`` as ``#rrggbb``.

    >>> colour("sqlite")
    '#D55E00'
    """
    return PALETTE[look(system)[0]]


def shape(system: str) -> str:
    """Return the Vega name of the point shape of ``system``.

    >>> shape("duckdb"), shape("sqlite")
    ('circle', 'square')
    """
    return look(system)[1]


WIDTH = 22
"""Characters of a row label's line that fit in LABEL_LIMIT."""
LINE_HEIGHT = 13
"""Pixels of one line."""
BETWEEN = 10
"""Pixels between the labels of two rows."""


def lines(label: str) -> list[str]:
    """Return the lines of a label: the system, its flag, and each level that varies.

    >>> lines("OpenTSDB 2.4.1 on HBase 2.5.7 (answers differ), arm vanilla")
    ['OpenTSDB 2.4.1 on', 'HBase 2.5.7', '(answers differ)', 'arm vanilla']
    """
    parts = label.replace(" (", ", (").split(", ")
    return [line for part in parts for line in textwrap.wrap(part, WIDTH, break_on_hyphens=False) or [""]]


def expression(labels: Sequence[str]) -> str:
    """Return the Vega expression that maps each label to its lines."""
    return f"({json.dumps({label: lines(label) for label in labels}, ensure_ascii=False)})[datum.label]"


def height(labels: Sequence[str], least: int) -> int:
    """Return the height of a row in pixels, so that labels do not overlap."""
    most = max(len(lines(label)) for label in labels)
    return max(least, LINE_HEIGHT * most + BETWEEN)


LOG_RATIO = 20.0
"""Ratio of largest to smallest value beyond which a linear axis would hide the small ones."""
ROOM = 0.06
"""Free share of a logarithmic axis at either end."""

PLAIN = ".6~g"
SHORT = "format(datum.value, '.3~s')"
"""Format of large counts: 400k; ``format`` alone would write 0k for zero."""


def value(values: Sequence[float], title: str) -> tuple[alt.Scale, alt.Axis]:
    """Return scale and axis for ``values``: linear, or logarithmic if the largest is over 20 times the smallest."""
    positive = [one for one in values if one > 0]
    if positive and len(positive) == len(values) and max(positive) / min(positive) > LOG_RATIO:
        return logarithmic(values, title)
    return alt.Scale(zero=True, nice=True), _axis(title, max(values, default=0.0))


def logarithmic(values: Sequence[float], title: str) -> tuple[alt.Scale, alt.Axis]:
    """Return a logarithmic scale for positive ``values``, with round ticks."""
    low, high = min(values), max(values)
    room = max((high / low) ** ROOM, 1.02)
    low, high = low / room, high * room
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, _axis(title, high, ticks(low, high))


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two positive numbers, as many as a small chart can label.

    >>> ticks(0.9, 110), ticks(0.96, 1.05)
    ([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0], [0.96, 0.98, 1.0, 1.02, 1.04])
    """
    decades = math.log10(high / low)
    if decades < math.log10(3):
        step = 10 ** math.floor(math.log10(high - low))
        step = next(size for size in (step / 5, step / 2, step, step * 2) if (high - low) / size <= 5.5)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [float(f"{count * step:.10g}") for count in range(first, last + 1)]
    factors = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades <= 2.6 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{factor * 10.0**power:.10g}") for power in powers for factor in factors]
    return [one for one in found if low <= one <= high]


def _axis(title: str, largest: float, values: list[float] | None = None) -> alt.Axis:
    options: dict[str, Any] = {"values": values, "tickCount": len(values)} if values else {}
    if largest >= 10_000:
        return alt.Axis(title=title, labelExpr=SHORT, **options)
    return alt.Axis(title=title, format=PLAIN, **options)


# Altair validates the finished specification; validating each part as well is slow.
schemapi.disable_debug_mode()

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
STATIC_WIDTH = 720
"""Width in pixels of the static drawing, for readers without JavaScript and for print."""
HALF_WIDTH = 430
"""Width in pixels of the static drawing of a chart that shares a row with another."""
LABEL_LIMIT = 150
"""Largest width of a row label in pixels, which leaves more than half of a page of 390 pixels for the data."""
SHORT_LABEL = 20
"""Most characters of a legend's label of which two fit side by side at 390 pixels."""
LEGEND_LIMIT = 320
"""Largest width in pixels of a legend's label that has a separate line."""

ROW_HEIGHT = 46
"""Height in pixels of a row of points."""


@alt.theme.register("benchbook", enable=True)
def benchbook() -> alt.theme.ThemeConfig:
    """Return the configuration of every chart: legible on light, dark and printed pages, and on a phone."""
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
        # The figure has the alternative text; labels of single marks would double the page.
        "aria": False,
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
    """Return the colour scale of ``systems``, or of their ``labels`` if the data contains labels."""
    return alt.Scale(domain=list(labels or systems), range=[colour(system) for system in systems])


def shapes(systems: Sequence[str], labels: Sequence[str] | None = None) -> alt.Scale:
    """Return the shape scale of ``systems``, or of their ``labels`` if the data contains labels.

    Cells of one system have the same colour and different shapes.
    """
    return alt.Scale(domain=list(labels or systems), range=[SHAPES[place] for place in _places(systems)])


def dashes(systems: Sequence[str], labels: Sequence[str] | None = None) -> alt.Scale:
    """Return the dash scale of ``systems``, or of their ``labels`` if the data contains labels; chosen like shapes."""
    return alt.Scale(
        domain=list(labels or systems), range=[list(DASHES[place]) for place in _places(systems)]
    )


def _places(systems: Sequence[str]) -> list[int]:
    """Return the index of each shape: the system's shape, and for further cells of it the next free one.

    A shape is free while nothing of the same colour has it.
    """
    own = {system: SHAPES.index(shape(system)) for system in systems}
    taken = {(colour(system), place) for system, place in own.items()}
    places, met = [], set()
    for system in systems:
        paint, place = colour(system), own[system]
        if system in met:
            others = [(place + step) % len(SHAPES) for step in range(1, len(SHAPES))]
            place = next((other for other in others if (paint, other) not in taken), place)
            taken.add((paint, place))
        met.add(system)
        places.append(place)
    return places


def legend(labels: Sequence[str], *, lines: bool = True) -> alt.Legend:
    """Return a legend of lines or points; long labels are in one column, so that a phone shows them whole."""
    drawn: dict[str, Any] = {"symbolType": "stroke"} if lines else {"symbolStrokeWidth": 0}
    if max(map(len, labels), default=0) > SHORT_LABEL:
        drawn |= {"columns": 1, "labelLimit": LEGEND_LIMIT}
    return alt.Legend(**drawn)


def by_label(field: str, labels: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """Return the colour and the shape of each label, for things that are no systems; with one legend."""
    held = legend(labels, lines=False)
    colours_, shapes_ = (
        alt.Scale(domain=[*labels], range=list(every)[: len(labels)]) for every in (PALETTE.values(), SHAPES)
    )
    return alt.Color(field, legend=held, scale=colours_), alt.Shape(field, legend=held, scale=shapes_)


def scaled_title(run: Run, text: str) -> str:
    """Return the title of a chart, marked if the run is scaled."""
    return f"{text} (scaled)" if scaled.of_run(run) else text
