"""Charts of latency by percentile and by query type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.metric import describe
from benchbook.report import figure, links, theme
from benchbook.report import theme as axes
from benchbook.report.charts import lead, marks, strip
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing

# Latency by percentile. The x axis is 1 / (1 - percentile) on a logarithmic scale, as HdrHistogram draws it: each
# decade is one more nine.

STEPS = 48
"""Points of a curve."""
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


def percentiles_chart(run: Run, phase: str | None = None) -> Figures | Markdown:
    """Draw a figure for each query phase (or for ``phase``), with a line for each cell."""
    title = "Latency by percentile"
    if refusal := refused(run, title):
        return refusal
    phases = [phase] if phase else run.queries
    figures = [figure for name in phases if (figure := _figure(run, name)) is not None]
    if not figures:
        return missing(title, "no valid trial of this run has a histogram of a query phase")
    return Figures(figures)


def curves(run: Run, phase: str) -> list[Curve]:
    """Return the merged distribution of each cell that has one in ``phase``, without warm-up."""
    import polars as pl

    from benchbook.measure import histogram

    rows = run.frame("histograms").filter(
        (pl.col("phase") == phase) & (pl.col("kind") == "latency") & ~pl.col("warmup")
    )
    joined = run.ok.select("trial_id", "cell").join(rows, on="trial_id", how="inner", maintain_order="left")
    made = []
    for cell in labelled(run):
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
        theme.scaled_title(run, f"{phase}: latency by percentile"),
        _latency_draw(found),
        _latency_alternative(phase, found),
        _latency_table(found),
        width=theme.HALF_WIDTH,
    )


def _latency_draw(found: list[Curve]) -> Any:
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


def _latency_alternative(phase: str, found: list[Curve]) -> str:
    parts = [
        f"{curve.cell.label} has a median of {quantity.text(curve.shown[0], 's')}, a 99th percentile of "
        f"{quantity.text(curve.shown[3], 's')} and a maximum of {quantity.text(curve.shown[-1], 's')} over "
        f"{quantity.count(curve.count)} queries"
        for curve in found
    ]
    return f"Latency of {phase} by percentile, one line for each system: {'; '.join(parts)}."


def _latency_table(found: list[Curve]) -> Table:
    names = [f"{percentile:g} %" if percentile < 100 else "Longest" for percentile in SHOWN]
    rows = [
        [curve.cell.label, quantity.count(curve.count), *(quantity.text(value, "s") for value in curve.shown)]
        for curve in found
    ]
    return Table(["System", "Queries", *names], rows, numeric=frozenset(["Queries", *names]))


# Latency by query type.

LINE_HEIGHT = 22
"""Height in pixels of a cell within a query type."""


def query_types_chart(run: Run, metric: str = "latency_p50") -> Figure | Figures | Markdown:
    """Draw ``metric`` of every query phase: a row for each type and cell, with trials, mean and interval.

    If a system has several cells, which share a colour, each phase has a separate figure with labelled rows.
    """
    title = f"{describe(metric).title} by query type"
    if refusal := refused(run, title):
        return refusal
    found = [estimate for phase in run.queries for estimate in estimates(run, phase, metric)]
    if not any(estimate.points for estimate in found):
        return missing(title, f"no valid trial of this run measured {metric} in a query phase")
    if len({one.cell.system for one in found}) < len({one.cell.name for one in found}):
        return Figures(_by_phase(run, metric))
    groups = {phase: [one for one in found if one.phase == phase] for phase in run.queries}
    drawn, kind, unit = _queries_draw(found, metric)
    return Figure(
        theme.scaled_title(run, lead.title(run, title, groups, "query type")),
        drawn,
        _queries_alternative(found, title),
        _queries_table(found),
        " ".join(filter(None, (lead.caveat(run, found), figure.note(len(one.points) for one in found)))),
        lead.subtitle(found, kind, unit),
    )


def _by_phase(run: Run, metric: str) -> list[Figure]:
    drawn = [strip.chart(run, phase, metric, f"{describe(metric).title}, {phase}") for phase in run.queries]
    return [replace(figure, width=theme.HALF_WIDTH) for figure in drawn if isinstance(figure, Figure)]


def _queries_draw(found: list[Estimate], metric: str) -> tuple[Any, str, str]:
    """Return the chart, the kind of its axis, and the unit."""
    import altair as alt

    measured = [estimate for estimate in found if estimate.value is not None]
    largest = max(point.value for estimate in measured for point in estimate.points)
    divisor, unit = quantity.scale(largest, measured[0].unit)
    labels = list(dict.fromkeys(estimate.cell.label for estimate in found))
    systems = [next(e.cell.system for e in found if e.cell.label == label) for label in labels]
    phases = list(dict.fromkeys(estimate.phase for estimate in found))
    points: list[dict[str, Any]] = [
        {
            "type": e.phase,
            "cell": e.cell.label,
            "value": point.value / divisor,
            "block": point.block + 1,
            "trial": links.anchor(point.trial_id),
        }
        for e in measured
        for point in figure.evenly(e.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "type": e.phase,
            "cell": e.cell.label,
            "value": (e.value or 0.0) / divisor,
            "low": None if e.low is None else e.low / divisor,
            "high": None if e.high is None else e.high / divisor,
            "text": f"{e.text()} ({e.interval()})",
        }
        for e in measured
    ]
    scale, axis = axes.value(marks.ends(means, points), f"{describe(metric).title} ({unit})")
    y = alt.Y(
        "type:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=phases, padding=0.25),
        axis=alt.Axis(grid=False),
    )
    offset = alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2))
    layers = marks.rows(
        means, points, scale, axis, y=y, offset=offset, tick=LINE_HEIGHT - 4,
        paint=alt.Color("cell:N", scale=theme.colours(systems, labels)),
        shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
        names=[alt.Tooltip("type:N"), alt.Tooltip("cell:N")],
    )  # fmt: skip
    height = max(1, len(phases)) * (LINE_HEIGHT * len(labels) + 14)
    return alt.layer(*layers).properties(width="container", height=height), marks.kind(scale), unit


def _queries_alternative(found: list[Estimate], title: str) -> str:
    parts = []
    for phase in dict.fromkeys(estimate.phase for estimate in found):
        own = [
            f"{e.cell.label} {e.text() if e.points else 'not measured'}" for e in found if e.phase == phase
        ]
        parts.append(f"{phase}: {', '.join(own)}")
    return f"{title}, one row for each query type and system, every trial a point. {'; '.join(parts)}."


def _queries_table(found: list[Estimate]) -> Table:
    rows = [
        [e.phase, e.cell.label, str(len(e.points)), e.text(), e.interval() if e.points else "not measured"]
        for e in found
    ]
    columns = ["Query type", "System", "Trials", "Typical value", "95 % CI"]
    return Table(columns, rows, numeric=frozenset({"Trials", "Typical value"}))
