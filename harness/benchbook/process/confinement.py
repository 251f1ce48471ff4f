"""The control group and the cores in which new processes start.

The engine sets them around the calls that start a system, and ``spawn.start`` reads them. Drivers do not pass them on,
so a new driver cannot forget them.

Both versions of control groups work. In version 2 a group contains either processes or groups, so a harness that is
alone in its group first moves into a sibling of the groups that it creates.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.host.cgroup import cpu_cores, groups, memory_bytes
from benchbook.host.filesystem import mounts
from benchbook.host.hardware import numbers
from benchbook.host.identity import name_of
from benchbook.host.reading import Tree, Unreadable
from benchbook.process.wait import until

if TYPE_CHECKING:
    from benchbook.declare.experiment import Limits


CORES_WANTED = 4
"""Two cores for the server and two for its client: with fewer, separate cores would starve both."""


@dataclass(frozen=True)
class Confinement:
    """The control group and the cores of a process and its descendants."""

    entries: tuple[Path, ...] = ()
    """Files of control groups into which a process writes ``0`` to enter."""
    cores: frozenset[int] | None = None
    """Cores that it may run on; None allows all of them."""
    fixed_layout: bool = False
    """True if the kernel places it at the same addresses each time."""
    environment_bytes: int = 0
    """Bytes that are added to its environment."""


PADDING = "BENCHBOOK_PADDING"
"""Variable with the bytes that are added to an environment."""
_ADDR_NO_RANDOMIZE = 0x0040000
_READ = 0xFFFFFFFF
# Load it before any fork: a child must not import between fork and exec.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
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
            if confinement.fixed_layout and _LIBC is not None:
                _LIBC.personality(_LIBC.personality(_READ) | _ADDR_NO_RANDOMIZE)

        yield enter


def padding() -> dict[str, str]:
    """Return what is added to the environment of a child."""
    bytes_ = _current.environment_bytes
    return {PADDING: "x" * (bytes_ - len(PADDING) - 2)} if bytes_ > len(PADDING) + 2 else {}


def has_fixed_layout(pid: int) -> bool:
    """Return whether the kernel places a process at the same addresses each time; False if it has ended."""
    try:
        text = Path(f"/proc/{pid}/personality").read_text(encoding="ascii")
    except OSError:
        return False
    return bool(int(text, 16) & _ADDR_NO_RANDOMIZE)


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


PERIOD_US = 100_000
"""Period over which the kernel enforces a CPU quota; the kernel's default."""
HARNESS = "benchbook-harness"
"""Group that the harness moves to in version 2."""
_HINT = (
    "Run as root, or: systemd-run --user --scope --property=Delegate=yes ./bench …; or leave the limit out."
)
_REMOVE_SECONDS = 5.0
V1_WRITES = "blkio.throttle.write_iops_device"


