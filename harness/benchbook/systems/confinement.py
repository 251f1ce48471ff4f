"""Where the next processes are started: in which control group, and on which cores.

The engine says it around the calls that start a system, ``process.start`` asks for it; so no driver has to hand
it on, and a new one cannot forget it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.host.cpu import numbers

CORES_WANTED = 4
"""Two for a server and two for its client: with fewer, cores of their own would starve both."""


@dataclass(frozen=True)
class Confinement:
    """The group and the cores of a process and of all it starts."""

    entries: tuple[Path, ...] = ()
    """Files of control groups into which a process writes ``0`` to enter."""
    cores: frozenset[int] | None = None
    """Cores it may run on; None leaves them all."""


FREE = Confinement()
_next = FREE


@contextlib.contextmanager
def inside(confinement: Confinement) -> Iterator[None]:
    """Start processes under ``confinement`` for the length of a ``with`` block, in whichever thread."""
    global _next  # noqa: PLW0603 - one trial at a time, and its clients are started by several threads
    before, _next = _next, confinement
    try:
        yield
    finally:
        _next = before


@contextlib.contextmanager
def entering() -> Iterator[Callable[[], None]]:
    """Yield what a child runs before exec to be where the next process has to be; nothing is imported there."""
    confinement = _next
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(entry.open("wb", buffering=0)).fileno() for entry in confinement.entries]

        def enter() -> None:
            for file in files:
                os.write(file, b"0")
            if confinement.cores is not None:
                os.sched_setaffinity(0, confinement.cores)

        yield enter


def apart(usable: set[int], least: int = CORES_WANTED) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the cores of the server and those of its client; None where there are fewer than ``least``.

    Threads of one core stay together, for they share its units. The server gets the odd core.
    """
    cores: dict[frozenset[int], None] = {}
    for core in sorted(usable):
        cores[frozenset(_siblings(core) & usable)] = None
    kinds = list(cores)
    if len(usable) < least or len(kinds) < 2:
        return None
    half = (len(kinds) + 1) // 2
    return frozenset().union(*kinds[:half]), frozenset().union(*kinds[half:])


def _siblings(core: int) -> set[int]:
    try:
        file = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        return {core, *numbers(file.read_text(encoding="ascii").strip())}
    except (OSError, ValueError):
        return {core}
