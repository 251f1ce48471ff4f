"""The workload ``load``: the dataset into an empty database, as fast as it is acknowledged."""

from __future__ import annotations

from typing import Any

from benchbook.declare.duration import seconds
from benchbook.declare.workload import LoadOptions
from benchbook.measure.measurement import Event, Measurement, per_second
from benchbook.run.workloads.query import latency
from benchbook.systems.driver import DATABASE, DatasetRequest, LoadRequest


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
    phase: str, summary: Event, settle_seconds: float, dataset_bytes: int, found: float = 1.0
) -> list[Measurement]:
    """Return the metrics of a load.

    A row counts if it was acknowledged and the system has it afterwards; ``found`` is the share of acknowledged rows
    for which that holds. Rates are over the acknowledged time of all clients together, or over the window if the load
    had a duration. Bytes are those of the dataset in line protocol, scaled to the rows that count, so that systems
    with different formats are compared by the same work. ``rows_per_second_attempted`` counts every row that was sent,
    like a client that counts refused writes as loaded.
    """
    acknowledged = float(summary["duration_ns"]) / 1e9
    sent, values = float(summary["rows"]), float(summary["values"]) * found
    rows = sent * found
    refused = float(summary.get("rows_refused") or 0)
    attempted = sent + refused
    share = rows / attempted if attempted else 0.0
    rate = per_second(summary, "rows")
    return [
        Measurement(phase, "rows_per_second", rows * rate),
        Measurement(phase, "values_per_second", values * rate),
        Measurement(phase, "bytes_per_second", dataset_bytes * share * rate),
        Measurement(phase, "rows_per_second_attempted", attempted * rate),
        Measurement(phase, "acknowledged_seconds", acknowledged),
        Measurement(phase, "settled_seconds", acknowledged + settle_seconds),
        Measurement(phase, "rows", sent),
        Measurement(phase, "rows_found", rows),
        Measurement(phase, "rows_refused", refused),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
    ]


def latencies(phase: str, histograms: list[Event]) -> list[Measurement]:
    """Return the latency of acknowledged writes, from the merged histograms."""
    return latency(phase, histograms)
