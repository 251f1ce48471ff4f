"""Facts about what we may do on this machine to make a measurement cleaner."""

from __future__ import annotations

import os

from benchbook.host.reading import Facts, Tree, stated

DROP_CACHES = "/proc/sys/vm/drop_caches"
COUNTERS = ("cpu", "cpu_core", "armv8_pmuv3*")
"""Names under which the kernel shows a processor's own event counters."""


def permissions(tree: Tree) -> Facts:
    """Return what is permitted: dropping the page cache, hardware event counters."""
    return {
        "drop_caches": stated(lambda: os.access(tree.at(DROP_CACHES), os.W_OK)),
        "hardware_counters": stated(_counters, tree),
        "perf_event_paranoid": stated(tree.number, "/proc/sys/kernel/perf_event_paranoid"),
        "superuser": os.geteuid() == 0,
    }


def _counters(tree: Tree) -> bool:
    return any(tree.names("/sys/bus/event_source/devices", name) for name in COUNTERS)
