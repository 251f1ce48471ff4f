"""Chart of a metric along a numeric factor: a line for each system, with an interval at every point.

Intervals at one level are drawn side by side, so that none covers another. Published values of the same setups are
hollow and joined by dashes.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse import claims, limits, quantity, wording
from benchbook.analyse.cells import Wanted
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.interval import mean_log
from benchbook.analyse.model import FEWEST
from benchbook.analyse.run import Run
from benchbook.declare.dataset import size
from benchbook.declare.metric import describe
from benchbook.report import claim, theme
from benchbook.report import theme as axes
from benchbook.report.charts import lead, marks
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

HEIGHT = 225
APART = 0.14
"""Distance between two systems at one level, where levels are 1 apart."""
LIMIT = "synced_writes_per_second"
"""fio's rate in the same trials."""
PERCENTILES = {f"latency_p{at}": float(at) for at in (50, 80, 90, 95, 99)}
"""Metric → percentile."""


@dataclass(frozen=True)
class Dot:
    """The typical value of one system's trials at one level, in the metric's unit."""

    system: str
    label: str
    at: float
    value: float
    low: float | None = None
    high: float | None = None
    trials: int = 0
    brief: bool = False
    """True if the phase lasted less than a second."""


def chart(
    run: Run,
    phase: str,
    metric: str,
    along: str,
    title: str = "",
    fixed: Mapping[str, Wanted] | None = None,
    published: Sequence[str] = (),
    limit: bool = False,
) -> Figure | Markdown:
    """Draw ``metric`` of a phase along the levels of the factor ``along``, for cells with the levels ``fixed``.

    If the run's profile has other levels in place of ``fixed``, such as 12 workers in place of 100, it draws these.
    ``title`` starts the figure's title, which ends with the systems that lead. ``published`` are claims whose published
    values are drawn; with ``limit``, fio's rate in the same setups is a dashed line.
    """
    title = title or describe(metric).title
    if refusal := refused(run, title):
        return refusal
    fixed = _in_place(run, fixed or {})
    found = [
        one for one in estimates(run, phase, metric)
        if one.points and one.value and along in one.cell.levels and one.cell.at(fixed)
    ]  # fmt: skip
    levels = sorted({_at(along, one.cell.levels[along]) for one in found})
    if len(levels) < 2:
        return missing(title, f"it needs trials of {phase} at two levels of {along}")
    brief = limits.brief(run, phase)
    dots = [
        Dot(
            one.cell.system, label, _at(along, one.cell.levels[along]), one.value or 0.0, one.low, one.high,
            len(one.points), one.cell.name in brief,
        )
        for one, label in zip(found, _labels(found, along), strict=True)
    ]  # fmt: skip
    was = [
        Dot(cell.system, f"{claim.published_title(run, cell.system)}, published", _at(along, cell.levels[along]), value)
        for cell, value in claim.published_values(run, published)
        if along in cell.levels and cell.at(fixed)
    ]  # fmt: skip
    groups = {
        _shown(along, at): [one for one in found if _at(along, one.cell.levels[along]) == at] for at in levels
    }
    drawn, kind, unit = _draw(dots, was, _limit(run, phase, fixed, along) if limit else [], metric, along)
    what = lead.subtitle(found, kind, unit)
    notes = [lead.caveat(run, found)] + (
        ["Dashed line: writes that fio syncs one by one, in the same setups."] if limit else []
    )
    notes += [_moved(run, along, [one.at for one in was]), UNEVEN if _uneven(levels) else ""]
    name = lead.title(run, title, groups, wording.factor_words(along), wording.LEVELS.get(along, "{}"))
    return Figure(
        theme.scaled_title(run, name), drawn, _alternative(dots + was, title, metric, along),
        _table(dots + was, along, metric), " ".join(filter(None, notes)),
        what + ("; hollow and dashed: published" if was else ""),
    )  # fmt: skip


def _in_place(run: Run, fixed: Mapping[str, Wanted]) -> dict[str, Wanted]:
    """Return levels, or those that the run's profile has in their place."""
    held = claims.in_place(run)
    return {
        factor: [
            str(claims.here(held, factor, level))
            for level in ([wanted] if isinstance(wanted, str) else wanted)
        ]
        for factor, wanted in fixed.items()
    }


