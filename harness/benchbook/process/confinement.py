"""Confine processes to a control group and to cores."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.host.cgroup import cpu_cores, groups, memory_bytes
from benchbook.host.hardware import numbers
from benchbook.host.reading import Tree, Unreadable
from benchbook.process.leftovers import identity

if TYPE_CHECKING:  # every worker imports this module, and the memory of a worker is measured
    from benchbook.declare.experiment import Limits

# A control group for the processes of one trial's system: its limits set, read back, and taken away again.
#
# Both versions of control groups are spoken. Version 2 lets a group have either processes or groups below it:
# where the harness's own group has the harness in it, the harness first moves into a group of its own beside.

PERIOD_US = 100_000
"""Over which a share of processor time is kept; the kernel's own default."""
HARNESS = "benchbook-harness"
"""Where the harness moves to under version 2."""
_FIX = (
    "Run as root, or: systemd-run --user --scope --property=Delegate=yes ./bench …; or leave the limit out."
)
_GONE_SECONDS = 5.0


class ControlGroup:
    """One group: a folder in each hierarchy that its limits need."""

    def __init__(self, limits: Limits, index: int, tree: Tree | None = None) -> None:
        """Make the group of trial ``index`` and set its limits; raise Unavailable where that is not permitted."""
        self._tree = tree or Tree()
        self.limits = limits
        self.folders: dict[str, Path] = {}
        name = f"{_prefix(os.getpid())}-{index:04d}"
        wanted = [("memory", limits.memory_bytes), ("cpu", limits.cpu_cores)]
        try:
            for controller in [controller for controller, limit in wanted if limit is not None]:
                self.folders[controller] = _made(self._tree, controller, name)
            self._set()
        except (OSError, Unreadable) as error:
            self.remove()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise Unavailable(
                f"{limits.words()} needs a control group, and none can be made here: {reason}.", _FIX
            ) from None

    def _set(self) -> None:
        if memory := self.folders.get("memory"):
            size = str(self.limits.memory_bytes)
            if (memory / "memory.max").exists():
                _write(memory / "memory.max", size)
                _write_if_there(memory / "memory.swap.max", "0")
            else:
                _write(memory / "memory.limit_in_bytes", size)
                _write_if_there(memory / "memory.memsw.limit_in_bytes", size)
        if cpu := self.folders.get("cpu"):
            quota = str(max(1000, round((self.limits.cpu_cores or 0) * PERIOD_US)))
            if (cpu / "cpu.max").exists():
                _write(cpu / "cpu.max", f"{quota} {PERIOD_US}")
            else:
                _write(cpu / "cpu.cfs_period_us", str(PERIOD_US))
                _write(cpu / "cpu.cfs_quota_us", quota)

    def entries(self) -> list[Path]:
        """Return the files into which a process writes ``0`` to enter."""
        return [folder / "cgroup.procs" for folder in dict.fromkeys(self.folders.values())]

    def in_force(self) -> Limits:
        """Return the limits as the kernel has them now."""
        memory, cpu = self.folders.get("memory"), self.folders.get("cpu")
        return replace(
            self.limits,
            memory_bytes=memory_bytes(memory) if memory else None,
            cpu_cores=cpu_cores(cpu) if cpu else None,
        )

    def members(self) -> set[int]:
        """Return the processes that are in every one of its folders."""
        found = [set(map(int, _text(entry).split())) for entry in self.entries()]
        return set.intersection(*found) if found else set()

    def usage(self) -> dict[str, float]:
        """Return the most memory used, how often the kernel killed for it, and the time held back, s."""
        used: dict[str, float] = {}
        if memory := self.folders.get("memory"):
            peak = _text(memory / "memory.peak") or _text(memory / "memory.max_usage_in_bytes")
            if peak.strip().isdigit():
                used["memory_peak_bytes"] = float(peak)
            used["memory_kills"] = self.kills()
        if cpu := self.folders.get("cpu"):
            stat = _pairs(_text(cpu / "cpu.stat"))
            used["throttled_seconds"] = (
                stat["throttled_usec"] / 1e6
                if "throttled_usec" in stat
                else stat.get("throttled_time", 0.0) / 1e9
            )
        return used

    def kills(self) -> int:
        """Return how many processes the kernel killed because the memory limit was reached."""
        if memory := self.folders.get("memory"):
            words = _text(memory / "memory.events") or _text(memory / "memory.oom_control")
            return int(_pairs(words).get("oom_kill", 0))
        return 0

    def remove(self) -> None:
        """End what is still in it and remove it; never raises."""
        for folder in dict.fromkeys(self.folders.values()):
            _remove(folder)


def sweep(tree: Tree | None = None) -> None:
    """Remove groups that harnesses left which are gone, with what runs in them."""
    there = tree or Tree()
    for controller in ("memory", "cpu"):
        with contextlib.suppress(Unreadable, OSError, StopIteration):
            for folder in _home(there, controller).glob("benchbook-*-*-*"):
                pid = folder.name.split("-")[1]
                if pid.isdigit() and not folder.name.startswith(f"{_prefix(int(pid))}-"):
                    _remove(folder)


def _prefix(pid: int) -> str:
    """Return a name that no later process with the same number gives."""
    return f"benchbook-{pid}-{(identity(pid) or 'gone').rpartition(':')[2]}"


def _home(tree: Tree, controller: str) -> Path:
    """Return the group under which ours are made: that of the harness, or the one it moved out of."""
    own = next(groups(tree, controller), None)
    if own is None:
        raise Unreadable(f"no hierarchy of control groups has the controller {controller}")
    return own.parent if own.name == HARNESS else own


def _made(tree: Tree, controller: str, name: str) -> Path:
    home = _home(tree, controller)
    if (home / "cgroup.subtree_control").exists():
        _give_down(home, controller)
    folder = home / name
    folder.mkdir(exist_ok=True)
    return folder


def _give_down(home: Path, controller: str) -> None:
    """Have the groups below a group of version 2 get a controller."""
    control = home / "cgroup.subtree_control"
    if controller in _text(control).split():
        return
    try:
        _write(control, f"+{controller}")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        aside = home / HARNESS
        aside.mkdir(exist_ok=True)
        for pid in _text(home / "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                _write(aside / "cgroup.procs", pid)
        _write(control, f"+{controller}")


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _GONE_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        for pid in _text(folder / "cgroup.procs").split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.01)


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write(text)


def _write_if_there(path: Path, text: str) -> None:
    if path.exists():
        _write(path, text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _pairs(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split() for line in text.splitlines() if line)}


# Where the next processes are started: in which control group, and on which cores.
#
# The engine says it around the calls that start a system, ``process.start`` asks for it; so no driver has to hand
# it on, and a new one cannot forget it.

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
