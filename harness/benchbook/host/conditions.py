"""Conditions of the machine that change: load, pressure (PSI), time stolen by the hypervisor, jumps of the wall clock.

Durations are differences of ``time.monotonic()`` or ``time.perf_counter()``. The wall clock only dates events, but a
server under test may use it (retention, caches, timeouts), so a trial during which it jumped is suspect.
"""

from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass

from benchbook.host.reading import Facts, Tree, Unreadable, read_fact

RESOURCES = ("cpu", "io", "memory")
STEAL = 7
"""Index of steal among the numbers of a ``cpu`` line: user nice system idle iowait irq softirq steal."""
COUNTED = 8
"""Numbers to add up; the guest times after steal are already included in user and nice."""


def load(tree: Tree) -> Facts:
    """Return the load averages over 1, 5 and 15 minutes and the number of runnable processes."""
    return {
        "load1": read_fact(lambda: float(_loadavg(tree)[0])),
        "load5": read_fact(lambda: float(_loadavg(tree)[1])),
        "load15": read_fact(lambda: float(_loadavg(tree)[2])),
        "runnable": read_fact(lambda: int(_loadavg(tree)[3].partition("/")[0])),
    }


def pressure(tree: Tree) -> Facts:
    """Return PSI of cpu, io and memory: averages in percent, totals in seconds."""
    return {name: read_fact(lambda at: stalls(_psi(tree, at)), name) for name in RESOURCES}


def steal(tree: Tree) -> Facts:
    """Return the time since boot that the hypervisor took from this machine, in core-seconds and as a share."""
    return {
        "seconds": read_fact(lambda: ticks(tree)[STEAL] / os.sysconf("SC_CLK_TCK")),
        "fraction_since_boot": read_fact(lambda: ticks(tree)[STEAL] / sum(ticks(tree))),
    }


def current_load(tree: Tree | None = None) -> dict[str, float]:
    """Return the machine's load just before a trial, without unreadable numbers."""
    tree = tree or Tree()
    found = load(tree)
    for name, lines in pressure(tree).items():
        if isinstance(lines, dict):
            found[f"psi_{name}_some_avg10"] = lines["some"]["avg10"]
    return {name: float(value) for name, value in found.items() if not isinstance(value, str)}


def stalls(text: str) -> dict[str, dict[str, float]]:
    """Return the lines of a pressure file as kind → averages in percent and ``total_seconds``.

    >>> stalls("some avg10=1.50 avg60=0.10 avg300=0.00 total=2500000")
    {'some': {'avg10': 1.5, 'avg60': 0.1, 'avg300': 0.0, 'total_seconds': 2.5}}
    """
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        kind, *fields = line.split()
        numbers = {name: float(value) for name, _, value in (field.partition("=") for field in fields)}
        numbers["total_seconds"] = numbers.pop("total") / 1e6
        found[kind] = numbers
    return found


def ticks(tree: Tree) -> list[int]:
    """Return the machine's CPU time so far in ticks: user nice system idle iowait irq softirq steal."""
    first = tree.text("/proc/stat").splitlines()[0].split()
    if first[0] != "cpu" or len(first) <= COUNTED:
        raise Unreadable("/proc/stat has no cpu line with steal")
    return [int(number) for number in first[1 : COUNTED + 1]]


def _loadavg(tree: Tree) -> list[str]:
    return tree.text("/proc/loadavg").split()


def _psi(tree: Tree, name: str) -> str:
    found = tree.text(f"/proc/pressure/{name}")
    if not found:
        raise Unreadable(f"/proc/pressure/{name}: empty")
    return found


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
        raise Unreadable("it can be read only on the machine itself, while it runs")
    libc = ctypes.CDLL(None, use_errno=True)
    timex = ctypes.create_string_buffer(512)  # modes = 0: ask only
    if libc.adjtimex(timex) < 0:
        raise Unreadable("the kernel does not let this process read the state of the clock (adjtimex)")
    status = int.from_bytes(timex.raw[STATUS_OFFSET : STATUS_OFFSET + 4], "little")
    return not status & STA_UNSYNC
