"""Wait until a system that was started answers."""

from __future__ import annotations

import time

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Driver

READY_SECONDS = 120.0
"""How long a server that the harness starts may take until it answers."""

RUNNING_SECONDS = 5.0
"""How long a server that is said to run already may take until it answers."""


def wait(driver: Driver, name: str, url: str | None = None) -> None:
    """Return when it answers; raise TrialFailed when it does not in time, or has died."""
    limit = RUNNING_SECONDS if url else getattr(driver, "ready_seconds", READY_SECONDS)
    deadline = time.monotonic() + limit
    while not driver.ready():
        if time.monotonic() > deadline:
            where = f" at {url}" if url else ""
            raise TrialFailed(f"{name}{where} did not answer within {limit:.0f} s.")
        time.sleep(0.01)