def _moved(run: Run, along: str, drawn: Sequence[float]) -> str:
    """Return which levels the published values that a chart draws had, if the run has others in their place."""
    there = {
        _at(along, str(now)): _at(along, was) for was, now in claims.in_place(run).get(along, {}).items()
    }
    moved = [at for at in sorted(set(drawn)) if there.get(at, at) != at]
    if not moved:
        return ""
    named = [f"{_shown(along, there[at])} at {_shown(along, at)}" for at in moved]
    words = wording.factor_words(along)
    return (
        f"Published values are where the rerun measures in their place ({words}): {wording.listing(named)}."
    )


SAME = 1.5
"""Steps, or factors, that differ by less are equal to the eye."""
UNEVEN = "The distances between levels on the axis are equal, whatever the numbers are."


def _uneven(levels: Sequence[float]) -> bool:
    """Return whether sorted levels are neither equal steps nor equal factors.

    >>> _uneven([1, 2, 4, 8]), _uneven([5, 10, 15]), _uneven([1, 1000, 2500, 5000])
    (False, False, True)
    """
    pairs = list(itertools.pairwise(levels))
    steps, factors = [b - a for a, b in pairs], [b / a if a else math.inf for a, b in pairs]
    return max(steps) > SAME * min(steps) and max(factors) > SAME * min(factors)


def _at(along: str, level: str) -> float:
    """Return a level as a number; a size as its bytes."""
    return float(size(level)) if along == "size" else float(level)


def _shown(along: str, at: float) -> str:
    """Return a level on an axis.

    >>> _shown("size", 20000.0), _shown("workers", 1000.0), _shown("rate", 0.125)
    ('20 kB', '1,000', '0.12')
    """
    if along == "size":
        return quantity.size(at)
    return quantity.number(at, 2) if at % 1 else f"{at:,g}"


def _labels(found: Sequence[Estimate], along: str) -> list[str]:
    """Return a label for each estimate: its system, and levels of other factors that vary at one level of ``along``."""
    names = dict.fromkeys(name for one in found for name in one.cell.levels if name not in ("system", along))
    at: dict[tuple[str, str], list[Estimate]] = {}
    for one in found:
        at.setdefault((one.cell.system, one.cell.levels[along]), []).append(one)
    varying = [
        name for name in names
        if any(len({one.cell.levels.get(name) for one in held}) > 1 for held in at.values())
    ]  # fmt: skip
    return [
        ", ".join(
            [
                one.cell.title,
                *(
                    wording.level_words(name, one.cell.levels[name])
                    for name in varying
                    if name in one.cell.levels
                ),
            ]
        )
        for one in found
    ]


def _limit(run: Run, phase: str, fixed: Mapping[str, Wanted], along: str) -> list[Dot]:
    """Return fio's rate at each level, over all systems of cells with the same size and storage."""
    beside = {name: fixed[name] for name in ("storage", "size") if name in fixed}
    groups: dict[float, list[float]] = {}
    for one in estimates(run, phase, LIMIT):
        if along in one.cell.levels and one.cell.at(beside):
            groups.setdefault(_at(along, one.cell.levels[along]), []).extend(
                point.value for point in one.points
            )
    found = {at: mean_log(values).value for at, values in sorted(groups.items())}
    return [Dot("fio", "fio, synced", at, value) for at, value in found.items() if value]


