"""Chart of latency against throughput, from an open loop at several offered rates.

If a system reaches less than 99 % of an offered rate, its queue only grows and its latency means nothing. The chart
then marks only the throughput that it reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.interval import mean_log
from benchbook.analyse.model import FEWEST
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.conclusion import refused
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown, Table, missing

REACHED = 0.99
"""Share of the offered rate from which it counts as reached."""
HEIGHT = 260


@dataclass(frozen=True)
class Rate:
    """The trials of one system at one offered rate."""

    system: str
    label: str
    offered: float
    """Offered operations per second."""
    achieved: float
    """Typical value of the trials: completed operations per second."""
    latency: float | None
    """Typical value of the trials, s; None if the rate was not reached."""
    low: float | None
    high: float | None
    trials: int

    @property
    def saturated(self) -> bool:
        """True if the rate was not reached."""
        return self.achieved < REACHED * self.offered


def chart(run: Run, phase: str, metric: str = "latency_p99", factor: str = "rate") -> Figure | Markdown:
    """Draw ``metric`` of ``phase`` against the reached rate, a line for each system.

    The levels of ``factor`` are the offered rates, in operations per second.
    """
    title = f"{describe(metric).title} against throughput, {phase}"
    if words := refused(run, title):
        return words
    found = rates(run, phase, metric, factor)
    if len({one.offered for one in found}) < 2:
        return missing(title, f"it needs trials of {phase} at two or more levels of the factor {factor}")
    return figure(found, theme.scaled_title(run, title), metric)


def rates(run: Run, phase: str, metric: str, factor: str) -> list[Rate]:
    """Return an entry for each system (with its other levels) and offered rate, in the order of the chart."""
    levels: dict[str, dict[str, str]] = {}
    for trial_id, name, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        levels.setdefault(trial_id, {})[name] = level
    names = {name for known in levels.values() for name in known} - {"system", factor}
    varying = sorted(name for name in names if len({known.get(name) for known in levels.values()}) > 1)
    reached: dict[str, float] = {}
    for workload, name in run.phases_having(lambda one: one.rate):
        if name == phase and workload.rate is not None:
            reached = run.by_trial(phase, workload.rate.operations)
    taken = run.by_trial(phase, metric)
    groups: dict[tuple[str, str, float], list[str]] = {}
    for trial_id, system in run.ok.select("trial_id", "system").iter_rows():
        known = levels.get(trial_id, {})
        if trial_id not in reached or trial_id not in taken or not _is_number(known.get(factor)):
            continue
        others = [f"{name.replace('_', ' ')} {known[name]}" for name in varying if name in known]
        label = ", ".join([run.title(system), *others])
        groups.setdefault((system, label, float(known[factor])), []).append(trial_id)
    return [
        rate(system, label, offered, [(reached[one], taken[one]) for one in trials])
        for (system, label, offered), trials in sorted(
            groups.items(), key=lambda one: (theme.slot(one[0][0]), *one[0])
        )
    ]


def rate(system: str, label: str, offered: float, trials: Sequence[tuple[float, float]]) -> Rate:
    """Summarise trials at one offered rate; each is (reached rate in 1/s, latency in s)."""
    achieved = mean_log([one for one, _ in trials]).value or 0.0
    found = mean_log([latency for _, latency in trials])
    value, low, high = found.value, found.low, found.high
    if achieved < REACHED * offered:
        value = low = high = None
    return Rate(system, label, offered, achieved, value, low, high, len(trials))


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and float(text) > 0
    except ValueError:
        return False


def figure(found: Sequence[Rate], title: str, metric: str = "latency_p99") -> Figure:
    """Return the figure of some rates, which may come from several runs."""
    return Figure(title, _draw(found, describe(metric).title), _alternative(found, title), _table(found))


def _draw(found: Sequence[Rate], title: str) -> Any:
    import altair as alt

    known = [one for one in found if one.latency is not None]
    ends = [end for one in known for end in (one.latency, one.low, one.high) if end]
    divisor, unit = quantity.scale(max(ends, default=1.0), "s")
    labels = list(dict.fromkeys(one.label for one in found))
    systems = [next(one.system for one in found if one.label == label) for label in labels]
    rows = [
        {
            "cell": one.label,
            "rate": round(one.achieved, 4),
            "latency": (one.latency or 0.0) / divisor,
            "low": None if one.low is None else one.low / divisor,
            "high": None if one.high is None else one.high / divisor,
            "offered": one.offered,
        }
        for one in known
    ]
    full = [
        {"cell": one.label, "rate": round(one.achieved, 4), "offered": one.offered}
        for one in found
        if one.saturated
    ]
    x_scale, x_axis = axes.value([one.achieved for one in found], "Reached operations per second")
    y_scale, y_axis = axes.logarithmic([end / divisor for end in ends] or [1.0, 2.0], f"{title} ({unit})")
    x = alt.X("rate:Q", scale=x_scale, axis=x_axis)
    y = alt.Y("latency:Q", scale=y_scale, axis=y_axis)
    paint = alt.Color("cell:N", scale=theme.colours(systems, labels))
    order = alt.Order("offered:Q")
    tooltip = [
        alt.Tooltip("cell:N"),
        alt.Tooltip("offered:Q", title="offered, 1/s"),
        alt.Tooltip("rate:Q", title="reached, 1/s"),
    ]
    whole = alt.Chart(alt.InlineData(values=[row for row in rows if row["low"] is not None]))
    return alt.layer(
        alt.Chart(alt.InlineData(values=full))
        .mark_rule(strokeDash=[3, 3], opacity=0.75, strokeWidth=1.5)
        .encode(x=x, color=paint, tooltip=tooltip),
        whole.mark_rule(strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=x, y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q", color=paint
        ),
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=1.6)
        .encode(x=x, y=y, color=paint, order=order),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=50)
        .encode(
            x=x,
            y=y,
            color=paint,
            shape=alt.Shape("cell:N", scale=theme.shapes(systems, labels)),
            tooltip=[*tooltip, alt.Tooltip("latency:Q", title=f"latency, {unit}", format=".4~g")],
        ),
    ).properties(width="container", height=HEIGHT)


def _alternative(found: Sequence[Rate], title: str) -> str:
    parts = []
    for label in dict.fromkeys(one.label for one in found):
        held = [one for one in found if one.label == label]
        known = [one for one in held if one.latency is not None]
        full = [one for one in held if one.saturated]
        words = [
            f"{quantity.text(one.latency, 's')} at {quantity.number(one.achieved)} per second"
            for one in ([known[0], known[-1]] if len(known) > 1 else known)
        ]
        if full:
            words.append(f"reached at most {quantity.number(max(one.achieved for one in full))} per second")
        parts.append(f"{label} {', '.join(words)}")
    return f"{title}, one line for each system: {'; '.join(parts)}."


def _table(found: Sequence[Rate]) -> Table:
    columns = ["System", "Offered (1/s)", "Reached (1/s)", "Latency", "95 % CI", "Trials"]
    rows = []
    for one in found:
        if one.saturated:
            latency, spread = "not shown", "the rate was not reached"
        elif one.low is None or one.high is None:
            latency = quantity.text(one.latency, "s")
            spread = f"none: fewer than {FEWEST} trials"
        else:
            latency = quantity.text(one.latency, "s")
            spread = f"{quantity.text(one.low, 's')} to {quantity.text(one.high, 's')}"
        rows.append(
            [
                one.label,
                quantity.number(one.offered),
                quantity.number(one.achieved),
                latency,
                spread,
                str(one.trials),
            ]
        )
    return Table(columns, rows, numeric=frozenset({*columns[1:4], "Trials"}))
