"""Samples of telemetry: their metrics, units and scopes, and the metrics that summarise a phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Sample = dict[str, Any]
"""``{"phase", "seconds", "scope", "metric", "value", "unit"}``, one line of telemetry.jsonl."""

PROCESS_UNITS: Mapping[str, str] = {
    "cpu_user_seconds": "s",
    "cpu_system_seconds": "s",
    "read_bytes": "B",
    "write_bytes": "B",
    "rss_bytes": "B",
    "rss_peak_bytes": "B",
    "pss_bytes": "B",
    "memory_bytes": "B",
    "threads": "1",
    "open_files": "1",
    "processes": "1",
}
"""Metrics of the scopes server and client, each summed over a process tree.

The first four are cumulative over the trial and include ended processes; the others describe the living ones.
``rss_peak_bytes`` is the sum of each process's peak since the phase began, so at least the tree's true peak. RSS counts
shared pages once for each process; PSS divides them among processes, but is slow to read and so sampled rarely.
``memory_bytes`` is the memory of a container's control group, including its share of the page cache.
"""

MACHINE_UNITS: Mapping[str, str] = {
    "cpu_busy_seconds": "s",
    "cpu_idle_seconds": "s",
    "cpu_iowait_seconds": "s",
    "cpu_steal_seconds": "s",
    "psi_cpu_some_seconds": "s",
    "psi_io_some_seconds": "s",
    "psi_io_full_seconds": "s",
    "psi_memory_some_seconds": "s",
    "psi_memory_full_seconds": "s",
    "memory_free_bytes": "B",
    "memory_available_bytes": "B",
    "device_reads": "1",
    "device_read_bytes": "B",
    "device_writes": "1",
    "device_write_bytes": "B",
    "device_busy_seconds": "s",
    "device_flushes": "1",
}
"""Metrics of the scope machine, from the kernel: cumulative since boot, except for the two of memory. CPU seconds are
core-seconds of all cores. The device is the one that holds the data folder."""

HARNESS_UNITS: Mapping[str, str] = {"cpu_user_seconds": "s", "cpu_system_seconds": "s"}
"""Metrics of the scope harness: the Benchbook process since it started, including the sampling thread."""

UNITS: Mapping[str, Mapping[str, str]] = {
    "server": PROCESS_UNITS,
    "client": PROCESS_UNITS,
    "machine": MACHINE_UNITS,
    "harness": HARNESS_UNITS,
}


SUMMARY = (
    "server_cpu_seconds",
    "client_cpu_seconds",
    "harness_cpu_seconds",
    "server_rss_peak_bytes",
    "client_rss_peak_bytes",
    "server_memory_peak_bytes",
    "server_read_bytes",
    "server_write_bytes",
    "device_read_bytes",
    "device_write_bytes",
    "device_writes",
    "device_flushes",
    "machine_steal_fraction",
    "psi_cpu_some_fraction",
    "psi_io_some_fraction",
    "psi_memory_some_fraction",
)
"""The metrics that summarise a phase. ``machine_steal_fraction`` is a share of the time of all cores; a PSI fraction is
the share of the phase's wall time in which at least one process waited for that resource."""
