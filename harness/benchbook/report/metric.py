"""What a metric is called in a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A metric's words: what it is and what it counts."""

    title: str
    noun: str = ""
    """What a bare rate or count counts: ``rows``."""
    brief: str = ""

    @property
    def short(self) -> str:
        """The metric in a word or two, for a row's label."""
        return self.brief or self.title.lower()


METRICS = {
    "rows_per_second": Metric("Rows loaded per second", "rows", "rows/s"),
    "rows_per_cpu_second": Metric("Rows per second of processor time", "rows", "rows/CPU-s"),
    "values_per_second": Metric("Values loaded per second", "values"),
    "bytes_per_second": Metric("Bytes per second"),
    "acknowledged_seconds": Metric("Time until every row was acknowledged"),
    "settled_seconds": Metric("Time until all data was settled"),
    "rows": Metric("Rows acknowledged", "rows"),
    "rows_refused": Metric("Rows refused", "rows"),
    "rows_found": Metric("Rows acknowledged and found afterwards", "rows"),
    "rows_per_second_attempted": Metric("Rows sent per second, acknowledged or not", "rows", "rows/s sent"),
    "steady_rows_per_second": Metric("Rows loaded per second once steady", "rows", "rows/s, steady"),
    "steady_values_per_second": Metric("Values loaded per second once steady", "values"),
    "steady_from_seconds": Metric("When the load became steady"),
    "steady_seconds": Metric("Length of the steady part"),
    "retries": Metric("Retries"),
    "queries_per_second": Metric("Queries per second", "queries"),
    "reads_per_second": Metric("Reads per second", "reads", "reads/s"),
    "rows_decoded_per_read": Metric("Bars decoded a read", "bars"),
    "rows_per_read": Metric("Bars that came a read", "bars"),
    "in_flight": Metric("Reads in flight", "reads"),
    "reads": Metric("Reads answered", "reads"),
    "latency_mean": Metric("Mean latency"),
    "latency_p50": Metric("Median latency", "", "median"),
    "latency_p90": Metric("90th percentile of latency"),
    "latency_p95": Metric("95th percentile of latency"),
    "latency_p99": Metric("99th percentile of latency"),
    "latency_p999": Metric("99.9th percentile of latency"),
    "latency_max": Metric("Longest latency"),
    "latency_p80": Metric("80th percentile of latency"),
    "objects_per_second": Metric("Objects per second", "objects", "objects/s"),
    "operations_per_second": Metric("Operations per second", "operations"),
    "synced_writes_per_second": Metric("Synced writes per second of fio", "writes"),
    "queries": Metric("Queries answered", "queries"),
    "errors": Metric("Failed operations", "operations"),
    "client_cpu_seconds": Metric("Processor time of the client"),
    "server_cpu_seconds": Metric("Processor time of the server"),
    "server_rss_peak_bytes": Metric("Peak memory of the server"),
    "server_memory_peak_bytes": Metric("Peak memory of the server's container"),
    "client_cpu_fraction": Metric("Share of its cores that the client used"),
    "record_stall_seconds": Metric("Time that workers waited for the file of single operations"),
    "server_read_bytes": Metric("Bytes read by the server"),
    "server_write_bytes": Metric("Bytes written by the server"),
    "machine_steal_fraction": Metric("Share of time stolen by the hypervisor"),
    "start_seconds": Metric("Time until the system answered"),
    "disk_bytes": Metric("Bytes on disk after settling", "", "size on disk"),
    "bytes_per_value": Metric("Bytes on disk per value"),
    "bytes_per_row": Metric("Bytes on disk per row", "", "bytes/row"),
    "disk_data_bytes": Metric("Bytes on disk: data", "", "data on disk"),
    "disk_wal_bytes": Metric("Bytes on disk: write-ahead log", "", "log on disk"),
    "overhead_fraction": Metric("The harness's own share of the trial"),
}


def metric(name: str) -> Metric:
    """Return the words for a metric; one that nobody described is called by its name."""
    return METRICS.get(name) or Metric(name.replace("_", " ").capitalize())
