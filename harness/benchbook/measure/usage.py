"""Read what a process, a control group and the machine have used so far, from /proc and /sys."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from benchbook.host.cgroup import groups
from benchbook.host.filesystem import Device, device_of
from benchbook.host.pressure import COUNTED, STEAL, stalls
from benchbook.host.reading import Tree, Unreadable

# Reading one process from /proc, with as little work as it can be done.
#
# Plain ``os.read`` and byte searches: this runs each second beside what is measured.

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
    return _process_number(text, b"\nread_bytes:"), _process_number(text, b"\nwrite_bytes:")


def _open_files(folder: str) -> int | None:
    try:
        # Linux 6.2 and later state the count as the folder's size; before that it is 0
        count = os.stat(f"{folder}/fd").st_size  # noqa: PTH116 - each second: plain calls
        return count or len(os.listdir(f"{folder}/fd"))  # noqa: PTH208
    except OSError:
        return None


def _process_number(text: bytes, key: bytes) -> int:
    at = text.find(key)
    if at < 0:
        return 0
    begin = at + len(key)
    end = text.find(b"\n", begin)
    return int(text[begin : end if end >= 0 else None].split()[0])


def _kilobytes(text: bytes, key: bytes) -> int:
    """Return a size that the kernel writes in kB, in bytes; 0 where it is absent, as of a dead process."""
    return _process_number(text, key) * 1024


# What a control group used so far, of version 1 and of version 2: a container's processor time, memory, bytes.

CONTROLLERS = ("cpuacct", "memory", "blkio")
"""The controllers of version 1 that are read; in version 2 all of them are in one folder."""


class ControlGroup:
    """The group of one process, found once; it may be read until its last process is gone."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders

    @classmethod
    def of(cls, pid: int, tree: Tree | None = None) -> ControlGroup:
        """Return the group that a process is in; without any where the machine tells none."""
        found: dict[str, Path] = {}
        for controller in CONTROLLERS:
            with contextlib.suppress(Unreadable, StopIteration, ValueError):
                found[controller] = next(groups(tree or Tree(), controller, pid))
        return cls(found)

    def usage(self) -> dict[str, float]:
        """Return the counters that can be read, under the names that telemetry gives them.

        ``memory_bytes`` includes the group's share of the page cache. Version 1 counts only those bytes written
        that a process waited for, or wrote past the page cache.
        """
        return {**self._processor(), **self._memory(), **self._bytes()}

    def pids(self) -> list[int]:
        """Return the processes of the group now, by the numbers of this machine."""
        for folder in self._folders.values():
            with contextlib.suppress(OSError, ValueError):
                return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        return []

    def _processor(self) -> dict[str, float]:
        folder = self._folders.get("cpuacct")
        if folder is None:
            return {}
        if (stat := _table(folder / "cpu.stat")) and "user_usec" in stat:
            return {
                "cpu_user_seconds": stat["user_usec"] / 1e6,
                "cpu_system_seconds": stat["system_usec"] / 1e6,
            }
        user, system = (_control_group_number(folder / f"cpuacct.usage_{kind}") for kind in ("user", "sys"))
        if user is None or system is None:
            return {}
        return {"cpu_user_seconds": user / 1e9, "cpu_system_seconds": system / 1e9}

    def _memory(self) -> dict[str, float]:
        folder = self._folders.get("memory")
        for name in ("memory.current", "memory.usage_in_bytes"):
            if folder is not None and (used := _control_group_number(folder / name)) is not None:
                return {"memory_bytes": float(used)}
        return {}

    def _bytes(self) -> dict[str, float]:
        folder = self._folders.get("blkio")
        if folder is None:
            return {}
        for name, read, written in (
            ("io.stat", "rbytes", "wbytes"),
            ("blkio.throttle.io_service_bytes", "Read", "Write"),
        ):
            with contextlib.suppress(OSError):
                words = (folder / name).read_text().replace("=", " ").split()
                return {"read_bytes": _after(words, read), "write_bytes": _after(words, written)}
        return {}


def _after(words: list[str], key: str) -> float:
    """Return the sum of the numbers that follow a word, one for each device."""
    return float(sum(int(words[at + 1]) for at, word in enumerate(words[:-1]) if word == key))


def _control_group_number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _table(file: Path) -> dict[str, int]:
    try:
        return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}
    except (OSError, ValueError):
        return {}


# The machine's own counters: CPU with steal, pressure, free memory, the device under the data folder.

SECTOR_BYTES = 512
"""/proc/diskstats counts in these, whatever the device's own sectors are."""
IDLE, IOWAIT = 3, 4
STALLS = (("cpu", ("some",)), ("io", ("some", "full")), ("memory", ("some", "full")))


def device(folder: Path) -> Device | None:
    """Return the block device whose counters belong to a folder; None where none stands behind it."""
    try:
        return device_of(folder)
    except (Unreadable, OSError, ValueError):
        return None


def counters(device: Device | None) -> dict[str, float]:
    """Return metric → value (see ``samples.MACHINE_UNITS``); what is not readable is left out."""
    found: dict[str, float] = {}
    for part in (_cpu, _pressure, _memory, lambda: _device(device)):
        with contextlib.suppress(OSError, ValueError, LookupError):
            found |= part()
    return found


def _cpu() -> dict[str, float]:
    line = contents("/proc/stat", whole=False).split(b"\n", 1)[0].split()
    ticks = [int(number) / TICKS for number in line[1 : COUNTED + 1]]
    return {
        "cpu_busy_seconds": sum(ticks) - ticks[IDLE] - ticks[IOWAIT] - ticks[STEAL],
        "cpu_idle_seconds": ticks[IDLE],
        "cpu_iowait_seconds": ticks[IOWAIT],
        "cpu_steal_seconds": ticks[STEAL],
    }


def _pressure() -> dict[str, float]:
    found: dict[str, float] = {}
    for name, kinds in STALLS:
        lines = stalls(contents(f"/proc/pressure/{name}").decode("ascii"))
        found |= {
            f"psi_{name}_{kind}_seconds": lines[kind]["total_seconds"] for kind in kinds if kind in lines
        }
    return found


def _memory() -> dict[str, float]:
    lines = contents("/proc/meminfo").split(b"\n", 3)
    named = {line.split(b":")[0]: int(line.split()[1]) * 1024 for line in lines[:3]}
    return {"memory_free_bytes": named[b"MemFree"], "memory_available_bytes": named[b"MemAvailable"]}


def _device(device: Device | None) -> dict[str, float]:
    if device is None:
        return {}
    rows = {}
    for line in contents("/proc/diskstats").split(b"\n"):
        fields = line.split()
        if len(fields) > 13:
            rows[fields[2].decode()] = fields
    row = rows[device.name]
    found: dict[str, float] = {
        "device_reads": int(row[3]),
        "device_read_bytes": int(row[5]) * SECTOR_BYTES,
        "device_writes": int(row[7]),
        "device_write_bytes": int(row[9]) * SECTOR_BYTES,
        "device_busy_seconds": int(row[12]) / 1000,
    }
    # the kernel counts flushes for the whole disk only, and since 5.5
    disk = rows.get(device.disk, row)
    return found | ({"device_flushes": int(disk[18])} if len(disk) > 18 else {})
