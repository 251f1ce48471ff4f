"""Waiting for others: one writer of a results folder at a time, and DuckDB's own lock on its file."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from benchbook.errors import RequestError
from benchbook.record import folder
from benchbook.record.folder import Say

FILE = ".benchbook.lock"
WAIT_SECONDS = 60.0
"""How long to wait for another process."""
_PAUSE_SECONDS = 0.1

T = TypeVar("T")


class Busy(Exception):
    """Another process holds it; the words say which."""


@contextlib.contextmanager
def writer(results: Path, say: Say) -> Iterator[None]:
    """Be the only writer of a results folder: DuckDB's lock does not cover replacing its file.

    Raises RequestError where the folder cannot be written or another writer stays too long.
    """
    import fcntl

    try:
        results.mkdir(parents=True, exist_ok=True)
        file = (results / FILE).open("ab")
    except OSError as error:
        raise folder.cannot_write(results, error) from error
    with file:

        def take() -> None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Busy(_writer(results)) from error

        patiently(take, results, say)
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), f"{os.getpid()}\n".encode())
        yield


def _writer(results: Path) -> str:
    with contextlib.suppress(OSError):
        if number := (results / FILE).read_text(errors="replace").strip():
            return f"another Benchbook (process {number})"
    return "another Benchbook"


def patiently(attempt: Callable[[], T], place: Path, say: Say) -> T:
    """Return what ``attempt`` returns, trying again while it raises Busy; say once that we wait.

    Raises RequestError after WAIT_SECONDS.
    """
    until: float | None = None
    while True:
        try:
            return attempt()
        except Busy as busy:
            if until is None:  # the first attempt may have taken long by itself, which is no waiting
                until = time.monotonic() + WAIT_SECONDS
                say(f"{place} is in use by {busy}; waiting up to {WAIT_SECONDS:.0f} s.")
            elif time.monotonic() >= until:
                raise RequestError(
                    f"{place} has been in use by {busy} for {WAIT_SECONDS:.0f} s.",
                    "Let it finish or close it, then ask again; nothing was lost, the run folders are whole.",
                ) from busy
            time.sleep(_PAUSE_SECONDS)


def holder(words: str) -> str | None:
    """Return who holds the lock by the words of DuckDB's error, or None where it is not about a lock."""
    if "Could not set lock" not in words:
        return None
    found = re.search(r"held in (\S+) \(PID (\d+)\)", words)
    return f"{Path(found[1]).name} (process {found[2]})" if found else "another process"
