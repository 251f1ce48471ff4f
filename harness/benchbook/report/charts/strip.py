"""Chart of any metric of a phase: a row for each cell with every trial, the mean and its 95 % CI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import Wanted, chosen
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report import figure, theme
from benchbook.report import theme as axes
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

LISTED = 100
"""Most values of a cell in the table."""


def chart(
    run: Run, phase: str, metric: str, title: str | None = None, only: Mapping[str, Wanted] | None = None
) -> Figure | Markdown:
    """Draw ``metric`` of ``phase`` for every cell; return a sentence if no trial measured it.

    ``title`` replaces the title of figure and axis, for a metric of several phases. ``only`` selects cells by levels of
    factors.
    """
    title = title or describe(metric).title
    if refusal := refused(run, title):
        return refusal
    found = [one for one in estimates(run, phase, metric) if one.points or _tried(run, phase, one.cell.name)]
    shown = chosen(run, only)
    found = _one_row_if_unmeasured(
        [replace(one, cell=shown[one.cell.name]) for one in found if one.cell.name in shown]
    )
    if not any(estimate.points for estimate in found):
        return missing(title, f"no valid trial of this run measured {metric} in phase {phase}")
    return Figure(
        theme.scaled_title(run, title),
        _draw(found, title),
        _alternative(found, title),
        table(found),
        figure.note(len(one.points) for one in found),
    )


def _one_row_if_unmeasured(found: list[Estimate]) -> list[Estimate]:
    """Return the estimates with a single row, labelled with its title, for each system without any measurement."""
    measured = {one.cell.system for one in found if one.points}
    rows: dict[str, Estimate] = {}
    for one in found:
        if one.cell.system in measured:
            rows[one.cell.name] = one
        else:
            rows.setdefault(one.cell.system, replace(one, cell=replace(one.cell, varying=())))
    return list(rows.values())


def _tried(run: Run, phase: str, cell: str) -> bool:
    """Return whether a cell includes the phase; it does not if it has valid trials but only others ran the phase."""
    whole = set(run.ok.filter(run.ok["cell"] == cell)["trial_id"])
    phases = run.frame("phases")
    did = set(phases.filter(phases["phase"] == phase)["trial_id"])
    return not whole or bool(whole & did) or not did


def _draw(found: list[Estimate], title: str) -> Any:
    import altair as alt

    largest = max(point.value for estimate in found for point in estimate.points)
    divisor, unit = quantity.scale(largest, found[0].unit)
    noun = describe(found[0].metric).noun
    unit = {"1/s": f"{noun}/s" if noun else "per second", "1": noun}.get(unit, unit)
    labels = [estimate.cell.label for estimate in found]
    systems = [estimate.cell.system for estimate in found]
    rows: list[dict[str, Any]] = [
        {
            "cell": estimate.cell.label,
            "value": point.value / divisor,
            "block": point.block + 1,
            "trial": quantity.text(point.value, estimate.unit, noun),
        }
        for estimate in found
        for point in figure.evenly(estimate.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "cell": estimate.cell.label,
            "value": estimate.value / divisor,
            "low": estimate.low / divisor if estimate.low is not None else None,
            "high": estimate.high / divisor if estimate.high is not None else None,
            "mean": estimate.text(),
            "interval": estimate.interval(),
        }
        for estimate in found
        if estimate.value is not None
    ]
    gaps = [{"cell": estimate.cell.label, "gap": "not measured"} for estimate in found if not estimate.points]
    ends = [mean[end] for mean in means for end in ("low", "high") if mean[end] is not None]
    axis_title = f"{title} ({unit})" if unit else title
    scale, axis = axes.value([row["value"] for row in rows] + ends, axis_title)
    y = alt.Y(
        "cell:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=labels, padding=0.2),
        axis=alt.Axis(
            grid=False,
            labelExpr=theme.expression(labels),
            labelLineHeight=theme.LINE_HEIGHT,
            labelOverlap=False,
        ),
    )
    x = alt.X("value:Q", scale=scale, axis=axis)
    colour = alt.Color("cell:N", scale=theme.colours(systems, labels), legend=None)
    base = alt.Chart(alt.InlineData(values=means))
    whole = [row for row in means if row["low"] is not None]
    bands = [
        alt.Chart(alt.InlineData(values=whole))
        .mark_rule(strokeWidth=9, opacity=0.28, strokeCap="round")
        .encode(y=y, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=colour)
    ]
    layers = [
        *(bands if whole else []),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=False, strokeWidth=1.6, size=60)
        .encode(
            y=y,
            x=x,
            yOffset=alt.YOffset("block:O", scale=alt.Scale(padding=1.2)),
            color=colour,
            shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels), legend=None),
            tooltip=[alt.Tooltip("cell:N"), alt.Tooltip("trial:N"), alt.Tooltip("block:O")],
        ),
        base.mark_tick(thickness=2.5, size=theme.ROW_HEIGHT * 0.66, opacity=1).encode(
            y=y,
            x=x,
            color=colour,
            tooltip=[
                alt.Tooltip("cell:N"),
                alt.Tooltip("mean:N"),
                alt.Tooltip("interval:N", title="95 % CI"),
            ],
        ),
    ]
    if gaps:
        layers.append(
            alt.Chart(alt.InlineData(values=gaps))
            .mark_text(align="left", dx=6, fontStyle="italic", opacity=0.75)
            .encode(y=y, x=alt.value(0), text="gap:N")
        )
    height = theme.height(labels, theme.ROW_HEIGHT) * len(labels)
    return alt.layer(*layers).properties(width="container", height=height)


def _alternative(found: list[Estimate], title: str) -> str:
    parts = []
    for estimate in found:
        if not estimate.points:
            parts.append(f"{estimate.cell.label} was not measured")
            continue
        trials = f"{len(estimate.points)} trial{'s' if len(estimate.points) != 1 else ''}"
        spread = f", 95 % CI {estimate.interval()}" if estimate.low is not None else ""
        parts.append(f"{estimate.cell.label} {estimate.text()} ({trials}{spread})")
    return f"{title}, one row for each system, every trial a point: {'; '.join(parts)}."


def table(found: list[Estimate]) -> Table:
    """Return the numbers of the chart: mean, interval and every trial."""
    columns = ["System", "Trials", "Mean", "95 % CI", "Every trial"]
    rows = []
    for estimate in found:
        noun = describe(estimate.metric).noun
        every = ", ".join(
            quantity.text(point.value, estimate.unit, noun)
            for point in figure.evenly(estimate.points, LISTED)
        )
        if len(estimate.points) > LISTED:
            every += f" ({LISTED} of {len(estimate.points):,})"
        if not estimate.points:
            rows.append([estimate.cell.label, "0", quantity.MISSING, "not measured", quantity.MISSING])
            continue
        rows.append(
            [estimate.cell.label, str(len(estimate.points)), estimate.text(), estimate.interval(), every]
        )
    return Table(columns, rows, numeric=frozenset({"Trials", "Mean"}))


def throughput(
    run: Run,
    metric: str = "rows_per_second",
    phase: str | None = None,
    title: str | None = None,
    only: Mapping[str, Wanted] | None = None,
) -> Figure | Markdown:
    """Draw the throughput of the load phase (or of ``phase``)."""
    loads = run.phases("load")
    return chart(run, phase or (loads[0] if loads else "load"), metric, title, only)


def size_on_disk(
    run: Run, metric: str = "disk_bytes", only: Mapping[str, Wanted] | None = None
) -> Figure | Markdown:
    """Draw the bytes on disk after settling; ``only`` selects cells as in ``chart``."""
    return chart(run, "trial", metric, only=only)
