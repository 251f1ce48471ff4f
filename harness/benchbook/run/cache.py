"""Cache state of a phase: warm, cold, or lukewarm if cold was requested but not reached.

To make a phase cold, Benchbook stops the system, syncs, drops every cache between it and the device, and starts it
again. Two checks follow: the storage reports whether some of the data is still in memory, and a system that answers
after a cold start without reading one byte was not cold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from benchbook.measure.measurement import Measurement

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

WARM, COLD, LUKEWARM = "warm", "cold", "lukewarm"

PHASE = "drop caches"
"""Phase in which the system stops and starts again; what it reads then counts as read by the queries."""


def make_cold(steps: Steps) -> str:
    """Stop the system, drop all caches, start it again; return the cache state that was reached."""
    program = steps.context.program(str(steps.planned.levels["system"]))
    if program.url is not None:
        return LUKEWARM  # Benchbook can neither stop a server elsewhere nor drop its machine's cache
    with steps.timeline.phase(PHASE):
        steps.driver.stop()
        dropped = steps.storage.drop_caches()
        steps.restart()
    return COLD if dropped else LUKEWARM


READ = ("server_read_bytes", "storage_bucket_read_bytes", "device_read_bytes")
"""Counters of bytes that came from storage: by the system's processes, from a bucket, from the whole device."""


def confirmed(states: Mapping[str, str], measured: Iterable[Measurement]) -> dict[str, str]:
    """Return the states that the bytes read confirm: cold becomes lukewarm if nothing was read since the stop.

    If no reads were counted (a system elsewhere, no telemetry), the storage's check decides.

    >>> read = Measurement("q", "server_read_bytes", 0.0, "B", "lower")
    >>> confirmed({"q": "cold", "r": "cold"}, [read])
    {'q': 'lukewarm', 'r': 'cold'}
    """
    counted: dict[str, float] = {}
    for one in measured:
        if one.metric in READ:
            counted[one.phase] = counted.get(one.phase, 0.0) + one.value
    restarted = counted.get(PHASE, 0.0)
    return {
        phase: LUKEWARM if state == COLD and counted.get(phase, 1.0) + restarted == 0 else state
        for phase, state in states.items()
    }


def trial_state(states: Mapping[str, str]) -> str:
    """Return the cache state of a trial: cold only if all phases that requested it were cold.

    >>> trial_state({"first": "cold", "second": "lukewarm"})
    'lukewarm'
    """
    asked = {state for state in states.values() if state != WARM}
    if not asked:
        return WARM
    return LUKEWARM if LUKEWARM in asked else COLD
