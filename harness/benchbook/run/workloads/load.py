"""Workloads that write rows: ``load`` a dataset as fast as it is acknowledged; ``inch`` and ``stress`` many series.

``inch`` and ``stress`` write into one table, with exactly known totals.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from benchbook.declare.duration import seconds
from benchbook.declare.workload import InchOptions, LoadOptions, StressOptions
from benchbook.measure import steady
from benchbook.measure.measurement import Event, Measurement, per_second
from benchbook.run.workloads.query import latency
from benchbook.systems.driver import DATABASE, DatasetRequest, LoadRequest, TableCount

if TYPE_CHECKING:
    from benchbook.run.steps import Steps


def request(options: LoadOptions, dataset: DatasetRequest, *, read_later: bool = False) -> LoadRequest:
    """Return the request that a client is given; ``read_later``: a later phase reads the dataset, so all of it."""
    return LoadRequest(
        dataset=dataset,
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
        retries=options.retries,
        keep_going=bool(options.expects),
        lasts_seconds=None if options.duration is None else seconds(options.duration),
        whole=options.duration is not None and read_later,
    )


def sent(options: LoadOptions, summary: Event, digest: dict[str, Any], what: str) -> int:
    """Return the bytes (or values) of the rows that all clients sent, as the dataset's digest counts them.

    A load without a duration sends the dataset. With one it sends other rows too, which are as large on average.

    >>> sent(LoadOptions(duration="1s"), {"rows": 30, "rows_refused": 10}, {"rows": 20, "bytes": 500}, "bytes")
    1000
    """
    if options.duration is None:
        return int(digest[what]) * options.clients
    rows = int(summary["rows"]) + int(summary.get("rows_refused") or 0)
    return int(digest[what]) * rows // int(digest["rows"])


def databases(clients: int) -> tuple[str, ...]:
    """Return the names of the databases into which ``clients`` clients load.

    >>> databases(2)
    ('benchbook', 'benchbook_2')
    """
    return (DATABASE, *(f"{DATABASE}_{place}" for place in range(2, clients + 1)))


def expected(options: LoadOptions, error: Event) -> bool:
    """Return whether the experiment expects a refusal: the server answered with one of the declared messages."""
    answered = int(error.get("status") or 0) > 0
    return answered and any(words in str(error.get("message")) for words in options.expects)


def measurements(
    phase: str,
    summary: Event,
    settle_seconds: float,
    dataset_bytes: int,
    found: float = 1.0,
    *,
    window: bool = False,
) -> list[Measurement]:
    """Return the metrics of a load.

    A row counts if it was acknowledged and the system has it afterwards; ``found`` is the share of acknowledged rows
    for which that holds. The rates named ``acknowledged`` also count the acknowledged rows that were lost, as clients
    do that never look again. ``rows_per_second_attempted`` counts every row that was sent, like a client that counts
    refused writes as loaded. Bytes are those of the dataset in line protocol, scaled to the rows that count, so that
    systems with different formats are compared by the same work.

    Rates are over the time from the start to the last answer of all clients. With ``window``, they are over the
    duration of the load, because it continues afterwards or begins its writes at a fixed pace.
    """
    acknowledged = float(summary["duration_ns"]) / 1e9
    sent, values = float(summary["rows"]), float(summary["values"]) * found
    rows = sent * found
    refused = float(summary.get("rows_refused") or 0)
    attempted = sent + refused
    share = rows / attempted if attempted else 0.0
    rate = per_second(summary, "rows") if window else 1 / acknowledged if acknowledged else 0.0
    return [
        Measurement(phase, "rows_per_second", rows * rate),
        Measurement(phase, "values_per_second", values * rate),
        Measurement(phase, "bytes_per_second", dataset_bytes * share * rate),
        Measurement(phase, "rows_per_second_acknowledged", sent * rate),
        Measurement(phase, "values_per_second_acknowledged", float(summary["values"]) * rate),
        Measurement(phase, "rows_per_second_attempted", attempted * rate),
        Measurement(phase, "acknowledged_seconds", acknowledged),
        Measurement(phase, "settled_seconds", acknowledged + settle_seconds),
        Measurement(phase, "rows", sent),
        Measurement(phase, "rows_found", rows),
        Measurement(phase, "rows_refused", refused),
        Measurement(phase, "acknowledged_fraction", sent / attempted if attempted else 0.0),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
    ]


def latencies(phase: str, histograms: list[Event]) -> list[Measurement]:
    """Return the latency of acknowledged writes, from the merged histograms."""
    return latency(phase, histograms)


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
    steps.findings.check("points", f"points acknowledged in {phase}", rows, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(options.series)))


def stress(steps: Steps, phase: str, options: StressOptions) -> None:
    """Write for a duration, and count the acknowledged points in the server."""
    flags = _extent(options.series, timedelta(seconds=MOST_TICKS), "1s")
    request = replace(
        _request("stress", flags, {}, options),
        lasts_seconds=seconds(options.lasts),
        tick_seconds=None if options.tick is None else seconds(options.tick),
    )
    summary = _load(steps, phase, "stress", request, STRESS_TABLE)
    reached = min(options.series, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(reached)))


def _load(steps: Steps, phase: str, workload: str, request: LoadRequest, table: str) -> dict[str, Any]:
    """Load, let the system settle, compare the values in the table with those acknowledged."""
    from benchbook.run.findings import required_summary

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
            steps.findings.check("values", f"values in {table}.{name}", int(summary["rows"]), values)
    settled = settle.duration_seconds - steps.driver.watched_seconds
    found = measurements(phase, summary, settled, int(summary["bytes"]), window=True)
    steps.findings.measurements += [
        one for one in found if one.metric not in ("rows_found", "rows_per_second_attempted")
    ]
    steps.findings.measurements += steady.measurements(phase, taken.intervals)
    steps.findings.measurements += latencies(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    return summary


def _request(
    generator: str,
    flags: tuple[str, ...],
    tables: dict[str, TableCount],
    options: InchOptions | StressOptions,
) -> LoadRequest:
    return LoadRequest(
        dataset=DatasetRequest(generator, flags, tables),
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
        retries=options.retries,
        append=True,
    )


def _extent(series: int, length: timedelta, interval: str) -> tuple[str, ...]:
    return (
        "--seed=1", f"--scale={series}", f"--start={START:%Y-%m-%dT%H:%M:%SZ}",
        f"--end={(START + length).isoformat().replace('+00:00', 'Z')}", f"--interval={interval}",
    )  # fmt: skip