def _draw(
    dots: Sequence[Dot], was: Sequence[Dot], limit: Sequence[Dot], metric: str, along: str
) -> tuple[Any, str, str]:
    """Return the chart, the kind of its value axis, and the unit."""
    import altair as alt

    words = wording.factor_words(along)
    every = [*dots, *was, *limit]
    ends = [end for one in every for end in (one.value, one.low, one.high) if end]
    divisor, unit = quantity.scale(max(ends), describe(metric).unit)
    noun = describe(metric).noun
    unit = {"1/s": f"{noun}/s" if noun else "per second"}.get(unit, unit)
    labels = list(dict.fromkeys(one.label for one in sorted(dots, key=lambda one: theme.slot(one.system))))
    systems = [next(one.system for one in dots if one.label == label) for label in labels]
    y_scale, y_axis = axes.value([end / divisor for end in ends], unit)
    places = sorted({one.at for one in every})
    # Levels are evenly apart: on a scale of their values, some would be too close for their intervals.
    names = json.dumps([_shown(along, at) for at in places])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.4, len(places) - 0.6], nice=False),
        axis=alt.Axis(
            title=words[0].upper() + words[1:], values=list(range(len(places))), grid=False,
            labelExpr=f"{names}[datum.value]",
        ),
    )  # fmt: skip
    y = alt.Y("value:Q", scale=y_scale, axis=y_axis)
    legend = theme.legend(labels, lines=False)
    paint = alt.Color("label:N", scale=theme.colours(systems, labels), legend=legend)
    shape = alt.Shape("label:N", scale=theme.shapes(systems, labels), legend=legend)

    def rows(found: Sequence[Dot]) -> list[dict[str, Any]]:
        named = {f"{label}, published": label for label in labels} | {label: label for label in labels}
        by_system = dict(zip(systems, labels, strict=True))
        return [
            {
                "label": (label := named.get(one.label, by_system.get(one.system, one.label))),
                "said": one.label, "at": one.at,
                "x": places.index(one.at) + APART * (labels.index(label) - (len(labels) - 1) / 2),
                "value": one.value / divisor, "low": one.low / divisor if one.low else None,
                "high": one.high / divisor if one.high else None,
            }
            for one in found
        ]  # fmt: skip

    tooltip = [
        alt.Tooltip("said:N", title="label"),
        alt.Tooltip("at:Q", title=words),
        alt.Tooltip("value:Q", title=unit, format=".3~g"),
    ]

    def data(found: Sequence[Dot]) -> Any:
        return alt.Chart(alt.InlineData(values=rows(found)))

    low = alt.Y("low:Q", scale=y_scale, axis=y_axis)
    known = [one for one in dots if one.low is not None]
    layers = [
        data(held)
        .mark_rule(strokeWidth=6, opacity=0.28, **style)
        .encode(x=x, y=low, y2="high:Q", color=paint)
        for held, style in (
            ([one for one in known if not one.brief], {"strokeCap": "round"}),
            ([one for one in known if one.brief], {"strokeDash": [3, 3]}),
        )
        if held
    ]
    layers += [
        data(dots).mark_line(strokeWidth=1.6).encode(x=x, y=y, color=paint),
        data(dots)
        .mark_point(filled=True, size=55)
        .encode(x=x, y=y, color=paint, shape=shape, tooltip=tooltip),
    ]
    drawn = [one for one in was if one.system in systems]
    if drawn:
        layers += [
            data(drawn)
            .mark_line(strokeWidth=1.2, strokeDash=[3, 3], opacity=0.8)
            .encode(x=x, y=y, color=paint),
            data(drawn)
            .mark_point(filled=False, strokeWidth=2, size=90, shape="diamond")
            .encode(x=x, y=y, color=paint, tooltip=tooltip),
        ]
    if limit:
        held = [
            {"x": places.index(one.at), "value": one.value / divisor, "label": one.label} for one in limit
        ]
        base = alt.Chart(alt.InlineData(values=held))
        layers.insert(0, base.mark_line(strokeDash=[5, 4], color="gray", strokeWidth=2).encode(x=x, y=y))
        end = alt.Chart(alt.InlineData(values=held[-1:]))
        layers.append(end.mark_text(align="right", dy=-9, color="gray").encode(x=x, y=y, text="label:N"))
    return alt.layer(*layers).properties(width="container", height=HEIGHT), marks.kind(y_scale), unit


def _alternative(dots: Sequence[Dot], title: str, metric: str, along: str) -> str:
    parts = []
    for label in dict.fromkeys(one.label for one in dots):
        own = sorted((one for one in dots if one.label == label), key=lambda one: one.at)
        ends = [own[0], own[-1]] if len(own) > 1 else own
        parts.append(
            f"{label} " + ", ".join(f"{_text(one.value, metric)} at {_shown(along, one.at)}" for one in ends)
        )
    return f"{title}, one line for each system: {'; '.join(parts)}."


def _text(value: float | None, metric: str) -> str:
    return quantity.text(value, describe(metric).unit, describe(metric).noun)


