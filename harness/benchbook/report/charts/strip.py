"""Chart of any metric of a phase: a row for each cell with every trial, the typical value and its 95 % CI."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchbook.analyse import interval, limits, quantity
from benchbook.analyse.cells import Wanted, chosen
from benchbook.analyse.comparison import Estimate, Point, estimates
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.metric import describe
from benchbook.report import claim, figure, links, theme
from benchbook.report import theme as axes
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

MANY, ROW = 6, 34
"""Beyond so many rows, each is lower; its height in pixels."""
LISTED = 100
"""Most values of a cell in the table."""
OUTLIERS = "A cross marks an outlier, which counts in every number."
MOST_PHASES = 4
"""Phases of which the default page draws each setup; the others are among its ratios and in its tables."""
APART = 0.05
"""A typical value farther from the geometric mean than this stands beside it."""


def _marked(estimate: Estimate) -> list[tuple[Point, bool]]:
    """Return the trials of a setup, each with whether it is an outlier."""
    points = list(estimate.points)
    return list(zip(points, interval.mad([point.value for point in points]), strict=True))


def _groups(estimate: Estimate) -> str:
    """Return the two groups that the trials of a setup form, with their numbers; "" where they form none."""
    parts = interval.groups([point.value for point in estimate.points])
    if len(parts) == 1:
        return ""
    noun = describe(estimate.metric).noun
    return " and ".join(
        f"{quantity.text(part[0], estimate.unit, noun)} to {quantity.text(part[-1], estimate.unit, noun)} ({len(part)})"
        for part in parts
    )


def _grouped(found: Sequence[Estimate]) -> str:
    """Return which setups have two groups of trials, between which the typical value means little."""
    named = [f"{one.cell.label} {groups}" for one in found if (groups := _groups(one))]
    if not named:
        return ""
    return f"Trials form two groups, between which a typical value means little: {'; '.join(named)}."


def _typical(estimate: Estimate) -> str:
    """Return the typical value, in which outliers count less, with the geometric mean or two groups if they differ."""
    if groups := _groups(estimate):
        return f"{estimate.text()} (two groups: {groups})"
    values = [point.value for point in estimate.points]
    if not estimate.value or min(values) <= 0:
        return estimate.text()
    plain = math.exp(math.fsum(map(math.log, values)) / len(values))
    if abs(math.log(plain / estimate.value)) <= math.log1p(APART):
        return estimate.text()
    named = quantity.text(plain, estimate.unit, describe(estimate.metric).noun)
    return f"{estimate.text()} (geometric mean {named})"


def chart(
    run: Run,
    phase: str,
    metric: str,
    title: str | None = None,
    only: Mapping[str, Wanted] | None = None,
    published: Sequence[str] = (),
) -> Figure | Markdown:
    """Draw ``metric`` of ``phase`` for every cell; return a sentence if no trial measured it.

    ``title`` starts the figure's title, which ends with the system that leads. ``only`` selects cells by levels of
    factors. ``published`` are claims whose published values are drawn next to ours.
    """
    title = title or describe(metric).title
    if refusal := refused(run, title):
        return refusal
    found = [one for one in estimates(run, phase, metric) if one.points or _tried(run, phase, one.cell)]
    shown = chosen(run, only)
    found = _one_row_if_unmeasured(
        [replace(one, cell=shown[one.cell.name]) for one in found if one.cell.name in shown]
    )
    if not any(estimate.points for estimate in found):
        return missing(title, f"no valid trial of this run measured {metric} in phase {phase}")
    stated = {cell.name: value for cell, value in claim.published_values(run, published)}
    drawn, scale, unit = _draw(found, stated, set(limits.brief(run, phase)))
    notes = [
        lead.caveat(run, found),
        _grouped(found),
        OUTLIERS if any(outlier for one in found for _, outlier in _marked(one)) else "",
        figure.note(len(one.points) for one in found),
    ]
    return Figure(
        theme.scaled_title(run, lead.title(run, title, {"": found})),
        drawn,
        _alternative(found, title, stated),
        table(found, stated),
        " ".join(filter(None, notes)),
        lead.subtitle(found, scale, unit, published=bool(stated)),
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


def _tried(run: Run, phase: str, cell: Cell) -> bool:
    """Return whether a cell includes the phase; it does not if it has valid trials but only others ran the phase."""
    cells = run.tried.get(phase, {})
    return not cell.ok or cells.get(cell.name, False) or not cells


def _draw(found: list[Estimate], stated: Mapping[str, float], brief: set[str]) -> tuple[Any, str, str]:
    """Return the chart, the kind of its axis, and the unit."""
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
            "trial": links.anchor(point.trial_id),
            "outlier": outlier,
        }
        for estimate in found
        for point, outlier in figure.evenly(_marked(estimate))
    ]
    means: list[dict[str, Any]] = [
        {
            "cell": estimate.cell.label,
            "value": estimate.value / divisor,
            "low": estimate.low / divisor if estimate.low is not None else None,
            "high": estimate.high / divisor if estimate.high is not None else None,
            "text": f"{estimate.text()} ({estimate.interval()})",
            "brief": estimate.cell.name in brief,
        }
        for estimate in found
        if estimate.value is not None
    ]
    was = [
        {"cell": estimate.cell.label, "value": stated[estimate.cell.name] / divisor}
        for estimate in found
        if estimate.cell.name in stated
    ]
    gaps = [{"cell": estimate.cell.label, "gap": "not measured"} for estimate in found if not estimate.points]
    scale, axis = axes.value(marks.ends(means, [*rows, *was]), unit or describe(found[0].metric).title)
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
    # One domain for trials and for the outliers among them: Vega unites no sorted ones.
    blocks = sorted({row["block"] for row in rows})
    spread = alt.YOffset("block:O", scale=alt.Scale(padding=1.2, domain=blocks))
    layers = marks.rows(
        means, rows, scale, axis, y=y, paint=colour, names=[alt.Tooltip("cell:N")], tick=30,
        shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels), legend=None),
        spread=spread,
    )  # fmt: skip
    if far := [row for row in rows if row["outlier"]]:
        layers.append(
            alt.Chart(alt.InlineData(values=far))
            .mark_point(shape="cross", filled=True, size=70, color="currentColor", angle=45)
            .encode(y=y, x=x, yOffset=spread, tooltip=[alt.Tooltip("cell:N"), alt.Tooltip("block:O")])
        )
    if gaps:
        layers.append(
            alt.Chart(alt.InlineData(values=gaps))
            .mark_text(align="left", dx=6, fontStyle="italic", opacity=0.75)
            .encode(y=y, x=alt.value(0), text="gap:N")
        )
    if was:
        layers.append(
            alt.Chart(alt.InlineData(values=was))
            .mark_point(shape="diamond", filled=False, strokeWidth=2, size=130, color="currentColor")
            .encode(y=y, x=x, tooltip=[alt.Tooltip("cell:N"), alt.Tooltip("value:Q", title="published")])
        )
    least = ROW if len(labels) > MANY else theme.ROW_HEIGHT
    height = theme.height(labels, least) * len(labels)
    return alt.layer(*layers).properties(width="container", height=height), marks.kind(scale), unit


def _alternative(found: list[Estimate], title: str, stated: Mapping[str, float]) -> str:
    parts = []
    for estimate in found:
        if not estimate.points:
            parts.append(f"{estimate.cell.label} was not measured")
            continue
        trials = f"{len(estimate.points)} trial{'s' if len(estimate.points) != 1 else ''}"
        spread = f", 95 % CI {estimate.interval()}" if estimate.low is not None else ""
        was = f", published {_published(estimate, stated)}" if estimate.cell.name in stated else ""
        parts.append(f"{estimate.cell.label} {estimate.text()} ({trials}{spread}{was})")
    return f"{title}, one row for each system, every trial a point: {'; '.join(parts)}."


def _published(estimate: Estimate, stated: Mapping[str, float]) -> str:
    return quantity.text(stated.get(estimate.cell.name), estimate.unit, describe(estimate.metric).noun)


def table(found: list[Estimate], stated: Mapping[str, float] | None = None) -> Table:
    """Return the numbers of the chart: typical value, interval and every trial; and the published values."""
    columns = [
        "System",
        "Trials",
        "Typical value",
        "95 % CI",
        "Every trial",
        *(["Published"] if stated else []),
    ]
    rows = []
    for estimate in found:
        noun = describe(estimate.metric).noun
        every = ", ".join(
            quantity.text(point.value, estimate.unit, noun) + (" (outlier)" if outlier else "")
            for point, outlier in figure.evenly(_marked(estimate), LISTED)
        )
        if len(estimate.points) > LISTED:
            every += f" ({LISTED} of {len(estimate.points):,})"
        if not estimate.points:
            rows.append([estimate.cell.label, "0", quantity.MISSING, "not measured", quantity.MISSING])
        else:
            rows.append(
                [
                    estimate.cell.label,
                    str(len(estimate.points)),
                    _typical(estimate),
                    estimate.interval(),
                    every,
                ]
            )
        rows[-1] += [_published(estimate, stated)] if stated else []
    return Table(columns, rows, numeric=frozenset({"Trials", "Typical value"}))


def throughput(run: Run, metric: str = "rows_per_second", **options: Any) -> Figure | Markdown:
    """Draw the throughput of the load phase; ``options`` are those of ``chart``."""
    loads = run.loads
    return chart(run, loads[0] if loads else "load", metric, **options)


def others(run: Run) -> list[Figure | Markdown]:
    """Draw what is compared in the first phases that neither load nor ask queries, such as the times of commands."""
    held = run.phases_having(lambda one: one.compared and not one.loads and not one.queries)
    several = len(held) > 1
    return [
        chart(run, phase, one.compared[0], f"{describe(one.compared[0]).title}, {phase}" if several else None)
        for one, phase in held[:MOST_PHASES]
    ]


def size_on_disk(run: Run, metric: str = "disk_bytes", **options: Any) -> Figure | Markdown:
    """Draw the bytes on disk after settling; ``options`` are those of ``chart``."""
    return chart(run, "trial", metric, **options)
