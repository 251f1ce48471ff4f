"""The state of the caches that a phase meets: warm, cold, or lukewarm where cold was asked for and not had.

Cold is: the system stopped, everything written synced, every cache between it and the device dropped, the
system started again. The storage says whether that was had: it looks whether some of the data is in memory still.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

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


def of_trial(states: Mapping[str, str]) -> str:
    """Return the state of a trial from that of its phases: cold only where all that asked for it had it.

    >>> of_trial({"first": "cold", "second": "lukewarm"})
    'lukewarm'
    """
    asked = {state for state in states.values() if state != WARM}
    if not asked:
        return WARM
    return LUKEWARM if LUKEWARM in asked else COLD
