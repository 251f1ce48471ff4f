"""Measure how much of the machine's processor time other programs used while a trial ran."""

from __future__ import annotations

import os
from typing import NamedTuple

from benchbook.measure.usage import counters, read
from benchbook.process.spawn import tree


class Used(NamedTuple):
    """Processor time since the machine started, in seconds."""

    whole: float
    """Of all cores, also while they were idle."""
    busy: float
    own: float
    """Of one process, its descendants, and those of them that have ended."""


def used(pid: int | None = None) -> Used | None:
    """Return the processor time up to now; None if this machine does not show it. By default, this process owns it."""
    now = counters(None)
    if "cpu_busy_seconds" not in now:
        return None
    found = [one for each in tree(pid or os.getpid()) if (one := read(each)) is not None]
    own = sum(one.usage.user + one.usage.system + one.reaped.user + one.reaped.system for one in found)
    whole = sum(now[f"cpu_{kind}_seconds"] for kind in ("busy", "idle", "iowait", "steal"))
    return Used(whole, now["cpu_busy_seconds"], own)


def share(begin: Used | None, end: Used | None, elsewhere: float = 0.0) -> float | None:
    """Return the share of the processor time that others used in between; None if it is unknown.

    ``elsewhere``: processor time of the trial that is not of its own processes, such as in a container.

    >>> share(Used(100, 50, 10), Used(200, 90, 40))
    0.1
    """
    if begin is None or end is None or end.whole <= begin.whole:
        return None
    others = (end.busy - begin.busy) - (end.own - begin.own) - elsewhere
    return min(1.0, max(0.0, others / (end.whole - begin.whole)))
