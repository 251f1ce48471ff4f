"""What the workloads ``inch`` and ``stress`` share: writing many series into one table with exactly known totals."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.toml import Positive
from benchbook.declare.workload import Options
from benchbook.measure import steady
from benchbook.measure.operations import latency
from benchbook.workloads.load import measurements

if TYPE_CHECKING:
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import LoadRequest, TableCount

START = datetime(2018, 1, 1, tzinfo=UTC)


class SeriesOptions(Options):
    """Options of writes of many series."""

    batch_size: Positive
    """Points per write."""
    workers: Positive
    """Writes in flight."""
    gzip: bool = False
    """Compress the body of a write."""
    timeout: Duration = "30s"
    """Longest time for one write."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """Number of retries of a write that fails with status 429 or 5xx."""


def load(steps: Steps, phase: str, workload: str, asked: LoadRequest, table: str) -> dict[str, Any]:
    """Load, let the system settle, compare the values in the table with those acknowledged."""
    from benchbook.run.findings import required_summary
    from benchbook.systems.driver import TableCount

    asked = replace(asked, record=steps.operations(phase))
    with steps.timeline.phase(phase, workload):
        taken = steps.events.take(phase, steps.client.load(asked))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    with steps.timeline.phase("settle") as settle:
        steps.driver.settle()
    with steps.timeline.phase("check"):
        counted = steps.driver.count().get(table, TableCount(0))
        for name, values in counted.fields.items():
            steps.findings.check("values", f"values in {table}.{name}", int(summary["rows"]), values)
    settled = settle.duration_seconds - steps.driver.watched_seconds
    found = measurements(phase, summary, settled, int(summary["bytes"]), window=True)
    steps.findings.measurements += [
        one for one in found if one.metric not in ("rows_found", "rows_per_second_attempted")
    ]
    steps.findings.measurements += steady.measurements(phase, taken.intervals)
    steps.findings.measurements += latency(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    return summary


def request(
    generator: str,
    flags: tuple[str, ...],
    tables: dict[str, TableCount],
    options: SeriesOptions,
) -> LoadRequest:
    """Return a load of a generator's points."""
    from benchbook.systems.driver import DatasetRequest, LoadRequest

    return LoadRequest(
        dataset=DatasetRequest(generator, flags, tables),
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
        retries=options.retries,
        append=True,
    )


def extent(series: int, length: timedelta, interval: str) -> tuple[str, ...]:
    """Return the flags for a number of series and their length in time."""
    return (
        "--seed=1", f"--scale={series}", f"--start={START:%Y-%m-%dT%H:%M:%SZ}",
        f"--end={(START + length).isoformat().replace('+00:00', 'Z')}", f"--interval={interval}",
    )  # fmt: skip
