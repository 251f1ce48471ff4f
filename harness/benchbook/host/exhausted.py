"""Recognise that the machine refused a process, a thread, a file or a read, and say what to do."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from benchbook.host.filesystem import device_of
from benchbook.host.reading import Unreadable

PROCESSES = (
    "This user may start no further process or thread (RLIMIT_NPROC, or a limit of its control group).",
    "Raise the limit with `ulimit -u`, or end other processes of this user, then run the command again.",
)
_BY_ERROR = {
    errno.EAGAIN: PROCESSES,
    errno.ENOMEM: (
        "The machine has no memory left for a process or a file.",
        "End other programs, or choose a smaller profile, then run the command again.",
    ),
    errno.EMFILE: (
        "This process may open no further file (RLIMIT_NOFILE).",
        "Raise the limit with `ulimit -n`, then run the command again.",
    ),
    errno.ENFILE: (
        "The machine has no file handles left.",
        "End other programs, then run the command again.",
    ),
}
REFUSED_THREADS = (
    "can't start new thread",
    "could not spawn threads",
    "failed to create new OS thread",
    "pthread_create",
    "Resource temporarily unavailable",
)
"""What Python, Rust and Go report if the kernel refuses a thread, in an error without a number."""


def explain(error: BaseException, folder: Path | None = None) -> tuple[str, str] | None:
    """Return what the machine lacked and the next step, if that is what an error or one of its causes shows.

    ``folder`` is the one in which a file whose name the error lacks is likely to be.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, OSError) and found.errno == errno.EIO:
            return _broken(found.filename or folder)
        if isinstance(found, OSError) and found.errno in _BY_ERROR:
            message, hint = _BY_ERROR[found.errno]
            return (f"{found.filename}: {message}" if found.filename else message), hint
        if isinstance(found, MemoryError) or "Cannot allocate memory" in str(found):
            return _BY_ERROR[errno.ENOMEM]
        if refused_threads(str(found)):
            return PROCESSES
        found = found.__cause__  # not its context: a full pipe that was waited for is no lack
    return None


def _broken(place: object) -> tuple[str, str]:
    """Name the disk that failed to read or write, if it is known."""
    disk = None
    if isinstance(place, str | Path):
        with contextlib.suppress(Unreadable, OSError, ValueError):
            disk = device_of(Path(place)).name
    what = f"disk {disk}" if disk else "storage"
    failed = f"{what} failed to read or write (input/output error)."
    hint = (
        f"Check the {what} (`dmesg` reports its errors), or name a folder on another one with --results DIR."
    )
    return (f"{place}: the {failed}" if place else f"The {failed}"), hint


def refused_threads(text: str) -> bool:
    """Return whether a program's message is that the kernel refused it a thread."""
    return any(words in text for words in REFUSED_THREADS)
