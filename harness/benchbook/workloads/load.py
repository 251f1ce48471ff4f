"""The workload ``load``: the whole dataset into an empty database, as fast as it is acknowledged."""

from __future__ import annotations

from benchbook.declare.duration import seconds
from benchbook.declare.workload import LoadOptions
from benchbook.systems.driver import DatasetRequest, Event, LoadRequest
from benchbook.workloads.measurement import Measurement


def request(options: LoadOptions, dataset: DatasetRequest) -> LoadRequest:
    """Return the request that a client is given."""
    return LoadRequest(
        dataset=dataset,
        workers=options.workers,
        batch_rows=options.batch_size,
        gzip=options.gzip,
        timeout_seconds=seconds(options.timeout),
    )


def measurements(phase: str, summary: Event, settle_seconds: float, dataset_bytes: int) -> list[Measurement]:
    """Return the metrics of a load.

    Rates are over the acknowledged time. Bytes are those of the dataset in line protocol, scaled to the rows
    acknowledged, so that systems fed in different formats are compared by the same work.
    """
    acknowledged = float(summary["duration_ns"]) / 1e9
    rows, values = float(summary["rows"]), float(summary["values"])
    refused = float(summary.get("rows_refused") or 0)
    share = rows / (rows + refused) if rows + refused else 0.0
    rate = 1 / acknowledged if acknowledged > 0 else 0.0
    return [
        Measurement(phase, "rows_per_second", rows * rate, "1/s", "higher"),
        Measurement(phase, "values_per_second", values * rate, "1/s", "higher"),
        Measurement(phase, "bytes_per_second", dataset_bytes * share * rate, "B/s", "higher"),
        Measurement(phase, "acknowledged_seconds", acknowledged, "s", "lower"),
        Measurement(phase, "settled_seconds", acknowledged + settle_seconds, "s", "lower"),
        Measurement(phase, "rows", rows, "1", "none"),
        Measurement(phase, "rows_refused", refused, "1", "lower"),
        Measurement(phase, "retries", float(summary.get("retries") or 0), "1", "lower"),
    ]
