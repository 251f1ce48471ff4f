"""Chart of a metric along a number: a line for each system, with an interval at every point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.comparison import FEWEST_TRIALS, mean
from benchbook.analyse.run import Run
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

HEIGHT = 280


@dataclass(frozen=True)
class Dot:
    """The mean of one system's trials at one point of the curve, in the metric's unit."""

    system: str
    label: str
    at: float
    value: float
    low: float | None
    high: float | None
    trials: int


@dataclass(frozen=True)
class Axes:
    """Titles of the two axes, with units."""

    along: str
    value: str


def figure(dots: Sequence[Dot], title: str, names: Axes, limit: Sequence[Dot] = ()) -> Figure:
    """Return the figure, with ``limit`` as a grey dashed line."""
    return Figure(
        title, _draw(dots, names, limit), _alternative(dots, title, limit), _table(dots, names, limit)
    )


def _draw(dots: Sequence[Dot], names: Axes, limit: Sequence[Dot]) -> Any:
    import altair as alt

    everything = [*dots, *limit]
    ends = [end for one in everything for end in (one.value, one.low, one.high) if end]
    labels = list(dict.fromkeys(one.label for one in sorted(dots, key=lambda one: theme.slot(one.system))))
    systems = [next(one.system for one in dots if one.label == label) for label in labels]
    y_scale, y_axis = axes.value(ends, names.value)
    places = sorted({one.at for one in everything})
    x = alt.X(
        "at:Q",
        scale=alt.Scale(type="log", domain=[places[0] / 1.15, places[-1] * 1.15], nice=False),
        axis=alt.Axis(title=names.along, values=places, format="d", grid=False),
    )
    y = alt.Y("value:Q", scale=y_scale, axis=y_axis)
    legend = theme.legend(labels, lines=False)
    paint = alt.Color("label:N", scale=theme.colours(systems, labels), legend=legend)
    # The same legend for all channels: hiding it in one gives a warning in the browser.
    dashes = alt.StrokeDash("label:N", scale=theme.dashes(systems, labels), legend=legend)
    rows = [
        {"label": one.label, "at": one.at, "value": one.value, "low": one.low, "high": one.high}
        for one in dots
    ]
    tooltip = [
        alt.Tooltip("label:N"),
        alt.Tooltip("at:Q", title=names.along),
        alt.Tooltip("value:Q", title=names.value, format=".4~g"),
    ]
    known = alt.Chart(alt.InlineData(values=[row for row in rows if row["low"] is not None]))
    drawn = alt.Chart(alt.InlineData(values=rows))
    layers = [
        known.mark_rule(strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=x, y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q", color=paint
        ),
        drawn.mark_line(strokeWidth=1.6).encode(x=x, y=y, color=paint, strokeDash=dashes),
        drawn.mark_point(filled=True, size=55).encode(
            x=x,
            y=y,
            color=paint,
            shape=alt.Shape("label:N", scale=theme.shapes(systems, labels), legend=legend),
            tooltip=tooltip,
        ),
    ]
    if limit:
        held = [{"at": one.at, "value": one.value, "label": one.label} for one in limit]
        base = alt.Chart(alt.InlineData(values=held))
        layers.insert(0, base.mark_line(strokeDash=[5, 4], color="gray", strokeWidth=2).encode(x=x, y=y))
        end = alt.Chart(alt.InlineData(values=held[-1:]))
        layers.append(end.mark_text(align="right", dy=-9, color="gray").encode(x=x, y=y, text="label:N"))
    return alt.layer(*layers).properties(width="container", height=HEIGHT)


def _alternative(dots: Sequence[Dot], title: str, limit: Sequence[Dot]) -> str:
    parts = []
    for label in dict.fromkeys(one.label for one in (*dots, *limit)):
        own = sorted((one for one in (*dots, *limit) if one.label == label), key=lambda one: one.at)
        ends = [own[0], own[-1]] if len(own) > 1 else own
        parts.append(f"{label} " + ", ".join(f"{quantity.number(one.value)} at {one.at:g}" for one in ends))
    return f"{title}, one line for each system: {'; '.join(parts)}."


def _table(dots: Sequence[Dot], names: Axes, limit: Sequence[Dot]) -> Table:
    columns = ["System", names.along, names.value, "95 % CI", "Trials"]
    rows = []
    for one in (*dots, *limit):
        spread = f"none: fewer than {FEWEST_TRIALS} trials"
        if one.low is not None and one.high is not None:
            spread = f"{quantity.number(one.low)} to {quantity.number(one.high)}"
        rows.append([one.label, f"{one.at:g}", quantity.number(one.value), spread, str(one.trials)])
    return Table(columns, rows, numeric=frozenset({*columns[1:3], "Trials"}))


RATE = "objects_per_second"
LIMIT = "synced_writes_per_second"
ALONG = "workers"
BESIDE = ("storage", "size")
"""Factors that fio's limit depends on; cells that share them share one measurement per block."""


