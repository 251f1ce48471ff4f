"""Heat map of latency over time, from histograms of intervals, which shows stalls and drifts within a phase.

The x axis is time, the y axis latency on a logarithmic scale; darker fields have more operations. The map combines all
trials of a cell, so fields of events that occur in every trial at the same time are dark.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing

if TYPE_CHECKING:
    from benchbook.measure.histogram import Histogram

TIMES = 40
"""Most columns; a chart of half a page's width cannot show more."""
BANDS_PER_DECADE = 8
"""Rows per decade of latency."""
HEIGHT = 200
TITLE = "Latency over time"
SHOWN = 10
"""Periods in the table."""


@dataclass(frozen=True)
class Field:
    """One field of the map: its position and the operations that ended in it."""

    begin: float
    end: float
    """Seconds since the start of the phase."""
    low: float
    high: float
    """Latency, s."""
    operations: int


@dataclass(frozen=True)
class Map:
    """The fields of one cell in one phase."""

    cell: Cell
    phase: str
    fields: tuple[Field, ...]
    worst: tuple[tuple[float, float, int, float, float], ...]
    """Periods with the longest latencies: begin, end (s), operations, median and longest latency (s)."""


def chart(run: Run, phase: str | None = None) -> Figures | Markdown:
    """Draw a figure for each cell, of each load phase or of ``phase``."""
    phases = [phase] if phase else run.loads
    found = [one for name in phases for one in maps(run, name)]
    if not found:
        return missing(TITLE, "no valid trial of this run has histograms of intervals")
    return Figures([_figure(run, one) for one in found])


def maps(run: Run, phase: str) -> list[Map]:
    """Return the map of each cell that has histograms of intervals in ``phase``, without warm-up."""
    held: dict[str, list[tuple[float, float, str]]] = {}
    for cell, started, length, histogram in run.histograms_of(phase).iter_rows():
        held.setdefault(cell, []).append((started, length, histogram))
    return [_map(cell, phase, held[cell.name]) for cell in labelled(run) if cell.name in held]


def _map(cell: Cell, phase: str, rows: list[tuple[float, float, str]]) -> Map:
    """Merge the histograms of each period, then count operations in bands of latency."""
    from benchbook.measure import histogram

    last = max(start + length for start, length, _ in rows)
    # Columns are at least as wide as an interval: a narrower one could be empty and look like a stall.
    longest = max(length for _, length, _ in rows)
    count = max(1, min(TIMES, math.floor(last / longest + 1e-6) if longest > 0 else 1))
    width = last / count
    columns: list[list[str]] = [[] for _ in range(count)]
    for start, length, encoded in rows:
        columns[min(count - 1, int((start + length / 2) / width))].append(encoded)
    fields: list[Field] = []
    stretches = []
    for number, held in enumerate(columns):
        if not held:
            continue
        merged = histogram.merge(held)
        begin, end = number * width, (number + 1) * width
        fields += [Field(begin, end, *band) for band in bands(merged)]
        stretches.append(
            (begin, end, merged.count, merged.percentile(50.0) or 0.0, merged.max_seconds or 0.0)
        )
    worst = sorted(sorted(stretches, key=lambda one: -one[4])[:SHOWN])
    return Map(cell, phase, tuple(fields), tuple(worst))


EDGES = [10 ** (power / BANDS_PER_DECADE) for power in range(-7 * BANDS_PER_DECADE, 4 * BANDS_PER_DECADE + 1)]
"""Edges of the bands of latency, s: from 100 ns to 10,000 s."""


def bands(held: Histogram) -> list[tuple[float, float, int]]:
    """Return (lowest, highest latency in s, operations) of each band that is not empty."""
    counts: dict[int, int] = {}
    for low, high, number in held.bars:
        place = min(len(EDGES) - 1, max(1, bisect.bisect_right(EDGES, (low + high) / 2e9)))
        counts[place] = counts.get(place, 0) + number
    return [(EDGES[place - 1], EDGES[place], number) for place, number in sorted(counts.items())]


def _figure(run: Run, one: Map) -> Figure:
    title = theme.scaled_title(run, f"{TITLE} in {one.phase}: {one.cell.label}")
    return Figure(title, _draw(one), _alternative(one), _table(one), width=theme.HALF_WIDTH)


def _draw(one: Map) -> Any:
    import altair as alt

    divisor, unit = quantity.scale(max(field.high for field in one.fields), "s")
    # Opacity depends on the logarithm, so that single slow operations are visible.
    most = math.log1p(max(field.operations for field in one.fields))
    rows = [
        {
            "x": round(field.begin, 4),
            "x2": round(field.end, 4),
            "y": float(f"{field.low / divisor:.4g}"),
            "y2": float(f"{field.high / divisor:.4g}"),
            "n": field.operations,
            "o": round(0.12 + 0.88 * math.log1p(field.operations) / most, 3),
        }
        for field in one.fields
    ]
    lows = [field.low / divisor for field in one.fields]
    highs = [field.high / divisor for field in one.fields]
    scale, axis = axes.logarithmic([min(lows), max(highs)], f"Latency ({unit})")
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect(color=theme.colour(one.cell.system), strokeWidth=0)
        .encode(
            x=alt.X("x:Q", title="Seconds since the start of the phase", scale=alt.Scale(nice=False)),
            x2="x2:Q",
            y=alt.Y("y:Q", scale=scale, axis=axis),
            y2="y2:Q",
            opacity=alt.Opacity("o:Q", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("n:Q", title="operations"),
                alt.Tooltip("x:Q", title="from, s"),
                alt.Tooltip("y:Q", title=f"latency from, {unit}"),
                alt.Tooltip("y2:Q", title=f"to, {unit}"),
            ],
        )
        .properties(width="container", height=HEIGHT)
    )


def _alternative(one: Map) -> str:
    operations = sum(field.operations for field in one.fields)
    begin, end, _, _, longest = max(one.worst, key=lambda stretch: stretch[4])
    return (
        f"Latency of {quantity.count(operations)} operations of {one.cell.label} in {one.phase} over time, as a heat"
        f" map: darker fields have more operations. The longest, {quantity.text(longest, 's')}, ended between"
        f" {quantity.number(begin)} and {quantity.number(end)} s."
    )


def _table(one: Map) -> Table:
    columns = ["From (s)", "To (s)", "Operations", "Median", "Longest"]
    rows = [
        [
            quantity.number(begin),
            quantity.number(end),
            quantity.count(count),
            quantity.text(median, "s"),
            quantity.text(longest, "s"),
        ]
        for begin, end, count, median, longest in one.worst
    ]
    caption = f"The {len(rows)} periods with the longest latencies" if len(rows) == SHOWN else ""
    return Table(columns, rows, caption, frozenset(columns))
