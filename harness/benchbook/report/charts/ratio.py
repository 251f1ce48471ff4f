"""Charts of ratios with their 95 % CIs: to the baseline of a run, and next to published ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchbook.analyse import comparison, quantity
from benchbook.analyse.comparison import Versus
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.declare.metric import describe
from benchbook.report import figure, theme
from benchbook.report import theme as axes
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing
from benchbook.report.tables import verdicts

Rows = list[dict[str, Any]]


def layers(
    means: Rows, points: Rows, title: str, *, y: Any, offset: Any, paint: Any, shape: Any, names: Any
) -> Any:
    """Return the layers of a forest plot: a line at 1 and, in each row, interval, mean and trials.

    ``means`` have ratio, low, high and text, ``points`` ratio and block; both have the field that ``y`` names.
    """
    import altair as alt

    ends = [1.0, *(row["ratio"] for row in points)]
    ends += [row[end] for row in means for end in ("low", "high") if row[end]]
    scale, axis = axes.logarithmic(ends, title)
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    even = alt.Chart(alt.InlineData(values=[{"one": 1}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    return alt.layer(
        even.encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        alt.Chart(alt.InlineData(values=[row for row in means if row["low"] is not None]))
        .mark_rule(strokeWidth=7, opacity=0.28, strokeCap="round")
        .encode(y=y, yOffset=offset, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=paint),
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=False, strokeWidth=1.5, size=38)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=paint,
            shape=shape,
            tooltip=[
                *names,
                alt.Tooltip("block:O"),
                alt.Tooltip("ratio:Q", format=".3~g", title="times as good"),
            ],
        ),
        alt.Chart(alt.InlineData(values=means))
        .mark_tick(thickness=2.5, size=18, opacity=1)
        .encode(
            y=y,
            yOffset=offset,
            x=x,
            color=paint,
            tooltip=[*names, alt.Tooltip("text:N", title="times as good")],
        ),
    )


ROW_HEIGHT = 30


def chart(run: Run) -> Figure | Markdown:
    """Draw the ratio of each cell to the baseline, for every metric."""
    base = comparison.baseline(run)
    title = f"Compared with {base.label}" if base else "The comparison with a baseline"
    if refusal := refused(run, title):
        return refusal
    if base is None:
        return missing(title, "this run has no valid trial")
    made = [
        one
        for phase, metric in comparison.metrics(run)
        for one in comparison.against(run, phase, metric, base)
    ]
    found = [one for one in made if not comparison.mixed(run, one)]
    if not found:
        return missing(title, "no second system was measured in the same blocks")
    notes = [figure.note(one.ratio.trials for one in found)]
    if left := dict.fromkeys(one.cell.label for one in made if comparison.mixed(run, one)):
        notes.append(
            "Embedded systems and servers are not ranked together, so the chart shows only sizes of"
            f" {', '.join(left)}."
        )
    return Figure(
        theme.scaled_title(run, title),
        _ratio_draw(found, base.label),
        _ratio_alternative(found, title),
        _ratio_table(found),
        " ".join(note for note in notes if note),
    )


def label(one: Versus) -> str:
    """Return the label of a ratio: the metric and, for queries, the type."""
    title = describe(one.above.metric).title
    return title if one.above.phase in ("trial", "load") else f"{title}, {one.above.phase}"


def short(one: Versus) -> str:
    """Return the short label of a ratio for a row: phase and metric."""
    metric = describe(one.above.metric)
    return metric.short if one.above.phase == "trial" else f"{one.above.phase}, {metric.short}"


def better(one: Versus) -> str:
    """Return which side of 1 is better for the compared cell."""
    return {"higher": "above 1 is better", "lower": "below 1 is better"}.get(one.above.direction, "")


def _ratio_draw(found: list[Versus], base: str) -> Any:
    import altair as alt

    labels = list(dict.fromkeys(one.cell.label for one in found))
    systems = [next(one.cell.system for one in found if one.cell.label == name) for name in labels]
    order = list(dict.fromkeys(short(one) for one in found))
    points: list[dict[str, Any]] = [
        {"row": short(one), "cell": one.cell.label, "ratio": ratio, "block": block + 1}
        for one in found
        for block, ratio in figure.evenly(one.points)
    ]
    means: list[dict[str, Any]] = [
        {
            "row": short(one),
            "cell": one.cell.label,
            "ratio": one.advantage.value,
            "low": one.advantage.low,
            "high": one.advantage.high,
            "text": _advantage(one),
        }
        for one in found
    ]
    y = alt.Y(
        "row:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=order, padding=0.2),
        axis=alt.Axis(grid=False),
    )
    offset = alt.YOffset("cell:N", sort=None, scale=alt.Scale(domain=labels, padding=0.2))
    paint = alt.Color("cell:N", scale=theme.colours(systems, labels))
    return layers(
        means,
        points,
        f"Times as good as {base}: right of 1 is better",
        y=y,
        offset=offset,
        paint=paint,
        shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
        names=[alt.Tooltip("row:N"), alt.Tooltip("cell:N")],
    ).properties(width="container", height=len(order) * (ROW_HEIGHT + 16 * (len(labels) - 1)))


def _interval(one: Versus) -> str:
    if one.advantage.low is None or one.advantage.high is None:
        return f"no interval: {one.ratio.reason}"
    return f"{quantity.number(one.advantage.low)} to {quantity.number(one.advantage.high)}"


def _advantage(one: Versus) -> str:
    return f"{quantity.number(one.advantage.value)} ({_interval(one)})"


def _ratio_alternative(found: list[Versus], title: str) -> str:
    parts = [f"{label(one)}: {one.cell.label} {_advantage(one)}" for one in found]
    return f"{title}: times as good, with 95 % CIs and a line at 1. {'; '.join(parts)}."


def _ratio_table(found: list[Versus]) -> Table:
    rows = [
        [
            label(one),
            one.cell.label,
            quantity.number(one.advantage.value),
            _interval(one),
            str(one.ratio.trials),
            f"{quantity.number(one.value)}, {better(one)}",
            one.ratio.method,
        ]
        for one in found
    ]
    columns = [
        "Metric",
        "System",
        "Times as good",
        "95 % CI",
        "Paired trials",
        "Ratio of values",
        "Method",
    ]
    return Table(columns, rows, numeric=frozenset({"Times as good", "Paired trials"}))


LEVEL_HEIGHT = 34
MEASURED, PUBLISHED = "#0072B2", "#D55E00"
"""Colours of the rerun and of the publication; their shapes differ too."""


@dataclass(frozen=True)
class Row:
    """The ratios of one combination of levels, measured and published."""

    label: str
    published: float | None
    measured: float | None
    low: float | None
    high: float | None
    points: tuple[tuple[int, float], ...]
    """(block, ratio)."""
    verdict: str


def published_chart(run: Run, claim: str, what: str, title: str = "") -> Figure | Markdown:
    """Draw the measured and the published ratio of a claim, a row for each cell.

    A point is the ratio of a block, the tick their mean, the pale bar its 95 % CI, and the open diamond the published
    ratio. ``what`` names the ratio, such as ``CnosDB over InfluxDB``. The title mentions a substitute.
    """
    from benchbook.analyse import claims

    title = title or f"{what}, rerun and published"
    judged = {one.id: one for one in claims.of_run(run)}
    if claim not in judged:
        return missing(title, f"the run declared no claim {claim}")
    found = _rows(run, claim, judged[claim])
    if not any(row.measured for row in found):
        return missing(title, f"the run measured no setup of the claim: {judged[claim].reason}")
    if judged[claim].verdict == "substitute only":
        title += ", with a substitute"
    stated = verdicts.LEGEND if judged[claim].test in verdicts.SIGNS else "published"
    return published_figure(run, title, found, f"{what}: right of 1 is faster", stated)


def published_figure(
    run: Run, title: str, found: list[Row], axis_title: str, stated: str = "published"
) -> Figure:
    """Return the figure of some rows, each with the ratio of the rerun and the other one, labelled ``stated``."""
    return Figure(
        theme.scaled_title(run, title), _published_ratio_draw(found, axis_title, stated),
        _published_ratio_alternative(found, title, stated),
        _published_ratio_table(found, stated),
    )  # fmt: skip


def _rows(run: Run, claim: str, judged: Any) -> list[Row]:
    from benchbook.declare.claim import Claim
    from benchbook.declare.published import ratios

    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    stated = next(Claim.model_validate(one) for one in declared if one["id"] == claim)
    rows = {
        one.sides.name(stated.across): Row(
            one.sides.name(stated.across), one.published, one.measured, one.low, one.high,
            tuple((block, math.exp(log)) for block, log in one.logs.items()), str(one.verdict),
        )
        for one in judged.cells
    }  # fmt: skip
    for cell in ratios(stated, root() / "datasets" / "published"):
        label = ", ".join(f"{name} {level}" for name, level in cell.levels.items())
        if label and label not in rows and cell.ratio is not None:
            rows[label] = Row(label, cell.ratio, None, None, None, (), "not run")
    return sorted(rows.values(), key=lambda row: _natural(row.label))


def _published_ratio_draw(found: list[Row], axis_title: str, stated: str) -> Any:
    import altair as alt

    order = [row.label.replace("_", " ") for row in found]
    means = [
        {
            "row": row.label.replace("_", " "),
            "ratio": row.measured,
            "low": row.low,
            "high": row.high,
            "text": _measured(row),
        }
        for row in found
        if row.measured
    ]
    points = [
        {"row": row.label.replace("_", " "), "ratio": ratio, "block": block + 1}
        for row in found
        for block, ratio in row.points
    ]
    published = [
        {"row": row.label.replace("_", " "), "ratio": row.published, "text": quantity.number(row.published)}
        for row in found
        if row.published
    ]
    every = [1.0, *(ratio for row in found for ratio in (row.measured, row.published) if ratio)]
    every += [ratio for row in found for _, ratio in row.points]
    every += [end for row in found for end in (row.low, row.high) if end]
    scale, axis = axes.logarithmic(every, axis_title)
    y = alt.Y(
        "row:N", title=None, sort=None, scale=alt.Scale(domain=order, padding=0.2), axis=alt.Axis(grid=False)
    )
    x = alt.X("ratio:Q", scale=scale, axis=axis)
    kinds = alt.Scale(domain=["rerun", stated], range=[MEASURED, PUBLISHED])
    shapes = alt.Scale(domain=["rerun", stated], range=["circle", "diamond"])

    def marked(rows: list[dict[str, Any]], kind: str) -> Any:
        return alt.Chart(alt.InlineData(values=[{**row, "kind": kind} for row in rows]))

    paint = alt.Color("kind:N", scale=kinds, legend=alt.Legend(title=None))
    shape = alt.Shape("kind:N", scale=shapes, legend=alt.Legend(title=None))
    return alt.layer(
        alt.Chart(alt.InlineData(values=[{"one": 1}]))
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        marked([row for row in means if row["low"]], "rerun")
        .mark_rule(strokeWidth=9, opacity=0.28, strokeCap="round")
        .encode(y=y, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=paint),
        marked(points, "rerun")
        .mark_point(filled=False, strokeWidth=1.5, size=45)
        .encode(y=y, x=x, color=paint, shape=shape, tooltip=["row:N", "block:O", "ratio:Q"]),
        marked(means, "rerun")
        .mark_tick(thickness=2.5, size=20, opacity=1)
        .encode(y=y, x=x, color=paint, tooltip=["row:N", alt.Tooltip("text:N", title="rerun")]),
        marked(published, stated)
        .mark_point(filled=False, strokeWidth=2, size=110)
        .encode(y=y, x=x, color=paint, shape=shape, tooltip=["row:N", alt.Tooltip("text:N", title=stated)]),
    ).properties(width="container", height=LEVEL_HEIGHT * len(order))


def _measured(row: Row) -> str:
    if row.measured is None:
        return "not measured"
    if row.low is None or row.high is None:
        return quantity.number(row.measured)
    return f"{quantity.number(row.measured)} ({quantity.number(row.low)} to {quantity.number(row.high)})"


def _published(row: Row) -> str:
    return quantity.number(row.published) if row.published else "not published"


def _published_ratio_alternative(found: list[Row], title: str, stated: str) -> str:
    parts = [
        f"{row.label.replace('_', ' ')}: rerun {_measured(row)}, {stated} {_published(row)}" for row in found
    ]
    return f"{title}, with 95 % CIs and a line at 1. {'; '.join(parts)}."


def _published_ratio_table(found: list[Row], stated: str) -> Table:
    rows = [
        [row.label.replace("_", " "), _measured(row), str(len(row.points)), _published(row), row.verdict]
        for row in found
    ]
    return Table(
        ["Setup", "Rerun (95 % CI)", "Blocks", stated.capitalize(), "Verdict"],
        rows,
        numeric=frozenset({"Blocks", stated.capitalize()}),
    )


def _natural(text: str) -> list[tuple[int, float, str]]:
    return [
        (0, float(word), "") if word.isdigit() else (1, 0.0, word) for word in text.replace(",", "").split()
    ]
