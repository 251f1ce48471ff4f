"""Metrics: name, unit, direction and title. Those of one workload alone are in that workload's module.

Workloads and telemetry use their units and directions, claims their names, and reports their titles.
"""

from __future__ import annotations

import functools

from benchbook.declare.workload import Direction, Metric, workloads

TRIAL = "trial"
"""Name of the phase of a claim that covers the whole trial."""
PHASE = "phase"
"""In ``Metric.measured_in``: every timed phase of any workload."""

SHARED = (
    # Rows
    Metric("rows_per_second", "1/s", "higher", "Rows loaded per second", "rows", "rows/s", main=True,
           did="loaded {ratio} times as many rows per second as"),
    Metric("values_per_second", "1/s", "higher", "Values loaded per second", "values",
           did="loaded {ratio} times as many values per second as"),
    Metric("steady_rows_per_second", "1/s", "higher", "Rows loaded per second once steady", "rows", "rows/s, steady",
           did="loaded {ratio} times as many rows per second as"),
    Metric("steady_values_per_second", "1/s", "higher", "Values loaded per second once steady", "values",
           did="loaded {ratio} times as many values per second as"),
    Metric("steady_rows_per_second_acknowledged", "1/s", "higher", "Rows acknowledged per second once steady", "rows",
           "rows/s acknowledged, steady",
           did="had {ratio} times as many acknowledged rows per second as"),
    Metric("steady_values_per_second_acknowledged", "1/s", "higher", "Values acknowledged per second once steady",
           "values",
           did="loaded {ratio} times as many values per second as"),
    Metric("steady_from_seconds", "s", "none", "Start of the steady part"),
    Metric("steady_seconds", "s", "none", "Length of the steady part"),
    Metric("rows_per_second_acknowledged", "1/s", "higher", "Rows acknowledged per second", "rows",
           "rows/s acknowledged",
           did="had {ratio} times as many acknowledged rows per second as"),
    Metric("values_per_second_acknowledged", "1/s", "higher", "Values acknowledged per second", "values",
           did="loaded {ratio} times as many values per second as"),
    Metric("rows", "1", "none", "Rows acknowledged", "rows"),
    Metric("series", "1", "none", "Series", "series"),
    Metric("retries", "1", "lower", "Retries"),
    # Bytes and time
    Metric("bytes_per_second", "B/s", "higher", "Bytes per second",
           did="moved {ratio} times as many bytes per second as"),
    Metric("acknowledged_seconds", "s", "lower", "Time until all work was acknowledged"),
    Metric("settled_seconds", "s", "lower", "Time until background work had finished", main=True),
    Metric("seconds", "s", "lower", "Run time of the tool"),
    # Operations
    Metric("queries_per_second", "1/s", "higher", "Queries per second", "queries", main=True,
           did="reached {ratio} times as many queries per second as"),
    Metric("queries", "1", "none", "Queries answered", "queries"),
    Metric("operations_per_second", "1/s", "higher", "Operations per second", "operations",
           did="reached {ratio} times as many operations per second as"),
    Metric("operations", "1", "none", "Operations", "operations"),
    Metric("offered_per_second", "1/s", "none", "Operations offered per second", "operations"),
    Metric("saturated", "1", "lower", "Offered rate not reached"),
    Metric("errors", "1", "lower", "Failed operations", "operations"),
    Metric("data_cached_bytes", "B", "none", "Bytes of the data in the page cache"),
    Metric("data_bytes", "B", "none", "Bytes of the data on the storage"),
    Metric("data_unread_bytes", "B", "none", "Bytes of the data not read from the storage"),
    # Commands
    Metric("command_seconds", "s", "lower", "Run time of the command", main=True,
           did="took {ratio} times as long for {phase} as"),
    Metric("command_seconds_min", "s", "lower", "Shortest run time of the command"),
    Metric("command_seconds_max", "s", "lower", "Longest run time of the command"),
    Metric("command_runs", "1", "none", "Runs of the command"),
    # Latency
    Metric("latency_mean", "s", "lower", "Mean latency"),
    Metric("latency_p50", "s", "lower", "Median latency", brief="median", main=True),
    Metric("latency_p80", "s", "lower", "80th percentile of latency"),
    Metric("latency_p90", "s", "lower", "90th percentile of latency"),
    Metric("latency_p95", "s", "lower", "95th percentile of latency"),
    Metric("latency_p99", "s", "lower", "99th percentile of latency", main=True),
    Metric("latency_p999", "s", "lower", "99.9th percentile of latency"),
    Metric("latency_max", "s", "lower", "Longest latency"),
    # Every phase, from telemetry
    Metric("client_cpu_fraction", "1", "lower", "Share of its cores that the client used", measured_in=PHASE),
    Metric("client_cpu_seconds", "s", "lower", "Processor time of the client", measured_in=PHASE),
    Metric("client_rss_peak_bytes", "B", "lower", "Peak memory of the client", measured_in=PHASE),
    Metric("server_cpu_seconds", "s", "lower", "Processor time of the server", measured_in=PHASE),
    Metric("server_rss_peak_bytes", "B", "lower", "Peak memory of the server", measured_in=PHASE),
    Metric("server_pss_peak_bytes", "B", "lower", "Peak memory of the server, shared pages counted once",
           measured_in=PHASE),
    Metric("server_memory_peak_bytes", "B", "lower", "Peak memory of the server's container", measured_in=PHASE),
    Metric("server_read_bytes", "B", "lower", "Bytes read by the server", measured_in=PHASE),
    Metric("server_write_bytes", "B", "lower", "Bytes written by the server", measured_in=PHASE),
    Metric("harness_cpu_seconds", "s", "lower", "Processor time of the harness"),
    Metric("device_flushes", "1", "lower", "Flushes of the device", measured_in=PHASE),
    Metric("device_read_bytes", "B", "lower", "Bytes read from the device", measured_in=PHASE),
    Metric("device_write_bytes", "B", "lower", "Bytes written to the device", measured_in=PHASE),
    Metric("device_writes", "1", "lower", "Writes to the device", measured_in=PHASE),
    Metric("device_busy_fraction", "1", "none", "Share of time in which the device had requests", measured_in=PHASE),
    Metric("machine_steal_fraction", "1", "lower", "Share of time stolen by the hypervisor", measured_in=PHASE),
    Metric("psi_cpu_some_fraction", "1", "lower", "Share of time in which a process waited for a processor",
           measured_in=PHASE),
    Metric("psi_io_some_fraction", "1", "lower", "Share of time in which a process waited for storage",
           measured_in=PHASE),
    Metric("psi_memory_some_fraction", "1", "lower", "Share of time in which a process waited for memory",
           measured_in=PHASE),
    Metric("generator_stall_seconds", "s", "lower", "Time that workers waited for generated rows or requests"),
    Metric("generator_bound", "1", "lower", "Workers waited for the generator for most of the phase"),
    Metric("record_stall_seconds", "s", "lower", "Time that workers waited for the file of single operations"),
    # Every phase, from the counters of MinIO behind a mounted bucket
    Metric("storage_bucket_read_bytes", "B", "none", "Bytes read from the bucket", measured_in=PHASE),
    Metric("storage_bucket_write_bytes", "B", "none", "Bytes written to the bucket", measured_in=PHASE),
    Metric("storage_requests", "1", "none", "Requests to the bucket", measured_in=PHASE),
    Metric("storage_get_requests", "1", "none", "GET requests to the bucket", measured_in=PHASE),
    Metric("storage_head_requests", "1", "none", "HEAD requests to the bucket", measured_in=PHASE),
    Metric("storage_list_requests", "1", "none", "LIST requests to the bucket", measured_in=PHASE),
    Metric("storage_put_requests", "1", "none", "PUT requests to the bucket", measured_in=PHASE),
    # The whole trial
    Metric("disk_bytes", "B", "lower", "Bytes on disk after background work", brief="size on disk", main=True,
           measured_in=TRIAL,
           did="needed {ratio} times as much disk space as"),
    Metric("bytes_per_value", "B", "lower", "Bytes on disk per value", measured_in=TRIAL),
    Metric("bytes_per_row", "B", "lower", "Bytes on disk per row", brief="bytes/row", measured_in=TRIAL,
           did="needed {ratio} times as much disk space for the same data as"),
    Metric("disk_data_bytes", "B", "lower", "Bytes on disk: data", brief="data on disk"),
    Metric("disk_wal_bytes", "B", "lower", "Bytes on disk: write-ahead log", brief="log on disk"),
    Metric("start_seconds", "s", "lower", "Time until the system answered", measured_in=TRIAL),
    Metric("overhead_fraction", "1", "lower", "The harness's own share of the trial", measured_in=TRIAL),
    Metric("other_cpu_fraction", "1", "lower", "Share of the processor time that other programs used",
           measured_in=TRIAL),
    Metric("limited_memory_peak_bytes", "B", "lower", "Peak memory under the limit"),
    Metric("limited_memory_kills", "1", "lower", "Processes killed at the memory limit"),
    Metric("limited_throttled_seconds", "s", "lower", "Time throttled by the processor limit"),
)  # fmt: skip
"""Metrics of several workloads, of every phase, and of the whole trial."""

