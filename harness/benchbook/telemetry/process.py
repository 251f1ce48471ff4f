"""Reading one process from /proc, with as little work as it can be done.

Plain ``os.read`` and byte searches: this runs each second beside what is measured.
"""

from __future__ import annotations

import os
from typing import NamedTuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS = float(os.sysconf("SC_CLK_TCK"))
READ_BYTES = 16384
"""More than most files read here hold; the kernel may hand out less than that at a time."""


class Usage(NamedTuple):
    """What a process used so far; seconds and bytes, cumulative."""

    user: float = 0.0
    system: float = 0.0
    read: float = 0.0
    written: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Return the sum."""
        return Usage(*(one + two for one, two in zip(self, other, strict=True)))

    def minus(self, other: Usage) -> Usage:
        """Return the difference, nowhere below zero."""
        return Usage(*(max(0.0, one - two) for one, two in zip(self, other, strict=True)))

    def least(self, other: Usage) -> Usage:
        """Return the smaller of both in each place."""
        return Usage(*map(min, self, other))


NOTHING = Usage()


class Process(NamedTuple):
    """A process at one moment."""

    pid: int
    parent: int
    started: int
    """Ticks after boot: with the pid, the identity of a process."""
    threads: int
    usage: Usage
    """Its own CPU; its bytes include those of children that it has waited for, as the kernel adds them up."""
    reaped: Usage
    """CPU of children that it has waited for, and of theirs; no bytes."""
    rss: int
    rss_peak: int
    """The most since it started or since the peak was last forgotten."""
    open_files: int | None
    bytes_known: bool
    """Whether we were permitted to read its bytes."""


def contents(path: str, whole: bool = True) -> bytes:
    """Return a file of /proc, or its beginning; raise OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(descriptor, READ_BYTES)
        while whole and (more := os.read(descriptor, READ_BYTES)):
            text += more
        return text
    finally:
        os.close(descriptor)


def read(pid: int) -> Process | None:
    """Return a process, also one that ended and was not waited for; None when it is gone."""
    folder = f"/proc/{pid}"
    try:
        stat = contents(f"{folder}/stat", whole=False)
        status = contents(f"{folder}/status", whole=False)
    except OSError:
        return None
    # the name in brackets may hold spaces and brackets: count from its end; proc(5) counts the state as 3
    fields = stat[stat.rindex(b")") + 2 :].split(b" ", 20)
    got, written = _bytes(folder)
    return Process(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        threads=int(fields[17]),
        usage=Usage(int(fields[11]) / TICKS, int(fields[12]) / TICKS, got, written),
        reaped=Usage(int(fields[13]) / TICKS, int(fields[14]) / TICKS),
        rss=_kilobytes(status, b"\nVmRSS:"),
        rss_peak=_kilobytes(status, b"\nVmHWM:"),
        open_files=_open_files(folder),
        bytes_known=got >= 0,
    )


def children(pid: int) -> list[int]:
    """Return the living children of a process, by the thread that started them; empty when it is gone."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - each second: plain calls
            found.extend(map(int, contents(f"/proc/{pid}/task/{thread}/children").split()))
    except OSError:  # it ended, or the kernel keeps no such list: then the driver's list is all there is
        pass
    return found


def pss(pid: int) -> int | None:
    """Return the proportional set size in bytes; None where it is not readable. Dear: it walks all pages."""
    try:
        return _kilobytes(contents(f"/proc/{pid}/smaps_rollup"), b"\nPss:")
    except OSError:
        return None


def forget_peak(pid: int) -> None:
    """Let the kernel count the process's peak RSS from now on; where that is refused, it stays as it is."""
    try:
        descriptor = os.open(f"/proc/{pid}/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(descriptor, b"5")
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _bytes(folder: str) -> tuple[int, int]:
    """Return bytes read and written to storage; -1 where that is not for us to read."""
    try:
        text = contents(f"{folder}/io", whole=False)
    except OSError:
        return -1, -1
    return _number(text, b"\nread_bytes:"), _number(text, b"\nwrite_bytes:")


def _open_files(folder: str) -> int | None:
    try:
        # Linux 6.2 and later state the count as the folder's size; before that it is 0
        count = os.stat(f"{folder}/fd").st_size  # noqa: PTH116 - each second: plain calls
        return count or len(os.listdir(f"{folder}/fd"))  # noqa: PTH208
    except OSError:
        return None


def _number(text: bytes, key: bytes) -> int:
    at = text.find(key)
    if at < 0:
        return 0
    begin = at + len(key)
    end = text.find(b"\n", begin)
    return int(text[begin : end if end >= 0 else None].split()[0])


def _kilobytes(text: bytes, key: bytes) -> int:
    """Return a size that the kernel writes in kB, in bytes; 0 where it is absent, as of a dead process."""
    return _number(text, key) * 1024
