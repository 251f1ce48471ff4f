"""Charts of telemetry over time: processor, memory and disk of server, client and machine."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import Wanted, chosen, labelled
from benchbook.analyse.run import Cell, Run
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing

if TYPE_CHECKING:
    import polars as pl

SHORTEST_SECONDS = 0.5
"""Shortest time between two samples that gives a useful rate."""


@dataclass(frozen=True)
class Panel:
    """One chart: its title, and the samples that it shows."""

    title: str
    scope: str
    metrics: tuple[str, ...]
    """Metrics to sum; those that were not sampled are ignored."""
    unit: str
    cumulative: bool = False
    """True if samples are counters, so that the chart shows their difference per second."""


CPU = ("cpu_seconds", "cpu_user_seconds", "cpu_system_seconds")

PANELS = (
    Panel("Processor use of the server (cores)", "server", CPU, "cores", True),
    Panel("Processor use of the client (cores)", "client", CPU, "cores", True),
    Panel("Resident memory of the server, summed over its processes", "server", ("rss_bytes",), "B"),
    Panel("Resident memory of the client", "client", ("rss_bytes",), "B"),
    Panel("Bytes written by the server per second", "server", ("write_bytes",), "B/s", True),
    Panel("Bytes written by the client per second", "client", ("write_bytes",), "B/s", True),
    Panel(
        "Bytes written to the disk per second by all processes",
        "machine",
        ("device_write_bytes",),
        "B/s",
        True,
    ),
    Panel(
        "Pressure: share of time a process waited for the disk",
        "machine",
        ("psi_io_some_seconds",),
        "share",
        True,
    ),
    Panel(
        "Processor time stolen by the hypervisor (cores)", "machine", ("cpu_steal_seconds",), "cores", True
    ),
)
"""Embedded systems run in the client's process, so the client's panels show them."""


@dataclass(frozen=True)
class Series:
    """The samples of one trial: (seconds since its start, value)."""

    cell: Cell
    block: int
    samples: tuple[tuple[float, float], ...]


def mean(found: list[Series]) -> float:
    """Return the mean over time, weighting each sample by the time since the previous one.

    Short phases have denser samples, so an unweighted mean would favour them.
    """
    spans = [
        (later[0] - earlier[0], later[1])
        for one in found
        for earlier, later in itertools.pairwise(((0.0, 0.0), *one.samples))
    ]
    whole = sum(span for span, _ in spans)
    if whole <= 0:
        return sum(value for _, value in spans) / len(spans)
    return sum(span * value for span, value in spans) / whole


def series(run: Run, panel: Panel) -> list[Series]:
    """Return the samples of every valid trial that has at least two of this panel."""
    import polars as pl

    known = {cell.name: cell for cell in labelled(run)}
    rows = _samples(run).filter((pl.col("scope") == panel.scope) & pl.col("metric").is_in(panel.metrics))
    sums = rows.group_by("trial", "seconds", maintain_order=True).agg(pl.col("value").sum())
    # A row for each trial: a row for each sample takes half a second with 10,000 trials.
    of_trials = sums.group_by("trial", maintain_order=True).agg("seconds", "value")
    taken = {
        trial: sorted(zip(seconds, values, strict=True)) for trial, seconds, values in of_trials.iter_rows()
    }
    most = _cores(run)
    made = []
    for trial, (name, block) in enumerate(run.ok.select("cell", "block").iter_rows()):
        if panel.scope == "server" and run.embedded(known[name].system):
            continue  # the client's panel shows it
        samples = taken.get(trial, [])
        if panel.cumulative:
            samples = rates(samples, most if panel.unit == "cores" else None)
        if len(samples) > 1:
            made.append(Series(known[name], block, tuple(samples)))
    order = list(known)
    return sorted(made, key=lambda one: (order.index(one.cell.name), one.block))


@functools.cache
def _samples(run: Run) -> pl.DataFrame:
    """Return the samples of valid trials that are numbers; ``trial`` is the place of the trial in ``run.ok``."""
    import polars as pl

    trials = run.ok.select("trial_id").with_row_index("trial")
    found = (
        run.frame("telemetry").filter(pl.col("value").is_finite()).join(trials, on="trial_id", how="inner")
    )
    # At the boundary of two phases, one sample belongs to both.
    return found.select("trial", "scope", "metric", "seconds", "value").unique(
        ["trial", "scope", "metric", "seconds"], maintain_order=True
    )


def rates(samples: list[tuple[float, float]], most: float | None = None) -> list[tuple[float, float]]:
    """Return differences per second; a counter that decreases (a process ended) gives none.

    A rate covers at least ``SHORTEST_SECONDS``, because samples at the ends of short phases are dense. ``most`` is the
    largest possible rate. A short-lived process adds its whole usage when it ends, so usage above ``most`` belongs to
    earlier samples: the function moves it back, which keeps the sum.
    """
    apart: list[tuple[float, float]] = []
    for seconds, value in samples:
        if not apart or seconds - apart[-1][0] >= SHORTEST_SECONDS:
            apart.append((seconds, value))
    spans = [
        (later, later - earlier, above - below)
        for (earlier, below), (later, above) in itertools.pairwise(apart)
        if above >= below
    ]
    made: list[tuple[float, float]] = []
    carried = 0.0
    for end, length, gained in reversed(spans):
        total = gained + carried
        used = total if most is None else min(total, most * length)
        carried = total - used
        made.append((end, used / length))
    if made and carried:
        made[-1] = (made[-1][0], made[-1][1] + carried / spans[0][1])
    return made[::-1]


def _cores(run: Run) -> float | None:
    """Return the number of cores of the machine; None if the run does not record it."""
    cpu = run.facts("host").get("cpu")
    found = cpu.get("logical_cores") if isinstance(cpu, dict) else None
    return float(found) if isinstance(found, int) else None


DRAWN_TRIALS = 3
"""Most trials of a cell in a chart; the table includes all."""
DRAWN_LINES = 40
"""Most lines of a chart with several trials of a cell: a run with many cells has one line for each."""
DRAWN_SAMPLES = 60
"""Most points of a line; longer series are averaged."""
MOST_NAMED = 10
"""Most setups with a name and a dash of their own; of more, the lines show only the system."""
MARKED_SAMPLES = 15
"""Most samples of a line that the chart marks with points."""
HEIGHT = 170


def chart(
    run: Run, panels: tuple[Panel, ...] = PANELS, only: Mapping[str, Wanted] | None = None
) -> Figures | Markdown:
    """Draw a figure for each panel; the note below names panels without samples.

    ``only`` selects cells by levels of factors, for a run with too many cells.
    """
    figures, absent = [], []
    shown = chosen(run, only)
    each = _drawn_trials(len(shown))
    inside = [cell for cell in shown.values() if run.embedded(cell.system)]
    for panel in panels:
        found = [
            replace(one, cell=shown[one.cell.name]) for one in series(run, panel) if one.cell.name in shown
        ]
        if not found:
            if panel.scope != "server" or len(inside) < len(shown):
                absent.append(f"{panel.title} (not sampled)")
        elif all(value == 0 for one in found for _, value in one.samples):
            absent.append(f"{panel.title} (zero in every sample)")
        else:
            summary = _summary(found, panel)
            figures.append(
                Figure(
                    theme.scaled_title(run, panel.title),
                    _draw(found, panel, each),
                    _alternative(summary, panel),
                    _table(summary),
                    width=theme.HALF_WIDTH,
                )
            )
    if not figures:
        return missing(
            "Telemetry", "no valid trial of this run lasted for two samples, which are one second apart"
        )
    note = f"One line per trial, at most {each} for each setup; the tables include all trials."
    if len(shown) > MOST_NAMED:
        note += " A line's colour is its system; the table under a chart has each setup."
    if inside:
        note += " Embedded systems run inside the client's process, so the client's numbers include them."
    if absent:
        note += f" Not shown: {'; '.join(absent)}."
    return Figures(figures, note)


def _drawn_trials(cells: int) -> int:
    """Return the number of trials of each cell to draw.

    >>> _drawn_trials(4), _drawn_trials(16), _drawn_trials(60)
    (3, 2, 1)
    """
    return max(1, min(DRAWN_TRIALS, DRAWN_LINES // max(cells, 1)))


def _short(cells: list[Cell]) -> dict[str, str]:
    """Return label → its text in the chart, without the system's title if all cells have the same."""
    if len({cell.title for cell in cells}) > 1 or any(cell.label == cell.title for cell in cells):
        return {cell.label: cell.label for cell in cells}
    return {cell.label: cell.label.removeprefix(f"{cell.title}, ") for cell in cells}