class ControlGroup:
    """One group: a folder in each hierarchy that its limits need."""

    def __init__(
        self, limits: Limits, index: int, tree: Tree | None = None, writes: Mapping[str, int] | None = None
    ) -> None:
        """Create the group of trial ``index`` and set its limits; raise Unavailable if that is not permitted.

        ``writes`` are the most writes per second to each device, as ``major:minor``.
        """
        self._tree = tree or Tree()
        self.limits = limits
        self.writes = dict(writes or {})
        self.folders: dict[str, Path] = {}
        name = f"{_prefix(os.getpid())}-{index:04d}"
        wanted: dict[str, object] = {"memory": limits.memory_bytes, "cpu": limits.cpu_cores}
        try:
            if self.writes:
                wanted[_devices(self._tree)] = self.writes
            for controller in (controller for controller, limit in wanted.items() if limit is not None):
                self.folders[controller] = _make(self._tree, controller, name)
            self._set_limits()
        except (OSError, Unreadable) as error:
            self.remove()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            asked = limits.describe() if limits.any else "A limit of writes per second"
            raise Unavailable(
                f"{asked} needs a control group, and this user cannot create one here: {reason}.",
                _HINT,
            ) from None

    def _set_limits(self) -> None:
        if memory := self.folders.get("memory"):
            size = str(self.limits.memory_bytes)
            if (memory / "memory.max").exists():
                _write(memory / "memory.max", size)
                _write_if_present(memory / "memory.swap.max", "0")
            else:
                _write(memory / "memory.limit_in_bytes", size)
                _write_if_present(memory / "memory.memsw.limit_in_bytes", size)
        if cpu := self.folders.get("cpu"):
            quota = str(max(1000, round((self.limits.cpu_cores or 0) * PERIOD_US)))
            if (cpu / "cpu.max").exists():
                _write(cpu / "cpu.max", f"{quota} {PERIOD_US}")
            else:
                _write(cpu / "cpu.cfs_period_us", str(PERIOD_US))
                _write(cpu / "cpu.cfs_quota_us", quota)
        if devices := self._devices():
            first = (devices / V1_WRITES).exists()
            for device, most in self.writes.items():
                if first:
                    _write(devices / V1_WRITES, f"{device} {most}")
                else:
                    _write(devices / "io.max", f"{device} wiops={most}")

    def _devices(self) -> Path | None:
        """Return the folder with the limits of devices, if there are any."""
        return self.folders.get("blkio") or self.folders.get("io")

    def entries(self) -> list[Path]:
        """Return the files into which a process writes ``0`` to enter the group."""
        return [folder / "cgroup.procs" for folder in dict.fromkeys(self.folders.values())]

    def in_force(self) -> Limits:
        """Return the limits that the kernel enforces now."""
        memory, cpu = self.folders.get("memory"), self.folders.get("cpu")
        return replace(
            self.limits,
            memory_bytes=memory_bytes(memory) if memory else None,
            cpu_cores=cpu_cores(cpu) if cpu else None,
        )

    def writes_in_force(self) -> list[str]:
        """Return the devices whose writes the kernel limits now, as it states them."""
        devices = self._devices()
        return (_text(devices / V1_WRITES) or _text(devices / "io.max")).splitlines() if devices else []

    def members(self) -> set[int]:
        """Return the processes that are in every folder of the group."""
        found = [set(map(int, _text(entry).split())) for entry in self.entries()]
        return set.intersection(*found) if found else set()

    def usage(self) -> dict[str, float]:
        """Return the peak memory, the processes killed for exceeding it, and the seconds of throttling."""
        used: dict[str, float] = {}
        if memory := self.folders.get("memory"):
            peak = _text(memory / "memory.peak") or _text(memory / "memory.max_usage_in_bytes")
            if peak.strip().isdigit():
                used["memory_peak_bytes"] = float(peak)
            used["memory_kills"] = self.kills()
        if cpu := self.folders.get("cpu"):
            stat = _counters(_text(cpu / "cpu.stat"))
            used["throttled_seconds"] = (
                stat["throttled_usec"] / 1e6
                if "throttled_usec" in stat
                else stat.get("throttled_time", 0.0) / 1e9
            )
        return used

    def kills(self) -> int:
        """Return how many processes the kernel killed because the group reached its memory limit."""
        if memory := self.folders.get("memory"):
            events = _text(memory / "memory.events") or _text(memory / "memory.oom_control")
            return int(_counters(events).get("oom_kill", 0))
        return 0

    def remove(self) -> None:
        """Kill the processes in the group, then remove it; never raise."""
        for folder in dict.fromkeys(self.folders.values()):
            _remove(folder)


def sweep(tree: Tree | None = None) -> None:
    """Remove the groups that dead harnesses left, with the processes in them."""
    tree = tree or Tree()
    for controller in ("memory", "cpu", "blkio", "io"):
        with contextlib.suppress(Unreadable, OSError, StopIteration):
            for folder in _parent(tree, controller).glob("benchbook-*-*-*"):
                pid = folder.name.split("-")[1]
                if pid.isdecimal() and not folder.name.startswith(f"{_prefix(int(pid))}-"):
                    _remove(folder)


def _prefix(pid: int) -> str:
    """Return a name prefix that a later process with the same id does not get."""
    return f"benchbook-{name_of(pid)}"


def _devices(tree: Tree) -> str:
    """Return the controller of devices, which has another name in each version."""
    first = any(mount.kind == "cgroup" and "blkio" in mount.options for mount in mounts(tree))
    return "blkio" if first else "io"


def _parent(tree: Tree, controller: str) -> Path:
    """Return the group in which to create groups: the harness's, or its parent once the harness has moved."""
    current = next(groups(tree, controller), None)
    if current is None:
        raise Unreadable(f"no hierarchy of control groups has the controller {controller}")
    return current.parent if current.name == HARNESS else current


def _make(tree: Tree, controller: str, name: str) -> Path:
    parent = _parent(tree, controller)
    if (parent / "cgroup.subtree_control").exists():
        _delegate(parent, controller)
    folder = parent / name
    folder.mkdir(exist_ok=True)
    return folder


def _delegate(parent: Path, controller: str) -> None:
    """Enable a controller for the children of a version 2 group."""
    control = parent / "cgroup.subtree_control"
    if controller in _text(control).split():
        return
    try:
        _write(control, f"+{controller}")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        aside = parent / HARNESS
        aside.mkdir(exist_ok=True)
        for pid in _text(parent / "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                _write(aside / "cgroup.procs", pid)
        _write(control, f"+{controller}")


def _remove(folder: Path) -> None:
    def removed() -> bool:
        for pid in _text(folder / "cgroup.procs").split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return not folder.exists()

    until(removed, _REMOVE_SECONDS, pause=0.01)


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write(text)


def _write_if_present(path: Path, text: str) -> None:
    if path.exists():
        _write(path, text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _counters(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split() for line in text.splitlines() if line)}
