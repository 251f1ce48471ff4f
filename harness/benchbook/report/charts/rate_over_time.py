"""Chart of rows (or bytes) per second over the time of a phase, a line for each trial: whether writing was steady.

Cells that differ only in the system share a figure; other levels have separate figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.measure.steady import FEWEST_INTERVALS
from benchbook.report import figure, theme
from benchbook.report import theme as axes
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing


@dataclass(frozen=True)
class Counted:
    """The counted things."""

    title: str
    column: str
    """Column of table ``intervals``."""
    unit: str
    noun: str
    shortest_seconds: float
    """Length of an interval; a shorter one is the end of a phase, and its rate is unreliable."""


ROWS = Counted("Rows acknowledged per second over time", "rows", "1/s", "rows", 0.5)
BYTES = Counted("Bytes per second over time", "bytes", "B/s", "", 0.2)
"""For fio, which records its bandwidth four times per second."""
DRAWN_POINTS = 120
"""Most points of a line; longer lines are averaged."""
DRAWN_TRIALS = 20
"""Most trials of a system in a figure; the chart shows an even selection of more."""
HEIGHT = 170


@dataclass(frozen=True)
class Trial:
    """The rates of one trial."""

    cell: Cell
    block: int
    rates: tuple[tuple[float, float], ...]
    """(seconds since the start of the phase, rate per second)."""
    steady_from: float | None
    """Start of the steady part, s; None if there is none."""


def chart(run: Run, phase: str = "load", counted: Counted = ROWS) -> Figures | Markdown:
    """Draw a figure for each combination of levels, except for the system."""
    groups: dict[str, list[Trial]] = {}
    for key, trial in trials(run, phase, counted):
        groups.setdefault(key, []).append(trial)
    title = counted.title if counted.column == "rows" else f"{counted.title}, {phase}"
    if not groups:
        least = f"{counted.shortest_seconds:g} s"
        return missing(title, f"no valid trial of this run has two intervals of {least} or more")
    figures = [
        Figure(
            theme.scaled_title(run, f"{title}{f', {key}' if key else ''}: {_lowest(found)}"), _draw(found, counted),
            _alternative(title, key, found, counted), _table(found, counted),
            subtitle="A line for each trial, linear axis from 0; more is better", width=theme.HALF_WIDTH,
        )
        for key, found in sorted(groups.items(), key=lambda item: _natural(item[0]))
    ]  # fmt: skip
    note = "One line per trial" + (
        ", the sum of all clients without refused rows."
        if counted.column == "rows"
        else ", as fio reports it."
    )
    most = max(len(own) for found in groups.values() for own in _by_system(found).values())
    if most > DRAWN_TRIALS:
        note += f" The charts and tables show at most {DRAWN_TRIALS} of the {most:,} trials of a system."
    return Figures(figures, note)


def trials(run: Run, phase: str, counted: Counted = ROWS) -> list[tuple[str, Trial]]:
    """Return every valid trial with its rates, and the text of its levels except for the system."""
    import polars as pl

    rows = run.frame("intervals").filter(
        (pl.col("phase") == phase) & (pl.col("duration_seconds") >= counted.shortest_seconds)
    )
    known = {cell.name: cell for cell in labelled(run)}
    levels = _varying(run)
    begins = run.by_trial(phase, "steady_from_seconds")
    rates: dict[str, list[tuple[float, float]]] = {}
    columns = ("trial_id", "started_seconds", "duration_seconds", counted.column)
    for trial_id, start, length, count in rows.select(columns).sort("started_seconds").iter_rows():
        rates.setdefault(trial_id, []).append((start + length, count / length))
    return [
        (levels.get(trial_id, ""), Trial(known[name], block, tuple(rates[trial_id]), begins.get(trial_id)))
        for trial_id, name, block in run.ok.select("trial_id", "cell", "block").iter_rows()
        if len(rates.get(trial_id, ())) >= 2
    ]


def _by_system(found: list[Trial]) -> dict[str, list[Trial]]:
    """Return the title of a system → its trials."""
    held: dict[str, list[Trial]] = {}
    for one in found:
        held.setdefault(one.cell.title, []).append(one)
    return held


def _shown(found: list[Trial]) -> list[Trial]:
    """Return the trials that chart and table show."""
    kept = {id(one) for own in _by_system(found).values() for one in figure.evenly(own, DRAWN_TRIALS)}
    return [one for one in found if id(one) in kept]


def _varying(run: Run) -> dict[str, str]:
    """Return trial → text of its levels of factors that have more than one level, except for the system."""
    held: dict[str, dict[str, str]] = {}
    for trial_id, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        if factor != "system":
            held.setdefault(trial_id, {})[factor] = level
    known: dict[str, list[str]] = {}
    for one in held.values():
        for factor, level in one.items():
            known.setdefault(factor, []).append(level)
    # A factor that some trials lack varies too.
    several = {name for name, levels in known.items() if len({*levels}) > 1 or len(levels) < len(held)}
    return {
        trial_id: ", ".join(
            f"{name.replace('_', ' ')} {level}" for name, level in sorted(one.items()) if name in several
        )
        for trial_id, one in held.items()
    }


def _draw(found: list[Trial], counted: Counted) -> Any:
    import altair as alt

    largest = max(rate for one in found for _, rate in one.rates)
    divisor, unit = quantity.scale(largest, counted.unit)
    titles = list(dict.fromkeys((one.cell.title, one.cell.system) for one in found))
    labels, systems = [label for label, _ in titles], [system for _, system in titles]
    rows = [
        {
            "system": one.cell.title,
            "block": one.block + 1,
            "seconds": round(seconds, 2),
            "rate": float(f"{rate / divisor:.4g}"),
        }
        for one in _shown(found)
        for seconds, rate in _thinned(one.rates)
    ]
    title = {"1/s": "rows/s"}.get(unit, unit.replace("1/s", "rows/s"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("seconds:Q", title="Time since the phase began (s)", axis=alt.Axis(format=axes.PLAIN)),
        y=alt.Y("rate:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(labelExpr=axes.SHORT)),
        color=alt.Color("system:N", scale=theme.colours(systems, labels), legend=theme.legend(labels)),
        detail="block:N",
    )
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("block:O"),
        alt.Tooltip("seconds:Q"),
        alt.Tooltip("rate:Q"),
    ]
    return alt.layer(
        base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
            strokeDash=alt.StrokeDash("system:N", scale=theme.dashes(systems, labels))
        ),
        base.mark_point(size=40, opacity=0).encode(tooltip=tooltip),
    ).properties(width="container", height=HEIGHT)


def _thinned(rates: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    size = -(-len(rates) // DRAWN_POINTS)
    groups = [rates[start : start + size] for start in range(0, len(rates), size)]
    return [(group[-1][0], sum(rate for _, rate in group) / len(group)) for group in groups]


def _alternative(title: str, key: str, found: list[Trial], counted: Counted) -> str:
    where = f" at {key}" if key else ""
    parts = []
    for system, own in _by_system(found).items():
        if len(own) > DRAWN_TRIALS:
            steady = sum(one.steady_from is not None for one in own)
            parts.append(f"{system}, {len(own):,} trials, {steady:,} of them steady: {_range(own, counted)}")
        else:
            parts += [
                f"{system}, block {one.block + 1}: {_range([one], counted)}, {_steady(one)}" for one in own
            ]
    return f"{title}{where}, one line per trial. {'; '.join(parts)}."


def _lowest(found: list[Trial]) -> str:
    """Return the lowest rate of an interval relative to the median: near 0, writing stalled."""
    rates = [rate for one in found for _, rate in one.rates]
    return f"at the lowest {quantity.percent(min(rates) / (median(rates) or 1.0))} of the median"


def _range(found: list[Trial], counted: Counted) -> str:
    rates = [rate for one in found for _, rate in one.rates]
    return f"{_rate(min(rates), counted)} to {_rate(max(rates), counted)}"


def _rate(rate: float, counted: Counted) -> str:
    return quantity.text(rate, counted.unit, counted.noun)


def _steady(one: Trial) -> str:
    if one.steady_from is not None:
        return f"steady from {one.steady_from:.0f} s on"
    return "too short" if len(one.rates) < FEWEST_INTERVALS else "never steady"


def _table(found: list[Trial], counted: Counted) -> Table:
    rows = [
        [
            one.cell.label, str(one.block + 1), str(len(one.rates)),
            _rate(min(rate for _, rate in one.rates), counted),
            _rate(max(rate for _, rate in one.rates), counted), _steady(one),
        ]
        for one in _shown(found)
    ]  # fmt: skip
    columns = ["System", "Block", "Intervals", "Lowest", "Highest", "Steady part"]
    return Table(columns, rows, numeric=frozenset({"Block", "Intervals", "Lowest", "Highest"}))


def _natural(text: str) -> list[tuple[int, float, str]]:
    return [
        (0, float(word), "") if word.isdecimal() else (1, 0.0, word) for word in text.replace(",", "").split()
    ]
