"""The control group and the cores in which new processes start.

The engine sets them around the calls that start a system, and ``spawn.start`` reads them. Drivers do not pass them on,
so a new driver cannot forget them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchbook.host.hardware import numbers

CORES_WANTED = 4
"""Two cores for the server and two for its client: with fewer, separate cores would starve both."""


@dataclass(frozen=True)
class Confinement:
    """The control group and the cores of a process and its descendants."""

    entries: tuple[Path, ...] = ()
    """Files of control groups into which a process writes ``0`` to enter."""
    cores: frozenset[int] | None = None
    """Cores that it may run on; None allows all of them."""


UNCONFINED = Confinement()
_current = UNCONFINED


@contextlib.contextmanager
def confine(confinement: Confinement) -> Iterator[None]:
    """Start processes under ``confinement`` in the ``with`` block, in every thread."""
    global _current  # noqa: PLW0603 - one trial at a time, and its clients are started by several threads
    before, _current = _current, confinement
    try:
        yield
    finally:
        _current = before


@contextlib.contextmanager
def before_exec() -> Iterator[Callable[[], None]]:
    """Yield the function that confines a child between fork and exec; it imports nothing."""
    confinement = _current
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(entry.open("wb", buffering=0)).fileno() for entry in confinement.entries]

        def enter() -> None:
            for file in files:
                os.write(file, b"0")
            if confinement.cores is not None:
                os.sched_setaffinity(0, confinement.cores)

        yield enter


def separate_cores(
    usable: set[int], least: int = CORES_WANTED
) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the cores of the server and those of its client; None if there are fewer than ``least``.

    Hardware threads of one core stay together, because they share its units. The server gets the odd core.
    """
    cores: dict[frozenset[int], None] = {}
    for core in sorted(usable):
        cores[frozenset(_siblings(core) & usable)] = None
    physical = list(cores)
    if len(usable) < least or len(physical) < 2:
        return None
    half = (len(physical) + 1) // 2
    return frozenset().union(*physical[:half]), frozenset().union(*physical[half:])


def _siblings(core: int) -> set[int]:
    try:
        file = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        return {core, *numbers(file.read_text(encoding="ascii").strip())}
    except (OSError, ValueError):
        return {core}
