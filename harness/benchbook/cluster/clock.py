"""Clocks of two machines compared over messages: the offset, and how wrong it can be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 9


@dataclass(frozen=True)
class Offset:
    """How far another machine's clock is ahead of ours."""

    seconds: float
    error_seconds: float
    """Half the round trip of the fastest message: the offset cannot be further off."""


def offset(ask: Callable[[], float], now: Callable[[], float] = time.time) -> Offset:
    """Return the offset of a clock that ``ask`` reads over there, from the fastest of some round trips.

    >>> times = iter([0.0, 2.0] * 9)
    >>> offset(lambda: 11.0, lambda: next(times))
    Offset(seconds=10.0, error_seconds=1.0)
    """
    best: Offset | None = None
    for _ in range(ROUNDS):
        sent = now()
        there = ask()
        got = now()
        found = Offset(there - (sent + got) / 2, (got - sent) / 2)
        if best is None or found.error_seconds < best.error_seconds:
            best = found
    assert best is not None
    return best