def _thinned(samples: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    size = -(-len(samples) // DRAWN_SAMPLES)
    groups = [samples[start : start + size] for start in range(0, len(samples), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def _draw(found: list[Series], panel: Panel, each: int) -> Any:
    import altair as alt

    largest = max(value for one in found for _, value in one.samples)
    divisor, unit = quantity.scale(largest, panel.unit)
    cells = list(dict.fromkeys(one.cell for one in found))
    short = _short(cells)
    line_of = short if len(cells) <= MOST_NAMED else {cell.label: cell.title for cell in cells}
    lines = {line_of[cell.label]: cell.system for cell in cells}
    labels, systems = list(lines), list(lines.values())
    of_cell: dict[str, list[Series]] = {}
    for one in found:
        of_cell.setdefault(one.cell.name, []).append(one)
    drawn = [one for own in of_cell.values() for one in own[:each]]
    rows = [
        {
            "line": line_of[one.cell.label],
            "cell": short[one.cell.label],
            "block": one.block + 1,
            "seconds": round(seconds, 2),
            "value": float(f"{value / divisor:.4g}"),
        }
        for one in drawn
        for seconds, value in _thinned(one.samples)
    ]
    few = max(len(one.samples) for one in drawn) <= MARKED_SAMPLES
    # Each step copies a chart with its data, so the data comes last.
    base = alt.Chart().encode(
        x=alt.X("seconds:Q", title="Time since the start of the trial (s)", axis=alt.Axis(format=axes.PLAIN)),
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=True), axis=alt.Axis(format=axes.PLAIN)),
        color=alt.Color("line:N", scale=theme.colours(systems, labels), legend=theme.legend(labels)),
        detail=["cell:N", "block:N"],
    )
    drawn_lines = base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
        strokeDash=alt.StrokeDash("line:N", scale=theme.dashes(systems, labels))
    )
    points = base.mark_point(size=18 if few else 40, opacity=1 if few else 0).encode(
        tooltip=[
            alt.Tooltip("cell:N"),
            alt.Tooltip("block:O"),
            alt.Tooltip("seconds:Q"),
            alt.Tooltip("value:Q", format=".3~g", title=unit),
        ]
    )
    return alt.layer(drawn_lines, points, data=alt.InlineData(values=rows)).properties(
        width="container", height=HEIGHT
    )


Summary = list[tuple[str, int, int, str, str]]
"""Label, trials, samples, mean and largest value of each cell."""


def _summary(found: list[Series], panel: Panel) -> Summary:
    made: Summary = []
    of_label: dict[str, list[Series]] = {}
    for one in found:
        of_label.setdefault(one.cell.label, []).append(one)
    for label, own in of_label.items():
        values = [value for one in own for _, value in one.samples]
        made.append((label, len(own), len(values), _text(mean(own), panel), _text(max(values), panel)))
    return made


def _text(value: float, panel: Panel) -> str:
    if panel.unit == "share":
        return quantity.percent(value)
    return quantity.text(value, "1", "cores") if panel.unit == "cores" else quantity.text(value, panel.unit)


def _alternative(summary: Summary, panel: Panel) -> str:
    parts = [f"{label} {mean} on average, at most {largest}" for label, _, _, mean, largest in summary]
    return f"{panel.title} over the time of a trial: {'; '.join(parts)}."


def _table(summary: Summary) -> Table:
    columns = ["System", "Trials", "Samples", "Mean", "Largest"]
    rows = [[str(part) for part in line] for line in summary]
    return Table(columns, rows, numeric=frozenset(columns[1:]))
