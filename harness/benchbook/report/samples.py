"""Telemetry as series of samples: which are shown, and how counters become rates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from benchbook.report import cell as cells_of
from benchbook.report.cell import Cell
from benchbook.report.results import Run

SHORTEST_SECONDS = 0.5
"""Length below which the difference of two samples is too coarse for a rate."""


@dataclass(frozen=True)
class Panel:
    """One series of samples and how it is drawn."""

    title: str
    scope: str
    metrics: tuple[str, ...]
    """Metrics whose sum is drawn, those that were sampled of them."""
    unit: str
    cumulative: bool = False
    """Whether samples count up: then the difference per second is drawn."""


CPU = ("cpu_seconds", "cpu_user_seconds", "cpu_system_seconds")

PANELS = (
    Panel("Processor use of the server (cores)", "server", CPU, "cores", True),
    Panel("Processor use of the client (cores)", "client", CPU, "cores", True),
    Panel("Resident memory of the server", "server", ("rss_bytes",), "B"),
    Panel("Resident memory of the client", "client", ("rss_bytes",), "B"),
    Panel("Bytes written by the server per second", "server", ("write_bytes",), "B/s", True),
    Panel("Bytes written by the client per second", "client", ("write_bytes",), "B/s", True),
    Panel(
        "Bytes written to the disk per second, by all programs",
        "machine",
        ("device_write_bytes",),
        "B/s",
        True,
    ),
    Panel(
        "Pressure: share of time a program waited for the disk",
        "machine",
        ("psi_io_some_seconds",),
        "share",
        True,
    ),
    Panel(
        "Processor time stolen by the hypervisor (cores)", "machine", ("cpu_steal_seconds",), "cores", True
    ),
)
"""Embedded systems run in the client's process and have no server: theirs are the client's panels."""


@dataclass(frozen=True)
class Series:
    """The samples of one trial: (seconds since its start, value)."""

    cell: Cell
    block: int
    samples: tuple[tuple[float, float], ...]


def mean(found: list[Series]) -> float:
    """Return the mean over time: each sample weighs the time since the one before it.

    Samples stand closer together where phases are short, so their plain mean would favour short phases.
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
    """Return the samples of every trial that counts and has at least two of this panel."""
    import polars as pl

    wanted = (
        (pl.col("scope") == panel.scope) & pl.col("metric").is_in(panel.metrics) & pl.col("value").is_finite()
    )
    known = {cell.name: cell for cell in cells_of.cells(run)}
    # Where one phase ends and the next begins, one sample belongs to both.
    rows = (
        run.frame("telemetry").filter(wanted).unique(["trial_id", "seconds", "metric"], maintain_order=True)
    )
    sums = rows.group_by("trial_id", "seconds", maintain_order=True).agg(pl.col("value").sum())
    taken: dict[str, list[tuple[float, float]]] = {}
    for trial_id, seconds, value in sums.iter_rows():
        taken.setdefault(trial_id, []).append((seconds, value))
    most = _cores(run)
    made = []
    for trial_id, name, block in run.ok.select("trial_id", "cell", "block").iter_rows():
        if panel.scope == "server" and cells_of.embedded(run, known[name].system):
            continue  # it is the client's process, and drawn as such
        samples = sorted(taken.get(trial_id, []))
        if panel.cumulative:
            samples = rates(samples, most if panel.unit == "cores" else None)
        if len(samples) > 1:
            made.append(Series(known[name], block, tuple(samples)))
    order = list(known)
    return sorted(made, key=lambda one: (order.index(one.cell.name), one.block))


def rates(samples: list[tuple[float, float]], most: float | None = None) -> list[tuple[float, float]]:
    """Return differences per second; a counter that goes back (a process ended) gives none.

    Samples at the ends of short phases lie close together; a rate covers at least ``SHORTEST_SECONDS``.
    ``most`` is how much there can be a second. A short-lived process is counted whole when it has ended, so what
    is beyond that was used before: it is carried back, and the sum stays.
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
        owed = gained + carried
        used = owed if most is None else min(owed, most * length)
        carried = owed - used
        made.append((end, used / length))
    if made and carried:
        made[-1] = (made[-1][0], made[-1][1] + carried / spans[0][1])
    return made[::-1]


def _cores(run: Run) -> float | None:
    """Return how many cores the machine has, None where the run does not tell."""
    cpu = run.facts("host").get("cpu")
    found = cpu.get("logical_cores") if isinstance(cpu, dict) else None
    return float(found) if isinstance(found, int) else None