def concurrency(
    run: Run,
    phase: str,
    fixed: Mapping[str, str],
    metric: str = RATE,
    unit: str = "Objects per second",
) -> Figure | Markdown:
    """Draw ``metric`` of a phase along the operations in flight, for cells with the levels ``fixed``.

    A chart of rates shows fio's rate in the same cells as a dashed limit.
    """
    title = f"{unit}, {phase}, {_level_text(fixed)}"
    if refusal := refused(run, title):
        return refusal
    factor = 1000.0 if metric.startswith("latency") else 1.0
    dots = list(_dots(run, phase, metric, ALONG, fixed, factor))
    if len({one.at for one in dots}) < 2:
        return missing(title, f"it needs trials of {phase} at two levels of {ALONG}, {_level_text(fixed)}")
    bound = _limit(run, phase, fixed) if metric == RATE else []
    return figure(dots, theme.scaled_title(run, title), Axes("Operations in flight", unit), bound)


def batches(run: Run, phases: Mapping[str, int], fixed: Mapping[str, str]) -> Figure | Markdown:
    """Draw the rate of puts along the objects per transaction, for cells with the levels ``fixed``."""
    title = f"Objects put per second by objects per transaction, {_level_text(fixed)}"
    if refusal := refused(run, title):
        return refusal
    dots = []
    for phase, batch in phases.items():
        for one in _dots(run, phase, RATE, ALONG, fixed):
            dots.append(Dot(one.system, one.label, float(batch), one.value, one.low, one.high, one.trials))
    if len({one.at for one in dots}) < 2:
        return missing(title, "it needs trials of puts with two or more batch sizes")
    return figure(dots, theme.scaled_title(run, title), Axes("Objects per transaction", "Objects per second"))


def _level_text(fixed: Mapping[str, str]) -> str:
    return ", ".join(
        f"{level} in flight" if name == ALONG else f"{name} {level}" for name, level in fixed.items()
    )


def _fits(known: Mapping[str, str], fixed: Mapping[str, str]) -> bool:
    """Return whether a trial has these levels; factors that the run does not have are ignored."""
    return all(known.get(name, level) == level for name, level in fixed.items())


def _levels(run: Run) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for trial_id, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        found.setdefault(trial_id, {})[factor] = level
    return found


def _dots(
    run: Run, phase: str, metric: str, along: str, fixed: Mapping[str, str], factor: float = 1.0
) -> Iterator[Dot]:
    levels = _levels(run)
    free = {along, "system", *fixed}
    names = sorted({name for known in levels.values() for name in known} - free)
    meant = [known for known in levels.values() if _fits(known, fixed)]
    varying = [name for name in names if len({known.get(name) for known in meant}) > 1]
    groups: dict[tuple[str, str, float], list[float]] = {}
    for trial_id, system, value in (
        run.measured(phase, metric).select("trial_id", "system", "value").iter_rows()
    ):
        known = levels[trial_id]
        if not _fits(known, fixed) or along not in known:
            continue
        label = ", ".join([run.title(system), *(f"{name} {known[name]}" for name in varying)])
        groups.setdefault((system, label, float(known[along])), []).append(float(value) * factor)
    for (system, label, at), values in sorted(groups.items()):
        middle, low, high = mean(values)
        if middle:
            yield Dot(system, label, at, middle, low, high, len(values))


def _limit(run: Run, phase: str, fixed: Mapping[str, str]) -> list[Dot]:
    levels, groups = _levels(run), {}  # type: tuple[dict[str, dict[str, str]], dict[float, list[float]]]
    beside = {name: fixed[name] for name in BESIDE if name in fixed}
    for trial_id, value in run.measured(phase, LIMIT).select("trial_id", "value").iter_rows():
        known = levels[trial_id]
        if _fits(known, beside) and ALONG in known:
            groups.setdefault(float(known[ALONG]), []).append(float(value))
    label = "fio: synced writes per second"
    found = []
    for at, values in sorted(groups.items()):
        middle, low, high = mean(values)
        if middle:
            found.append(Dot("fio", label, at, middle, low, high, len(values)))
    return found
