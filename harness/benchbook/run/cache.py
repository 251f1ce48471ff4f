"""The state of the caches that a phase meets: warm, cold, or lukewarm where cold was asked for and not had.

Cold is: the system stopped, everything written synced, every cache between it and the device dropped, the
system started again. That it was cold is not believed but seen: bytes were read from the storage afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

WARM, COLD, LUKEWARM = "warm", "cold", "lukewarm"

PHASE = "drop caches"
"""The phase in which the system is stopped and started again; what it reads then counts as read by the queries."""

READS = ("server_read_bytes", "storage_bucket_read_bytes")
"""Bytes that came from the storage: of block devices, and of a bucket behind a mount."""


def make_cold(steps: Steps) -> str:
    """Stop the system, drop all caches, start it again; return the state that was reached."""
    program = steps.context.program(str(steps.planned.levels["system"]))
    if program.url is not None:
        return LUKEWARM  # a server elsewhere cannot be stopped, nor its machine's cache dropped
    with steps.timeline.phase(PHASE):
        steps.driver.stop()
        dropped = steps.storage.drop_caches()
        steps.restart()
    return COLD if dropped else LUKEWARM


def seen(states: Mapping[str, str], read_bytes: Mapping[str, float]) -> str:
    """Return the state of a trial from that of its phases: cold only where bytes were read from the storage.

    >>> seen({"queries": "cold"}, {"drop caches": 4096.0, "queries": 0.0})
    'cold'
    >>> seen({"queries": "cold"}, {"queries": 0.0})
    'lukewarm'
    """
    asked = [state for state in states.values() if state != WARM]
    if not asked:
        return WARM
    read = sum(read_bytes.get(phase, 0.0) for phase in (PHASE, *states))
    return COLD if LUKEWARM not in asked and read > 0 else LUKEWARM
