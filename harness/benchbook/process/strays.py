"""Find and end the processes that leave the tree of the program that started them.

A program can fork twice and call ``setsid``, as a daemon does: then nothing in the process table leads to it. On Linux
the harness adopts such processes (it is a subreaper), and each program that it starts has a mark in its environment,
which all its descendants inherit. So they are found while the harness lives, and after it was killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from benchbook.host.identity import identity, process_space
from benchbook.measure.usage import children, contents
from benchbook.process.leftovers import GRACE_SECONDS, Ended
from benchbook.process.marks import is_orphan, mark_of
from benchbook.process.wait import until

_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_numbers = itertools.count()
_own: set[int] = set()
"""Processes that this harness started itself in a session of their own, and that it waits for."""
_known: dict[int, tuple[str, str]] = {}
"""Adopted process → its identity and mark, so that its environment is read once."""
_ended: set[int] = set()
"""Children that had ended at the last look."""


def mark() -> str:
    """Return a new mark for a program that this harness starts, and adopt what leaves its tree from now on."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    boot, _, ticks = (identity(os.getpid()) or "").rpartition(":")
    return f"{boot}/{process_space()}/{os.getpid()}/{ticks}/{next(_numbers)}"


def started(pid: int) -> None:
    """Note that this harness started a process, which is thus not adopted and is waited for elsewhere."""
    _own.add(pid)


def waited_for(pid: int) -> None:
    """Note that a process that this harness started has been removed from the process table."""
    _own.discard(pid)


def adopted(marked: str) -> list[int]:
    """Return the adopted processes with a mark; their descendants are in their trees."""
    return [pid for pid, found in _adopted() if found == marked]


def unmarked() -> list[int]:
    """Return the adopted processes whose environment was cleared, so that nothing shows which program started them."""
    return [pid for pid, found in _adopted() if not found]


def _adopted() -> list[tuple[int, str]]:
    """Return the adopted processes with their marks; remove those that have ended from the process table."""
    found = []
    for pid in children(os.getpid()) if _LIBC is not None else ():
        if pid in _own or _session(pid) in (None, os.getsid(0)):
            continue
        begun = identity(pid)
        if begun is None:
            _reap(pid)
        elif (known := _known.get(pid)) is not None and known[0] == begun:
            found.append((pid, known[1]))
        else:
            if read := mark_of(pid):  # else it may not have called exec yet
                _known[pid] = begun, read
            found.append((pid, read))
    return found


def _session(pid: int) -> int | None:
    try:
        return int(contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()[3])
    except (OSError, ValueError, IndexError):
        return None


def _reap(pid: int) -> None:
    """Remove an adopted process that has ended, if it had ended at the last look too.

    At the first look, it may be a process that this harness has just started.
    """
    if pid not in _ended:
        _ended.add(pid)
        return
    _ended.discard(pid)
    _known.pop(pid, None)
    with contextlib.suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def sweep() -> list[Ended]:
    """End the marked processes of harnesses that are dead, and return them; never raise."""
    left = [(pid, identity(pid)) for pid in (_all() if _LIBC is not None else ()) if is_orphan(pid)]
    ended = [Ended(pid, _name(pid)) for pid, _ in left]
    end(lambda: [pid for pid, started in left if started is not None and identity(pid) == started])
    return ended


def end(living: Callable[[], Iterable[int]], grace_seconds: float = GRACE_SECONDS) -> None:
    """End the processes that ``living`` returns, until it returns none: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not (pids := list(living())):
            return
        send(pids, number)
        until(lambda: not list(living()), grace_seconds, pause=0.02)


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes, of which some may have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _all() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != own]  # noqa: PTH208


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return "a process"
