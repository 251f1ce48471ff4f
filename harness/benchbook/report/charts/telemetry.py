"""Charts of telemetry over time: processor, memory and disk of server, client and machine."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.analyse import quantity
from benchbook.analyse.cells import Wanted, chosen
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.report import theme
from benchbook.report import theme as axes
from benchbook.report.figure import Figure, Figures
from benchbook.report.table import Markdown, Table, missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
class Samples:
    """The samples of a panel in valid trials: arrays with an entry for each sample, by trial and then by time."""

    places: NDArray[np.int64]
    """Rows of ``Run.ok``."""
    seconds: NDArray[np.float64]
    """Since the start of the trial."""
    values: NDArray[np.float64]

    def at(self, which: NDArray[Any]) -> Samples:
        """Return the entries at these places, or where ``which`` is true."""
        return Samples(self.places[which], self.seconds[which], self.values[which])

    def begins(self) -> NDArray[np.int64]:
        """Return where the samples of each trial begin."""
        import numpy as np

        return np.flatnonzero(np.diff(self.places, prepend=-1))

    def mean(self) -> float:
        """Return the mean over time, weighting each sample by the time since the previous one of its trial.

        Short phases have denser samples, so an unweighted mean would favour them.
        """
        import numpy as np

        spans = np.diff(self.seconds, prepend=0.0)
        begins = self.begins()
        spans[begins] = self.seconds[begins]
        whole = float(spans.sum())
        return float(spans @ self.values) / whole if whole > 0 else float(self.values.mean())


def samples(run: Run, panel: Panel) -> Samples:
    """Return the samples of every valid trial that has at least two of this panel."""
    import numpy as np

    found = _samples(run, PANELS if panel in PANELS else (panel,))[panel]
    if panel.scope == "server":  # the client's panel shows embedded systems
        inside = np.array([run.embedded(cell.system) for cell in run.cells], dtype=bool)
        found = found.at(~inside[run.places.cells[found.places]])
    if panel.cumulative:
        found = rates(found, cores(run) if panel.unit == "cores" else None)
    counts = np.bincount(found.places, minlength=len(run.places.ids))
    return found.at(counts[found.places] > 1)


@functools.cache
def _samples(run: Run, panels: tuple[Panel, ...]) -> dict[Panel, Samples]:
    """Return the samples of each panel that are numbers, summed over its metrics."""
    import numpy as np

    kinds = [(panel.scope, metric, place) for place, panel in enumerate(panels) for metric in panel.metrics]
    rows = run.samples_of(kinds)
    panel, place, seconds, value = (rows[name].to_numpy() for name in ("sum", "place", "seconds", "value"))
    order = np.lexsort((seconds, place, panel))
    whole, panel = Samples(place[order], seconds[order], value[order]), panel[order]
    ends = np.searchsorted(panel, range(len(panels) + 1))
    return {one: whole.at(np.arange(ends[at], ends[at + 1])) for at, one in enumerate(panels)}


MOST_AT_ONCE = 2_000_000
"""Samples, with those that pad shorter trials, for which ``rates`` makes arrays at once."""


def rates(counted: Samples, most: float | None = None) -> Samples:
    """Return differences per second; a counter that decreases (a process ended) gives none.

    A rate covers at least ``SHORTEST_SECONDS``, because samples at the ends of short phases are dense. ``most`` is the
    largest possible rate. A short-lived process adds its whole usage when it ends, so usage above ``most`` belongs to
    earlier samples: the function moves it back, which keeps the sum.
    """
    import numpy as np

    begins = counted.begins()
    sizes = np.diff(begins, append=len(counted.places))
    made: list[Samples] = []
    by_size = np.argsort(sizes, kind="stable")
    while len(by_size):
        # Trials of about one length, the longest first, so that little is padded.
        some = by_size[-max(1, MOST_AT_ONCE // int(sizes[by_size[-1]])) :]
        by_size = by_size[: -len(some)]
        made.append(_rates(counted, begins[some], sizes[some], most))
    if not made:
        return counted
    whole = Samples(
        *(np.concatenate([getattr(one, name) for one in made]) for name in ("places", "seconds", "values"))
    )
    return whole.at(np.lexsort((whole.seconds, whole.places)))


def _rates(
    counted: Samples, begins: NDArray[np.int64], sizes: NDArray[np.int64], most: float | None
) -> Samples:
    """Return the rates of some trials: arrays have a row for each trial and a column for each of its samples."""
    import numpy as np

    shape = (len(begins), int(sizes.max()))
    column = np.arange(shape[1])
    # The last sample pads: it is no time apart, so it gives no rate.
    place = begins[:, None] + np.minimum(column, sizes[:, None] - 1)
    seconds, values = counted.seconds[place], counted.values[place]
    lengths, gained = np.zeros(shape), np.zeros(shape)
    since, before = seconds[:, 0], values[:, 0]
    for at in column[1:]:
        apart = seconds[:, at] - since >= SHORTEST_SECONDS
        rises = apart & (values[:, at] >= before)
        lengths[:, at] = np.where(rises, seconds[:, at] - since, 0.0)
        gained[:, at] = np.where(rises, values[:, at] - before, 0.0)
        since, before = np.where(apart, seconds[:, at], since), np.where(apart, values[:, at], before)
    held = lengths > 0
    if most is not None:
        carried = np.zeros(shape[0])
        for at in column[:0:-1]:
            total = gained[:, at] + carried
            gained[:, at] = np.where(held[:, at], np.minimum(total, most * lengths[:, at]), 0.0)
            carried = np.where(held[:, at], total - gained[:, at], carried)
        some = held.any(axis=1)
        gained[some, held.argmax(axis=1)[some]] += carried[some]
    row, at = np.nonzero(held)
    return Samples(counted.places[begins[row]], seconds[row, at], gained[row, at] / lengths[row, at])


def cores(run: Run) -> float | None:
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
        taken = samples(run, panel)
        cells = run.places.cells[taken.places]
        held = {cell: taken.at(cells == run.codes[name]) for name, cell in shown.items()}
        found = {cell: own for cell, own in held.items() if len(own.places)}
        if not found:
            if panel.scope != "server" or len(inside) < len(shown):
                absent.append(f"{panel.title} (not sampled)")
        elif not any(own.values.any() for own in found.values()):
            absent.append(f"{panel.title} (zero in every sample)")
        else:
            if gone := [cell.label for cell in shown.values() if _lacks(run, panel, cell, found)]:
                absent.append(
                    f"{panel.title} in {len(gone)} of {len(shown)} setups, such as {gone[0]} (not sampled)"
                )
            summary = _summary(found, panel)
            figures.append(
                Figure(
                    theme.scaled_title(run, panel.title),
                    _draw(run, found, panel, each),
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


def _lacks(run: Run, panel: Panel, cell: Cell, found: Mapping[Cell, Samples]) -> bool:
    """Return whether a cell with valid trials has no samples of a panel that has those of others."""
    inside = panel.scope == "server" and run.embedded(cell.system)
    return cell.ok > 0 and cell not in found and not inside


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


def _first(run: Run, own: Samples, count: int) -> list[tuple[int, list[tuple[float, float]]]]:
    """Return the first trials of a cell by block, each with (seconds, value) of its samples."""
    begins = own.begins().tolist()
    trials = [
        (int(run.places.blocks[own.places[begin]]), begin, end)
        for begin, end in itertools.pairwise([*begins, len(own.places)])
    ]
    return [
        (block, list(zip(own.seconds[begin:end].tolist(), own.values[begin:end].tolist(), strict=True)))
        for block, begin, end in sorted(trials)[:count]
    ]


def _thinned(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(samples) // DRAWN_SAMPLES)
    groups = [samples[start : start + size] for start in range(0, len(samples), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def _draw(run: Run, found: dict[Cell, Samples], panel: Panel, each: int) -> Any:
    import altair as alt

    largest = max(float(own.values.max()) for own in found.values())
    divisor, unit = quantity.scale(largest, panel.unit)
    cells = list(found)
    short = _short(cells)
    line_of = short if len(cells) <= MOST_NAMED else {cell.label: cell.title for cell in cells}
    lines = {line_of[cell.label]: cell.system for cell in cells}
    labels, systems = list(lines), list(lines.values())
    drawn = [(cell, *trial) for cell, own in found.items() for trial in _first(run, own, each)]
    rows = [
        {
            "line": line_of[cell.label],
            "cell": short[cell.label],
            "block": block + 1,
            "seconds": round(seconds, 2),
            "value": float(f"{value / divisor:.4g}"),
        }
        for cell, block, samples in drawn
        for seconds, value in _thinned(samples)
    ]
    few = max(len(samples) for _, _, samples in drawn) <= MARKED_SAMPLES
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


def _summary(found: dict[Cell, Samples], panel: Panel) -> Summary:
    return [
        (
            cell.label, len(own.begins()), len(own.places), text(own.mean(), panel),
            text(float(own.values.max()), panel),
        )
        for cell, own in found.items()
    ]  # fmt: skip


def text(value: float, panel: Panel) -> str:
    """Return a value of a panel with its unit."""
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
