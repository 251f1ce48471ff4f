"""Read the cumulative resource usage of processes, control groups and the machine from /proc and /sys."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from benchbook.host.cgroup import groups
from benchbook.host.conditions import COUNTED, STEAL, stalls
from benchbook.host.filesystem import Device, device_of
from benchbook.host.reading import Tree, Unreadable

# Processes. Plain ``os.read`` and byte searches keep the cost low: this code runs every second during a measurement.

TICKS = float(os.sysconf("SC_CLK_TCK"))
READ_BYTES = 16384
"""More than most of these files hold; the kernel may return less at a time."""


class Usage(NamedTuple):
    """Cumulative usage of a process: processor seconds, bytes read from and written to storage."""

    user: float = 0.0
    system: float = 0.0
    read: float = 0.0
    written: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Return the sum."""
        return Usage(*(one + two for one, two in zip(self, other, strict=True)))

    def minus(self, other: Usage) -> Usage:
        """Return the difference, each part at least zero."""
        return Usage(*(max(0.0, one - two) for one, two in zip(self, other, strict=True)))

    def minimum(self, other: Usage) -> Usage:
        """Return the smaller value of each part."""
        return Usage(*map(min, self, other))


ZERO = Usage()


class Process(NamedTuple):
    """A process at one moment."""

    pid: int
    parent: int
    started: int
    """Ticks after boot; pid and start identify a process."""
    threads: int
    usage: Usage
    """CPU of the process; its bytes include those of children that it waited for, because the kernel adds them."""
    reaped: Usage
    """CPU of children that it waited for, and of theirs; no bytes."""
    rss: int
    rss_peak: int
    """Largest RSS since the start or since ``reset_peak``."""
    open_files: int | None
    bytes_known: bool
    """True if the kernel permits reading its bytes."""


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
    """Return a process, including a zombie; None if it does not exist."""
    folder = f"/proc/{pid}"
    try:
        stat = contents(f"{folder}/stat", whole=False)
        status = contents(f"{folder}/status", whole=False)
    except OSError:
        return None
    # The name in brackets may contain spaces and brackets: count from its end. proc(5) gives the state number 3.
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
    """Return the living children of a process; empty if it does not exist."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - each second: plain calls
            found.extend(map(int, contents(f"/proc/{pid}/task/{thread}/children").split()))
    except OSError:  # the process ended, or the kernel has no such list: only the driver's pids are known
        pass
    return found


def pss(pid: int) -> int | None:
    """Return the proportional set size in bytes; None if it is not readable. Slow: the kernel visits all pages."""
    try:
        return _kilobytes(contents(f"/proc/{pid}/smaps_rollup"), b"\nPss:")
    except OSError:
        return None


def reset_peak(pid: int) -> None:
    """Let the kernel measure the process's peak RSS from now on; do nothing if it refuses."""
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
    """Return bytes read from and written to storage; -1 if reading them is not permitted."""
    try:
        text = contents(f"{folder}/io", whole=False)
    except OSError:
        return -1, -1
    return _process_number(text, b"\nread_bytes:"), _process_number(text, b"\nwrite_bytes:")


def _open_files(folder: str) -> int | None:
    try:
        # Linux 6.2 and later report the count as the folder's size; older kernels report 0.
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
    """Return a size that the kernel writes in kB, in bytes; 0 if it is absent, as for a zombie."""
    return _process_number(text, key) * 1024


CONTROLLERS = ("cpuacct", "memory", "blkio")
"""Controllers of control groups version 1; version 2 has one folder for all."""


class ControlGroup:
    """The control group (version 1 or 2) of a process; readable until its last process ends."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders

    @classmethod
    def of(cls, pid: int, tree: Tree | None = None) -> ControlGroup:
        """Return the group of a process; without folders if the machine does not show it."""
        found: dict[str, Path] = {}
        for controller in CONTROLLERS:
            with contextlib.suppress(Unreadable, StopIteration, ValueError):
                found[controller] = next(groups(tree or Tree(), controller, pid))
        return cls(found)

    def usage(self) -> dict[str, float]:
        """Return the readable counters, under telemetry's names of them.

        ``memory_bytes`` includes the group's share of the page cache. Version 1 counts only written bytes that a
        process waited for or that bypassed the page cache.
        """
        return {**self._processor(), **self._memory(), **self._bytes()}

    def pids(self) -> list[int]:
        """Return the current processes of the group, by their pids on the host."""
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
    """Return the sum of the numbers that follow a word; there is one for each device."""
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


# The machine: CPU including steal, pressure, free memory, the device that holds the data folder.

SECTOR_BYTES = 512
"""Unit of /proc/diskstats, independent of the device's sector size."""
IDLE, IOWAIT = 3, 4
STALLS = (("cpu", ("some",)), ("io", ("some", "full")), ("memory", ("some", "full")))


def device(folder: Path) -> Device | None:
    """Return the block device that holds a folder; None if there is none."""
    try:
        return device_of(folder)
    except (Unreadable, OSError, ValueError):
        return None


def counters(device: Device | None) -> dict[str, float]:
    """Return metric → value (see ``ledger.MACHINE_UNITS``), without unreadable ones."""
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
    # The kernel counts flushes only for the whole disk, and since version 5.5.
    disk = rows.get(device.disk, row)
    return found | ({"device_flushes": int(disk[18])} if len(disk) > 18 else {})
