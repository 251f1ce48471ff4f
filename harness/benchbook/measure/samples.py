"""The samples of telemetry: names, units and scopes, and the metrics that a phase is summed up as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Sample = dict[str, Any]
"""``{"phase", "seconds", "scope", "metric", "value", "unit"}``, one line of telemetry.jsonl."""

Scope = Literal["server", "client", "machine", "harness"]

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
"""Of the scopes server and client, each over a process tree. The first four are cumulative over the trial and
keep what dead processes used; the others are what the living ones have now. ``rss_peak_bytes`` is the sum of
each process's own peak since the phase began, so at least the tree's true peak. Pages that processes share
count once for each in RSS and are divided among them in PSS, which is read rarely because it is dear.
``memory_bytes`` is what a container's control group is charged with, its share of the page cache included."""

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
"""Of the scope machine, as the kernel counts them: cumulative since boot, but for the two of memory. The CPU
seconds are core-seconds of all cores. The device is the one under the data folder."""

HARNESS_UNITS: Mapping[str, str] = {"cpu_user_seconds": "s", "cpu_system_seconds": "s"}
"""Of the scope harness: our own process since it started, the sampling thread among it."""

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
"""The metrics that a phase is summed up as. ``machine_steal_fraction`` is of all cores' time; a PSI fraction is the
share of the phase's wall time in which at least one process waited for that resource."""
