"""The state of the caches that a phase meets: warm, cold, or lukewarm where cold was asked for and not had.

Cold is: the system stopped, everything written synced, every cache between it and the device dropped, the
system started again. The storage says whether that was had: it looks whether some of the data is in memory still.
And what was read says it again: a system that answers from a cold start without reading one byte was not cold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from benchbook.measure.measurement import Measurement

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

WARM, COLD, LUKEWARM = "warm", "cold", "lukewarm"

PHASE = "drop caches"
"""The phase in which the system is stopped and started again; what it reads then counts as read by the queries."""


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


READ = ("server_read_bytes", "storage_bucket_read_bytes", "device_read_bytes")
"""What counts bytes that came from the storage: of the system's processes, of a bucket, of the whole device."""


def seen(states: Mapping[str, str], measured: Iterable[Measurement]) -> dict[str, str]:
    """Return the states as the bytes read confirm them: cold with nothing read since the stop is lukewarm.

    Where no reads were counted (a system elsewhere, no telemetry) the storage's word stands.

    >>> read = Measurement("q", "server_read_bytes", 0.0, "B", "lower")
    >>> seen({"q": "cold", "r": "cold"}, [read])
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


def of_trial(states: Mapping[str, str]) -> str:
    """Return the state of a trial from that of its phases: cold only where all that asked for it had it.

    >>> of_trial({"first": "cold", "second": "lukewarm"})
    'lukewarm'
    """
    asked = {state for state in states.values() if state != WARM}
    if not asked:
        return WARM
    return LUKEWARM if LUKEWARM in asked else COLD