def _table(dots: Sequence[Dot], along: str, metric: str) -> Table:
    words = wording.factor_words(along)
    columns = ["System", words[0].upper() + words[1:], describe(metric).title, "95 % CI", "Trials"]
    rows = []
    for one in dots:
        spread = f"none: fewer than {FEWEST} trials" if one.trials else "published"
        if one.low is not None and one.high is not None:
            spread = f"{_text(one.low, metric)} to {_text(one.high, metric)}"
        rows.append(
            [
                one.label,
                _shown(along, one.at),
                _text(one.value, metric),
                spread,
                str(one.trials or quantity.MISSING),
            ]
        )
    return Table(columns, rows, numeric=frozenset({*columns[1:3], "Trials"}))


def batches(
    run: Run, phases: Mapping[str, int], title: str, fixed: Mapping[str, Wanted]
) -> Figure | Markdown:
    """Draw the rate of puts along the objects per transaction, for cells with the levels ``fixed``."""
    metric = "objects_per_second"
    if refusal := refused(run, title):
        return refusal
    groups = {
        f"{batch}": [one for one in estimates(run, phase, metric) if one.value and one.cell.at(fixed)]
        for phase, batch in phases.items()
    }
    groups = {name: held for name, held in groups.items() if held}
    if len(groups) < 2:
        return missing(title, "it needs trials of puts with two or more batch sizes")
    found = [one for held in groups.values() for one in held]
    brief = {(phase, name) for phase in phases for name in limits.brief(run, phase)}
    dots = [
        Dot(
            one.cell.system, one.cell.title, float(phases[one.phase]), one.value or 0.0, one.low, one.high,
            len(one.points), (one.phase, one.cell.name) in brief,
        )
        for one in found
    ]  # fmt: skip
    drawn, kind, unit = _draw(dots, (), (), metric, "objects per transaction")
    name = lead.title(run, title, groups, "size", "{} per transaction")
    return Figure(
        theme.scaled_title(run, name), drawn, _alternative(dots, title, metric, "objects per transaction"),
        _table(dots, "objects per transaction", metric), lead.caveat(run, found), lead.subtitle(found, kind, unit),
    )  # fmt: skip


def percentiles(
    run: Run,
    claimed: str,
    title: str,
    fixed: Mapping[str, Wanted],
    published: Mapping[str, Mapping[float, float]],
) -> Figure | Markdown:
    """Draw the latency of operations along percentiles, for the setups of a claim that have the levels ``fixed``.

    ``published`` has the published latencies: system, percentile, seconds.
    """
    if refusal := refused(run, title):
        return refusal
    known = () if run.against_itself or not run.declared.get("claims") else claims.of_run(run)
    judged = next((one for one in known if one.id == claimed), None)
    cells = (
        {cell.name for one in judged.cells for cell in one.sides.cells if cell.at(fixed)} if judged else set()
    )
    if judged is None or not cells:
        return missing(title, f"this run has no setups of the claim {claimed}")
    groups = {
        at: [one for one in estimates(run, judged.phase, metric) if one.value and one.cell.name in cells]
        for metric, at in PERCENTILES.items()
    }
    dots = [
        Dot(
            one.cell.system, one.cell.title, at, one.value or 0.0, one.low, one.high, len(one.points),
            one.cell.name in limits.brief(run, judged.phase),
        )
        for at, held in groups.items()
        for one in held
    ]  # fmt: skip
    found = [one for held in groups.values() for one in held]
    if not found:
        return missing(title, f"no valid trial of {judged.phase} has a latency")
    measured = {one.cell.system for one in found}
    was = [
        Dot(system, f"{claim.published_title(run, system)}, published", at, value)
        for system, held in published.items()
        for at, value in held.items()
        if system in measured
    ]
    drawn, kind, unit = _draw(dots, was, (), "latency_p50", "percentile")
    named = {f"{at:g}": held for at, held in groups.items() if held}
    name = lead.title(run, title, named, "percentile", "the {}th percentile")
    what = lead.subtitle(found, kind, unit)
    return Figure(
        theme.scaled_title(run, name), drawn, _alternative(dots + was, title, "latency_p50", "percentile"),
        _table(dots + was, "percentile", "latency_p50"), lead.caveat(run, found),
        what.replace(describe("latency_p50").title, "Latency", 1) + ("; hollow and dashed: published" if was else ""),
    )  # fmt: skip
