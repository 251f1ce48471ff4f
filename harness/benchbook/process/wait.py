"""Wait until a condition holds, up to a limit."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float, *, pause: float = 0.05) -> bool:
    """Return whether ``condition`` became true within ``seconds``.

    The condition is checked at least once, then every ``pause`` seconds. It may raise to end the wait.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
    return True


def until_unchanged(
    read: Callable[[], object], rest_seconds: float, seconds: float, *, pause: float = 0.1
) -> bool:
    """Return whether ``read`` returned the same value for ``rest_seconds`` without a break, within ``seconds``."""
    value, since = read(), time.monotonic()

    def rested() -> bool:
        nonlocal value, since
        if (now := read()) != value:
            value, since = now, time.monotonic()
        return time.monotonic() - since >= rest_seconds

    return until(rested, seconds, pause=pause)
