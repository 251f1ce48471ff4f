"""The workload ``stress``: write points for a fixed time into a separate table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import SERIES
from benchbook.declare.toml import Positive
from benchbook.declare.workload import Workload
from benchbook.measure.measurement import Measurement

from .series import SeriesOptions, extent, load, request

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

TABLE = "ctr"
"""Table of the tool, and of the generator of the same name."""

MOST_TICKS = 600_000
"""One tick per second for a week: more than any server writes into every series."""


class StressOptions(SeriesOptions):
    """Options of the workload ``stress``: write points for a fixed time into a separate table.

    Workers write one series after the other, so the number of series grows to its maximum.
    """

    lasts: Duration = "60s"
    """Time for which to write."""
    tick: Duration | None = None
    """Each worker begins at most one write in each interval of this length; influx-stress has 1s. By default, as
    fast as possible."""
    series: Positive = 100_000
    """Largest number of series."""
    batch_size: Positive = 10_000
    """Points per write."""
    workers: Positive = 20
    """Writes in flight."""


def run(steps: Steps, phase: str, options: StressOptions) -> None:
    """Write for a duration, and count the acknowledged points in the server."""
    flags = extent(options.series, timedelta(seconds=MOST_TICKS), "1s")
    asked = replace(
        request("stress", flags, {}, options),
        lasts_seconds=seconds(options.lasts),
        tick_seconds=None if options.tick is None else seconds(options.tick),
    )
    summary = load(steps, phase, workload.name, asked, TABLE)
    reached = min(options.series, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(reached)))


workload = Workload(
    name="stress",
    options=StressOptions,
    run=run,
    metrics=(
        *SERIES,
        "series",
    ),
    compared=("rows_per_second",),
)
