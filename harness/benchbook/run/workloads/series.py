"""The workloads ``inch`` and ``stress``: write many series into one table, with exactly known totals."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from benchbook.declare.duration import seconds
from benchbook.declare.workload import InchOptions, StressOptions
from benchbook.measure import steady
from benchbook.measure.measurement import Measurement
from benchbook.run.workloads import load
from benchbook.systems.driver import DatasetRequest, LoadRequest, TableCount

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

START = datetime(2018, 1, 1, tzinfo=UTC)
INCH_TABLE, STRESS_TABLE = "m0", "ctr"
"""Table names of the tools, and of benchload's generators of the same name."""

MOST_TICKS = 600_000
"""One tick per second for a week: more than any server writes into every series."""


def inch(steps: Steps, phase: str, options: InchOptions) -> None:
    """Write every point of every series, and count the points in the server."""
    fields = {
        "v0" if place == 0 else f"v0{place}": options.series * options.points
        for place in range(options.fields)
    }
    rows = options.series * options.points
    tables = {INCH_TABLE: TableCount(rows, fields)}
    flags = (*_extent(options.series, timedelta(milliseconds=1) * options.points, "1ms"),
             f"--tags={','.join(map(str, options.tags))}", f"--fields={options.fields}")  # fmt: skip
    summary = _load(steps, phase, "inch", _request("inch", flags, tables, options), INCH_TABLE)
    steps.findings.check(f"points acknowledged in {phase}", rows, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(options.series)))


def stress(steps: Steps, phase: str, options: StressOptions) -> None:
    """Write for a duration, and count the acknowledged points in the server."""
    flags = _extent(options.series, timedelta(seconds=MOST_TICKS), "1s")
    request = _request("stress", flags, {}, options, lasts_seconds=seconds(options.lasts))
    summary = _load(steps, phase, "stress", request, STRESS_TABLE)
    reached = min(options.series, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(reached)))


def _load(steps: Steps, phase: str, workload: str, request: LoadRequest, table: str) -> dict[str, Any]:
    """Load, let the system settle, compare the values in the table with those acknowledged."""
    from benchbook.run.stream import required_summary

    request = replace(request, record=steps.operations(phase))
    with steps.timeline.phase(phase, workload):
        taken = steps.events.take(phase, steps.client.load(request))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    with steps.timeline.phase("settle") as settle:
        steps.driver.settle()
    with steps.timeline.phase("check"):
        counted = steps.driver.count().get(table, TableCount(0))
        for name, values in counted.fields.items():
            steps.findings.check(f"values in {table}.{name}", int(summary["rows"]), values)
    settled = settle.duration_seconds - steps.driver.watched_seconds
    found = load.measurements(phase, summary, settled, int(summary["bytes"]))
    steps.findings.measurements += [
        one for one in found if one.metric not in ("rows_found", "rows_per_second_attempted")
    ]
    steps.findings.measurements += steady.measurements(phase, taken.intervals)
    steps.findings.measurements += load.latencies(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    return summary


def _request(
    generator: str, flags: tuple[str, ...], tables: dict[str, TableCount], options: InchOptions | StressOptions,
    lasts_seconds: float | None = None,
) -> LoadRequest:  # fmt: skip
    return LoadRequest(
        dataset=DatasetRequest(generator, flags, tables),
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
        retries=options.retries,
        append=True,
        lasts_seconds=lasts_seconds,
    )


def _extent(series: int, length: timedelta, interval: str) -> tuple[str, ...]:
    return (
        "--seed=1", f"--scale={series}", f"--start={START:%Y-%m-%dT%H:%M:%SZ}",
        f"--end={(START + length).isoformat().replace('+00:00', 'Z')}", f"--interval={interval}",
    )  # fmt: skip
