"""Latency by percentile, from the trials' histograms merged: the shape that a mean hides.

The horizontal axis is 1 / (1 - percentile) on a logarithmic scale, as HdrHistogram draws it: each step
to the right is one more nine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.report import axis as axes
from benchbook.report import cell as cells_of
from benchbook.report import quantity, scaled, theme
from benchbook.report.cell import Cell
from benchbook.report.comparison import refused
from benchbook.report.figure import Figure, Figures
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

STEPS = 48
"""Points of a curve; between them the distribution is drawn straight."""
SHOWN = (50.0, 90.0, 95.0, 99.0, 99.9, 100.0)
"""Percentiles of the table."""
HEIGHT = 240


@dataclass(frozen=True)
class Curve:
    """The distribution of one cell in one phase, over all its trials. Latencies in seconds."""

    cell: Cell
    count: int
    points: tuple[tuple[float, float], ...]
    """(1 / (1 - percentile), latency)."""
    shown: tuple[float, ...]
    """Latency at each of ``SHOWN``."""


def chart(run: Run, phase: str | None = None) -> Figures | Words:
    """Draw one figure a query phase (or the one of ``phase``), one line a cell."""
    title = "Latency by percentile"
    if words := refused(run, title):
        return words
    phases = [phase] if phase else run.phases("query")
    figures = [figure for name in phases if (figure := _figure(run, name)) is not None]
    if not figures:
        return missing(title, "no trial of this run that counts has a histogram of a query phase")
    return Figures(figures)


def curves(run: Run, phase: str) -> list[Curve]:
    """Return the merged distribution of each cell that has one in ``phase``; warm-up operations are left out."""
    import polars as pl

    from benchbook.analyse import histogram

    rows = run.frame("histograms").filter(
        (pl.col("phase") == phase) & (pl.col("kind") == "latency") & ~pl.col("warmup")
    )
    joined = run.ok.select("trial_id", "cell").join(rows, on="trial_id", how="inner", maintain_order="left")
    made = []
    for cell in cells_of.cells(run):
        encoded = joined.filter(pl.col("cell") == cell.name)["histogram"].to_list()
        if not encoded:
            continue
        merged = histogram.merge(encoded)
        if not merged.count:
            continue
        nines = [merged.count ** (step / (STEPS - 1)) for step in range(STEPS)]
        made.append(
            Curve(
                cell,
                merged.count,
                tuple((nine, merged.percentile(100.0 * (1 - 1 / nine)) or 0.0) for nine in nines),
                tuple(merged.percentile(percentile) or 0.0 for percentile in SHOWN),
            )
        )
    return made


def _figure(run: Run, phase: str) -> Figure | None:
    found = curves(run, phase)
    if not found:
        return None
    return Figure(
        scaled.title(run, f"{phase}: latency by percentile"),
        _draw(found),
        _alternative(phase, found),
        _table(found),
        width=theme.HALF_WIDTH,
    )


def _draw(found: list[Curve]) -> Any:
    import altair as alt

    largest = max(latency for curve in found for _, latency in curve.points)
    divisor, unit = quantity.scale(largest, "s")
    labels = [curve.cell.label for curve in found]
    systems = [curve.cell.system for curve in found]
    rows: list[dict[str, Any]] = [
        {
            "cell": curve.cell.label,
            "nines": round(nine, 6),
            "latency": float(f"{latency / divisor:.5g}"),
            "percentile": f"{100 * (1 - 1 / nine):.4g} %",
        }
        for curve in found
        for nine, latency in curve.points
    ]
    last = max(curve.count for curve in found)
    ticks = [2, *(10**power for power in range(1, 9) if 10**power <= last)]
    x = alt.X(
        "nines:Q",
        title="Percentile",
        scale=alt.Scale(type="log", domain=[1, last], nice=False),
        axis=alt.Axis(values=ticks, labelExpr="format(100 * (1 - 1 / datum.value), '.5~f') + ' %'"),
    )
    scale, axis = axes.logarithmic(
        [row["latency"] for row in rows if row["latency"] > 0], f"Latency ({unit})"
    )
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="monotone")
        .encode(
            x=x,
            y=alt.Y("latency:Q", scale=scale, axis=axis),
            color=alt.Color("cell:N", scale=theme.colours(systems, labels), legend=theme.legend(labels)),
            strokeDash=alt.StrokeDash("cell:N", scale=theme.dashes(systems, labels)),
            tooltip=[
                alt.Tooltip("cell:N"),
                alt.Tooltip("percentile:N"),
                alt.Tooltip("latency:Q", title=f"latency, {unit}"),
            ],
        )
        .properties(width="container", height=HEIGHT)
    )


def _alternative(phase: str, found: list[Curve]) -> str:
    parts = [
        f"{curve.cell.label} has a median of {quantity.text(curve.shown[0], 's')}, a 99th percentile of "
        f"{quantity.text(curve.shown[3], 's')} and a longest of {quantity.text(curve.shown[-1], 's')} over "
        f"{quantity.count(curve.count)} queries"
        for curve in found
    ]
    return f"Latency of {phase} by percentile, one line for each system: {'; '.join(parts)}."


def _table(found: list[Curve]) -> Table:
    names = [f"{percentile:g} %" if percentile < 100 else "Longest" for percentile in SHOWN]
    rows = [
        [curve.cell.label, quantity.count(curve.count), *(quantity.text(value, "s") for value in curve.shown)]
        for curve in found
    ]
    return Table(["System", "Queries", *names], rows, numeric=frozenset(["Queries", *names]))
