"""What a control group used so far, of version 1 and of version 2: a container's processor time, memory, bytes."""

from __future__ import annotations

import contextlib
from pathlib import Path

from benchbook.host.cgroup import groups
from benchbook.host.reading import Tree, Unreadable

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
        user, system = (_number(folder / f"cpuacct.usage_{kind}") for kind in ("user", "sys"))
        if user is None or system is None:
            return {}
        return {"cpu_user_seconds": user / 1e9, "cpu_system_seconds": system / 1e9}

    def _memory(self) -> dict[str, float]:
        folder = self._folders.get("memory")
        for name in ("memory.current", "memory.usage_in_bytes"):
            if folder is not None and (used := _number(folder / name)) is not None:
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


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _table(file: Path) -> dict[str, int]:
    try:
        return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}
    except (OSError, ValueError):
        return {}