LATENCY = (
    "latency_mean", "latency_p50", "latency_p80", "latency_p90", "latency_p95", "latency_p99", "latency_p999",
    "latency_max",
)  # fmt: skip
"""Shared metrics of single operations."""
OPEN_LOOP = ("offered_per_second", "saturated")
"""Shared metrics of operations that may be offered at a rate."""
DATA_READ = ("data_cached_bytes", "data_bytes", "data_unread_bytes")
"""Shared metrics of queries that read data from a storage."""
SERIES = (
    "rows_per_second", "values_per_second", "steady_rows_per_second", "steady_values_per_second",
    "steady_rows_per_second_acknowledged", "steady_values_per_second_acknowledged", "steady_from_seconds",
    "steady_seconds", "rows_per_second_acknowledged", "values_per_second_acknowledged", "rows", "retries",
    "acknowledged_seconds", "settled_seconds", *LATENCY,
)  # fmt: skip
"""Shared metrics of workloads that write rows."""


_DIRECTIONS = ("read_", "write_")
"""Prefixes of the metrics of fio's mixed jobs, which measure reads and writes separately."""


@functools.cache
def table() -> dict[str, Metric]:
    """Return every declared metric by name: those that are shared, then those of one workload."""
    own = [one for workload in workloads().values() for one in workload.metrics if isinstance(one, Metric)]
    return {one.name: one for one in (*SHARED, *own)}


