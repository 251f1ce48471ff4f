"""The table of all metrics: name, unit, direction, title, and which workload measures each.

Workloads and telemetry use its units and directions, claims its names, and reports its titles.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

Direction = Literal["higher", "lower", "none"]

TRIAL = "trial"
"""Name of the phase of a claim that covers the whole trial."""
PHASE = "phase"
"""In ``Metric.workloads``: measured in every timed phase of any workload."""


@dataclass(frozen=True)
class Metric:
    """One metric: its unit, which values are better, and its title in reports."""

    name: str
    unit: str
    """SI, ``B`` for bytes, ``1`` for a count or a fraction."""
    direction: Direction
    """Which values are better."""
    title: str
    workloads: str = ""
    """The workloads that measure it, separated by spaces; or ``phase`` or ``trial``. Empty: claims cannot use it."""
    noun: str = ""
    """The counted thing, such as ``rows``."""
    brief: str = ""
    """A shorter title; by default the title."""
    main: bool = False
    """True if tables show it by default."""

    @property
    def short(self) -> str:
        """The title in a word or two, for the label of a row."""
        return self.brief or self.title.lower()


_SERIES = "load inch stress"
_LATENCY = f"{_SERIES} kline fio blob query"

TABLE = (
    # Rows
    Metric("rows_per_second", "1/s", "higher", "Rows loaded per second", f"{_SERIES} original kline command",
           "rows", "rows/s", main=True),
    Metric("values_per_second", "1/s", "higher", "Values loaded per second", f"{_SERIES} original", "values"),
    Metric("steady_rows_per_second", "1/s", "higher", "Rows loaded per second once steady", _SERIES,
           "rows", "rows/s, steady"),
    Metric("steady_values_per_second", "1/s", "higher", "Values loaded per second once steady", _SERIES, "values"),
    Metric("steady_rows_per_second_acknowledged", "1/s", "higher",
           "Rows acknowledged per second once steady", _SERIES, "rows", "rows/s acknowledged, steady"),
    Metric("steady_values_per_second_acknowledged", "1/s", "higher",
           "Values acknowledged per second once steady", _SERIES, "values"),
    Metric("steady_from_seconds", "s", "none", "Start of the steady part", _SERIES),
    Metric("steady_seconds", "s", "none", "Length of the steady part", _SERIES),
    Metric("rows_per_second_acknowledged", "1/s", "higher", "Rows acknowledged per second", _SERIES,
           "rows", "rows/s acknowledged"),
    Metric("values_per_second_acknowledged", "1/s", "higher", "Values acknowledged per second", _SERIES, "values"),
    Metric("rows_per_second_attempted", "1/s", "none", "Rows sent per second, acknowledged or not", "load",
           "rows", "rows/s sent"),
    Metric("rows_per_cpu_second", "1/s", "higher", "Rows per second of processor time", "command",
           "rows", "rows/CPU-s"),
    Metric("rows", "1", "none", "Rows acknowledged", f"{_SERIES} original command", "rows"),
    Metric("rows_found", "1", "none", "Acknowledged rows found afterwards", "load", "rows"),
    Metric("rows_refused", "1", "lower", "Rows refused", "load", "rows"),
    Metric("acknowledged_fraction", "1", "higher", "Share of the sent rows that was acknowledged", "load"),
    Metric("series", "1", "none", "Series", "inch stress", "series"),
    Metric("retries", "1", "lower", "Retries", _SERIES),
    # Bytes and time
    Metric("bytes_per_second", "B/s", "higher", "Bytes per second", "load kline fio blob"),
    Metric("bytes", "B", "none", "Bytes", "fio"),
    Metric("acknowledged_seconds", "s", "lower", "Time until all work was acknowledged", f"{_SERIES} blob"),
    Metric("settled_seconds", "s", "lower", "Time until background work had finished", f"{_SERIES} blob", main=True),
    Metric("seconds", "s", "lower", "Run time of the tool", "fio original"),
    # Operations
    Metric("queries_per_second", "1/s", "higher", "Queries per second", "query original", "queries", main=True),
    Metric("queries", "1", "none", "Queries answered", "query original", "queries"),
    Metric("reads_per_second", "1/s", "higher", "Reads per second", "kline", "reads", "reads/s"),
    Metric("reads", "1", "none", "Reads answered", "kline", "reads"),
    Metric("rows_per_read", "1", "none", "Bars received per read", "kline", "bars"),
    Metric("rows_decoded_per_read", "1", "none", "Bars decoded per read", "kline", "bars"),
    Metric("in_flight", "1", "none", "Reads in flight", "kline", "reads"),
    Metric("objects_per_second", "1/s", "higher", "Objects per second", "blob", "objects", "objects/s"),
    Metric("objects", "1", "none", "Objects", "blob", "objects"),
    Metric("operations_per_second", "1/s", "higher", "Operations per second", "fio blob", "operations"),
    Metric("operations", "1", "none", "Operations", "fio blob", "operations"),
    Metric("offered_per_second", "1/s", "none", "Operations offered per second", "kline blob query", "operations"),
    Metric("saturated", "1", "lower", "Offered rate not reached", "kline blob query"),
    Metric("synced_writes_per_second", "1/s", "none", "Synced writes per second of fio", "blob", "writes"),
    Metric("errors", "1", "lower", "Failed operations", "kline blob query", "operations"),
    Metric("data_cached_bytes", "B", "none", "Bytes of the data in the page cache", "query"),
    Metric("data_bytes", "B", "none", "Bytes of the data on the storage", "query"),
    Metric("data_unread_bytes", "B", "none", "Bytes of the data not read from the storage", "query"),
    # Latency
    Metric("latency_mean", "s", "lower", "Mean latency", f"{_LATENCY} original"),
    Metric("latency_p50", "s", "lower", "Median latency", _LATENCY, brief="median", main=True),
    Metric("latency_p80", "s", "lower", "80th percentile of latency", "load kline fio blob query"),
    Metric("latency_p90", "s", "lower", "90th percentile of latency", _LATENCY),
    Metric("latency_p95", "s", "lower", "95th percentile of latency", _LATENCY),
    Metric("latency_p99", "s", "lower", "99th percentile of latency", _LATENCY, main=True),
    Metric("latency_p999", "s", "lower", "99.9th percentile of latency", _LATENCY),
    Metric("latency_max", "s", "lower", "Longest latency", f"{_LATENCY} original"),
    Metric("latency_min", "s", "lower", "Shortest latency", "original"),
    # Commands timed by hyperfine
    Metric("command_seconds", "s", "lower", "Run time of the command", "command"),
    Metric("command_seconds_min", "s", "lower", "Shortest run time of the command", "command"),
    Metric("command_seconds_max", "s", "lower", "Longest run time of the command", "command"),
    Metric("command_runs", "1", "none", "Runs of the command", "command"),
    # Every phase, from telemetry
    Metric("client_cpu_fraction", "1", "lower", "Share of its cores that the client used", PHASE),
    Metric("client_cpu_seconds", "s", "lower", "Processor time of the client", PHASE),
    Metric("client_rss_peak_bytes", "B", "lower", "Peak memory of the client", PHASE),
    Metric("server_cpu_seconds", "s", "lower", "Processor time of the server", PHASE),
    Metric("server_rss_peak_bytes", "B", "lower", "Peak memory of the server", PHASE),
    Metric("server_pss_peak_bytes", "B", "lower", "Peak memory of the server, shared pages counted once", PHASE),
    Metric("server_memory_peak_bytes", "B", "lower", "Peak memory of the server's container", PHASE),
    Metric("server_read_bytes", "B", "lower", "Bytes read by the server", PHASE),
    Metric("server_write_bytes", "B", "lower", "Bytes written by the server", PHASE),
    Metric("harness_cpu_seconds", "s", "lower", "Processor time of the harness"),
    Metric("device_flushes", "1", "lower", "Flushes of the device", PHASE),
    Metric("device_read_bytes", "B", "lower", "Bytes read from the device", PHASE),
    Metric("device_write_bytes", "B", "lower", "Bytes written to the device", PHASE),
    Metric("device_writes", "1", "lower", "Writes to the device", PHASE),
    Metric("device_busy_fraction", "1", "none", "Share of time in which the device had requests", PHASE),
    Metric("machine_steal_fraction", "1", "lower", "Share of time stolen by the hypervisor", PHASE),
    Metric("psi_cpu_some_fraction", "1", "lower", "Share of time in which a process waited for a processor", PHASE),
    Metric("psi_io_some_fraction", "1", "lower", "Share of time in which a process waited for storage", PHASE),
    Metric("psi_memory_some_fraction", "1", "lower", "Share of time in which a process waited for memory", PHASE),
    Metric("generator_stall_seconds", "s", "lower", "Time that workers waited for generated rows or requests"),
    Metric("generator_bound", "1", "lower", "Workers waited for the generator for most of the phase"),
    Metric("record_stall_seconds", "s", "lower", "Time that workers waited for the file of single operations"),
    # Every phase, from the counters of MinIO behind a mounted bucket
    Metric("storage_bucket_read_bytes", "B", "none", "Bytes read from the bucket", PHASE),
    Metric("storage_bucket_write_bytes", "B", "none", "Bytes written to the bucket", PHASE),
    Metric("storage_requests", "1", "none", "Requests to the bucket", PHASE),
    Metric("storage_get_requests", "1", "none", "GET requests to the bucket", PHASE),
    Metric("storage_head_requests", "1", "none", "HEAD requests to the bucket", PHASE),
    Metric("storage_list_requests", "1", "none", "LIST requests to the bucket", PHASE),
    Metric("storage_put_requests", "1", "none", "PUT requests to the bucket", PHASE),
    # The whole trial
    Metric("disk_bytes", "B", "lower", "Bytes on disk after background work", TRIAL, brief="size on disk", main=True),
    Metric("bytes_per_value", "B", "lower", "Bytes on disk per value", TRIAL),
    Metric("bytes_per_row", "B", "lower", "Bytes on disk per row", TRIAL, brief="bytes/row"),
    Metric("disk_data_bytes", "B", "lower", "Bytes on disk: data", brief="data on disk"),
    Metric("disk_wal_bytes", "B", "lower", "Bytes on disk: write-ahead log", brief="log on disk"),
    Metric("start_seconds", "s", "lower", "Time until the system answered", TRIAL),
    Metric("overhead_fraction", "1", "lower", "The harness's own share of the trial", TRIAL),
    Metric("limited_memory_peak_bytes", "B", "lower", "Peak memory under the limit"),
    Metric("limited_memory_kills", "1", "lower", "Processes killed at the memory limit"),
    Metric("limited_throttled_seconds", "s", "lower", "Time throttled by the processor limit"),
)  # fmt: skip

BY_NAME = {metric.name: metric for metric in TABLE}
MAIN = tuple(metric.name for metric in TABLE if metric.main)
_DIRECTIONS = ("read_", "write_")
"""Prefixes of the metrics of fio's mixed jobs, which measure reads and writes separately."""


@functools.cache
def describe(name: str) -> Metric:
    """Return a metric; if the table lacks it, derive its title and unit from its name.

    >>> describe("latency_p50").title, describe("read_bytes_per_second").unit, describe("disk_index_bytes").unit
    ('Median latency', 'B/s', 'B')
    """
    if name in BY_NAME:
        return BY_NAME[name]
    for prefix in _DIRECTIONS:
        if name.startswith(prefix) and (base := BY_NAME.get(name.removeprefix(prefix))):
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
        return _measured_by(TRIAL)
    own = _measured_by(workload)
    return (*own, *_measured_by(PHASE)) if own else None


def _measured_by(what: str) -> tuple[str, ...]:
    return tuple(one.name for one in TABLE if what in one.workloads.split())
