"""The metrics that a claim may rest on: what each workload, every phase and a whole trial are measured by."""

from __future__ import annotations

EVERY_PHASE = (
    "client_cpu_fraction",
    "client_cpu_seconds",
    "client_rss_peak_bytes",
    "device_flushes",
    "device_read_bytes",
    "device_write_bytes",
    "device_writes",
    "machine_steal_fraction",
    "psi_cpu_some_fraction",
    "psi_io_some_fraction",
    "psi_memory_some_fraction",
    "server_cpu_seconds",
    "server_read_bytes",
    "server_rss_peak_bytes",
    "server_memory_peak_bytes",
    "server_write_bytes",
    "storage_bucket_read_bytes",
    "storage_bucket_write_bytes",
    "storage_get_requests",
    "storage_head_requests",
    "storage_list_requests",
    "storage_put_requests",
    "storage_requests",
)
"""Of every timed phase."""

SERIES = (
    "acknowledged_seconds",
    "latency_max",
    "latency_mean",
    "latency_p50",
    "latency_p90",
    "latency_p95",
    "latency_p99",
    "latency_p999",
    "retries",
    "rows",
    "rows_per_second",
    "series",
    "settled_seconds",
    "steady_from_seconds",
    "steady_rows_per_second",
    "steady_seconds",
    "steady_values_per_second",
    "values_per_second",
)

OF_WORKLOAD = {
    "load": (
        "acknowledged_seconds",
        "bytes_per_second",
        "latency_max",
        "latency_mean",
        "latency_p50",
        "latency_p80",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "retries",
        "rows",
        "rows_found",
        "rows_per_second",
        "rows_per_second_attempted",
        "rows_refused",
        "settled_seconds",
        "steady_from_seconds",
        "steady_rows_per_second",
        "steady_seconds",
        "steady_values_per_second",
        "values_per_second",
    ),
    "kline": (
        "bytes_per_second",
        "errors",
        "in_flight",
        "latency_max",
        "latency_mean",
        "latency_p50",
        "latency_p80",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "reads",
        "reads_per_second",
        "rows_decoded_per_read",
        "rows_per_read",
        "rows_per_second",
    ),
    "inch": SERIES,
    "stress": SERIES,
    "fio": (
        "bytes",
        "bytes_per_second",
        "latency_max",
        "latency_mean",
        "latency_p50",
        "latency_p80",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "operations",
        "operations_per_second",
        "seconds",
    ),
    "original": (
        "latency_max",
        "latency_mean",
        "latency_min",
        "queries",
        "queries_per_second",
        "rows",
        "rows_per_second",
        "seconds",
        "values_per_second",
    ),
    "blob": (
        "acknowledged_seconds",
        "bytes_per_second",
        "errors",
        "latency_max",
        "latency_mean",
        "latency_p50",
        "latency_p80",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "objects",
        "objects_per_second",
        "offered_per_second",
        "operations",
        "operations_per_second",
        "saturated",
        "settled_seconds",
        "synced_writes_per_second",
    ),
    "query": (
        "data_cached_bytes",
        "errors",
        "latency_max",
        "latency_mean",
        "latency_p50",
        "latency_p80",
        "latency_p90",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "queries",
        "queries_per_second",
    ),
}
"""Of each workload's phases; metrics of a workload that is not listed here are not checked."""

TRIAL = "trial"
"""The phase that stands for the whole trial."""
OF_TRIAL = ("bytes_per_row", "bytes_per_value", "disk_bytes", "overhead_fraction", "start_seconds")


def metrics(workload: str | None) -> tuple[str, ...] | None:
    """Return the metrics of a phase of ``workload`` (None: of the whole trial); None where they are not listed.

    >>> "latency_p50" in metrics("query")
    True
    """
    if workload is None:
        return OF_TRIAL
    own = OF_WORKLOAD.get(workload)
    return None if own is None else (*own, *EVERY_PHASE)


MAIN = (
    "rows_per_second",
    "settled_seconds",
    "queries_per_second",
    "latency_p50",
    "latency_p99",
    "disk_bytes",
)


def is_main(metric: str) -> bool:
    """Say whether a metric is one of them."""
    return metric in MAIN