@functools.cache
def describe(name: str) -> Metric:
    """Return a metric; if the table lacks it, derive its title and unit from its name.

    >>> describe("latency_p50").title, describe("read_bytes_per_second").unit, describe("disk_index_bytes").unit
    ('Median latency', 'B/s', 'B')
    """
    if name in table():
        return table()[name]
    for prefix in _DIRECTIONS:
        if name.startswith(prefix) and (base := table().get(name.removeprefix(prefix))):
            side = prefix.rstrip("_")
            return Metric(name, base.unit, base.direction, f"{base.title} ({side}s)", noun=base.noun)
    unit = next((unit for end, unit in (("_bytes", "B"), ("_seconds", "s")) if name.endswith(end)), "1")
    direction: Direction = "lower" if name.startswith("disk_") else "none"
    return Metric(name, unit, direction, name.replace("_", " ").capitalize())


def is_main(name: str) -> bool:
    """Return whether tables show the metric by default."""
    return describe(name).main


def metrics(workload: str | None) -> tuple[str, ...] | None:
    """Return the metrics of a phase of ``workload``, or of the whole trial for None; None for an unknown workload.

    >>> "latency_p50" in metrics("query"), metrics("unknown")
    (True, None)
    """
    if workload is None:
        return _measured_in(TRIAL)
    known = workloads().get(workload)
    if known is None:
        return None
    own = (one if isinstance(one, str) else one.name for one in known.metrics)
    return (*own, *_measured_in(PHASE))


def _measured_in(what: str) -> tuple[str, ...]:
    return tuple(one.name for one in SHARED if one.measured_in == what)
