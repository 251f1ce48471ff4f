"""Facts about control groups: their version, and the limits on this process, including its parents'."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from benchbook.host.filesystem import Mount, mounts
from benchbook.host.hardware import numbers
from benchbook.host.reading import Facts, Tree, Unreadable, read_fact

Limit = Callable[[Path], int | float | None]
"""Reads one limit from a group's folder; None if the group sets none."""

UNLIMITED = "unlimited"
V1_CONTROLLERS = frozenset(("cpu", "cpuacct", "cpuset", "memory", "blkio", "pids", "freezer", "devices"))

V1_ENDLESS_BYTES = 1 << 60
"""Version 1 writes "no limit" as the largest multiple of a page; any number this large means that."""


def cgroup(tree: Tree) -> Facts:
    """Return the version ("v1", "v2", "v1 and v2", "none"), the controllers, and the tightest limits on this process.

    ``cpu_limit_cores`` is quota over period, ``memory_limit_bytes`` in bytes; both may be "unlimited".
    """
    return {
        "version": read_fact(_version, tree),
        "controllers": read_fact(lambda: sorted(_controllers(tree))),
        "may_create_groups": read_fact(_may_create, tree),
        "cpu_limit_cores": read_fact(_tightest, tree, "cpu", cpu_cores),
        "cpuset_cores": read_fact(_tightest, tree, "cpuset", _cpuset_cores),
        "memory_limit_bytes": read_fact(_tightest, tree, "memory", memory_bytes),
        "processes_limit": read_fact(_tightest, tree, "pids", _processes),
    }


def _version(tree: Tree) -> str:
    kinds = {mount.kind for mount in mounts(tree)}
    ours = {line.split(":", 2)[1] for line in tree.text("/proc/self/cgroup").splitlines()}
    first, second = "cgroup" in kinds and bool(ours - {""}), "cgroup2" in kinds
    return " and ".join(name for name, there in (("v1", first), ("v2", second)) if there) or "none"


def _controllers(tree: Tree) -> set[str]:
    found: set[str] = set()
    for mount in mounts(tree):
        if mount.kind == "cgroup":
            found |= V1_CONTROLLERS.intersection(mount.options)
        elif mount.kind == "cgroup2" and tree.at(f"{mount.point}/cgroup.controllers").exists():
            found |= set(tree.text(f"{mount.point}/cgroup.controllers").split())
    return found


def _may_create(tree: Tree) -> bool:
    points = [mount.point for mount in mounts(tree) if mount.kind in ("cgroup", "cgroup2")]
    if not points:
        raise Unreadable("no control groups are mounted")
    return any(os.access(tree.at(point), os.W_OK) for point in points)


def groups(tree: Tree, controller: str, process: int | str = "self") -> Iterator[Path]:
    """Yield the folders of a process's group and its parents, in the hierarchy with this controller."""
    memberships = [line.split(":", 2) for line in tree.text(f"/proc/{process}/cgroup").splitlines()]
    for mount in mounts(tree):
        if mount.kind == "cgroup" and controller in mount.options:
            ours = next((path for _, names, path in memberships if controller in names.split(",")), "/")
        elif mount.kind == "cgroup2":
            ours = next((path for number, _, path in memberships if number == "0"), "/")
        else:
            continue
        yield from _upwards(tree, mount, ours)


def _upwards(tree: Tree, mount: Mount, ours: str) -> Iterator[Path]:
    inside = PurePosixPath(ours)
    # In a container the path is the host's, but the mount shows this very group at its root.
    if inside.is_relative_to(mount.root):
        inside = inside.relative_to(mount.root)
    place, top = tree.at(f"{mount.point}/{str(inside).lstrip('/')}"), tree.at(mount.point)
    while not place.exists() and place != top and top in place.parents:
        place = place.parent
    while True:
        yield place
        if place == top or top not in place.parents:
            return
        place = place.parent


def _tightest(tree: Tree, controller: str, read: Limit) -> int | float | str:
    limits = [limit for group in groups(tree, controller) if (limit := read(group)) is not None]
    return min(limits) if limits else UNLIMITED


def _words(group: Path, file: str) -> list[str]:
    try:
        return (group / file).read_text(encoding="ascii").split()
    except OSError:
        return []


def cpu_cores(group: Path) -> float | None:
    """Return a group's CPU quota in cores; None if it has none."""
    match _words(group, "cpu.max"):
        case [quota, period] if quota != "max":
            return int(quota) / int(period)
    match _words(group, "cpu.cfs_quota_us"), _words(group, "cpu.cfs_period_us"):
        case [quota], [period] if int(quota) > 0:
            return int(quota) / int(period)
    return None


def memory_bytes(group: Path) -> int | None:
    """Return a group's memory limit; None if it has none."""
    for file in ("memory.max", "memory.limit_in_bytes"):
        match _words(group, file):
            case [limit] if limit != "max" and int(limit) < V1_ENDLESS_BYTES:
                return int(limit)
    return None


def _processes(group: Path) -> int | None:
    match _words(group, "pids.max"):
        case [limit] if limit != "max":
            return int(limit)
    return None


def _cpuset_cores(group: Path) -> int | None:
    for file in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
        match _words(group, file):
            case [cores]:
                return len(numbers(cores))
    return None
