"""Clocks of a trial: detect jumps of the wall clock.

Durations are differences of ``time.monotonic()`` or ``time.perf_counter()``. The wall clock only dates events, but a
server under test may use it (retention, caches, timeouts), so a trial during which it jumped is suspect.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

from benchbook.host.reading import Facts, Tree, Unreadable, read_fact

JUMP_SECONDS = 0.5
"""Slewing by a time daemon (at most 0.5 ms per second) does not reach this difference within a trial."""

STA_UNSYNC = 0x40
STATUS_OFFSET = 40
"""Offset of ``status`` in ``struct timex`` on 64-bit Linux: modes and padding, then four longs."""


@dataclass(frozen=True)
class Mark:
    """Both clocks at one moment, in seconds."""

    wall: float
    monotonic: float


def mark() -> Mark:
    """Return both clocks."""
    return Mark(time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime(time.CLOCK_MONOTONIC))


def jump(begin: Mark, end: Mark) -> float:
    """Return by how many seconds the wall clock advanced more than the monotonic clock; negative if it was set back.

    This also detects sleep, during which only the wall clock advances.
    """
    return (end.wall - begin.wall) - (end.monotonic - begin.monotonic)


def jumped(begin: Mark, end: Mark | None = None) -> str | None:
    """Return a sentence about a jump of the wall clock since ``begin``, or None."""
    seconds = jump(begin, end or mark())
    if abs(seconds) <= JUMP_SECONDS:
        return None
    way = "forward" if seconds > 0 else "back"
    return f"The wall clock went {way} by {abs(seconds):.1f} s during the trial (allowed: {JUMP_SECONDS} s)."


def timekeeping(tree: Tree) -> Facts:
    """Return whether a time server synchronises the kernel's clock."""
    return {"synchronised": read_fact(_synchronised, tree)}


def _synchronised(tree: Tree) -> bool:
    if not tree.real:
        raise Unreadable("only the running machine reports this")
    libc = ctypes.CDLL(None, use_errno=True)
    timex = ctypes.create_string_buffer(512)  # modes = 0: ask only
    if libc.adjtimex(timex) < 0:
        raise Unreadable("adjtimex is refused")
    status = int.from_bytes(timex.raw[STATUS_OFFSET : STATUS_OFFSET + 4], "little")
    return not status & STA_UNSYNC
