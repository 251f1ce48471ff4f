"""Facts about file systems: mounts, devices and free space."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchbook.errors import RequestError
from benchbook.host.reading import Facts, Tree, Unreadable, read_fact, selected_option


@dataclass(frozen=True)
class Mount:
    """One mounted file system."""

    device: str
    """``major:minor``; the major is 0 if there is no block device."""
    root: str
    """The folder of the file system that is mounted."""
    point: str
    """The mount point."""
    kind: str
    """ext4, tmpfs, overlay, cgroup2 …"""
    source: str
    options: tuple[str, ...]
    """Options of the mount and of the file system, without duplicates."""


def mounts(tree: Tree) -> list[Mount]:
    """Return all mounts, of which later ones hide earlier ones; raise Unreadable."""
    found = []
    for line in tree.text("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, source, super_options) = before.split(" "), after.split(" ", 2)
        options = dict.fromkeys([*fields[5].split(","), *super_options.split(",")])
        found.append(
            Mount(fields[2], _plain(fields[3]), _plain(fields[4]), kind, _plain(source), tuple(options))
        )
    return found


def mount_of(tree: Tree, folder: Path) -> Mount:
    """Return the mount that contains a folder, which need not exist yet; raise Unreadable."""
    place = PurePosixPath(folder.resolve())
    holding = [mount for mount in mounts(tree) if place.is_relative_to(mount.point)]
    if not holding:
        raise Unreadable("no mount contains the data folder")
    deepest = max(len(PurePosixPath(mount.point).parts) for mount in holding)
    return [mount for mount in holding if len(PurePosixPath(mount.point).parts) == deepest][-1]


def _plain(text: str) -> str:
    r"""Undo the kernel's ``\040`` for a space in a name."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), text)


@dataclass(frozen=True)
class Device:
    """The block device of a file system, with the kernel's names."""

    name: str
    """Name of what is mounted: a partition, a whole disk, dm-0, md0, loop0."""
    disk: str
    """The whole disk of a partition; otherwise the same name."""
    under: tuple[str, ...] = ()
    """The devices of a device mapper or RAID device."""


def device_of(folder: Path, tree: Tree | None = None) -> Device:
    """Return the block device of a folder or of its nearest existing parent.

    Raise Unreadable if there is none: tmpfs, overlay, network and FUSE file systems.
    """
    tree = tree or Tree()
    mount = mount_of(tree, folder)
    number = mount.device
    if number.startswith("0:"):
        # btrfs and similar file systems number their own volumes, but their source is a device.
        if not mount.source.startswith("/dev/"):
            raise Unreadable(f"{mount.kind} has no block device")
        there = Path(mount.source).stat().st_rdev
        number = f"{os.major(there)}:{os.minor(there)}"
    place = tree.at(f"/sys/dev/block/{number}")
    if not place.exists():
        raise Unreadable(f"the kernel lists no block device {number}")
    place = place.resolve()
    disk = place.parent if (place / "partition").exists() else place
    return Device(place.name, disk.name, tuple(tree.names(f"/sys/block/{disk.name}/slaves", "*")))


def in_memory(folder: Path, tree: Tree | None = None) -> bool:
    """Return whether a file system keeps its files in memory, also through loop devices and the devices below one.

    False if that is unknown.
    """
    tree = tree or Tree()
    try:
        if mount_of(tree, folder).kind in MEMORY_FILESYSTEMS:
            return True
        found = device_of(folder, tree)
    except (Unreadable, OSError):
        return False
    return any(_of_memory(name, tree) for name in (found.under or (found.disk,)))


MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")
MEMORY_DEVICES = ("ram", "zram", "pmem")
"""Starts of the names of block devices whose content is in memory."""


def _of_memory(disk: str, tree: Tree) -> bool:
    if disk.startswith(MEMORY_DEVICES):
        return True
    try:
        return in_memory(Path(tree.text(f"/sys/block/{disk}/loop/backing_file")).parent, tree)
    except Unreadable:  # no loop device
        return False


def describe(device: Device, tree: Tree) -> Facts:
    """Return the facts of a device: model, kind of medium, scheduler, caches; sizes in bytes."""
    disk, queue = f"/sys/block/{device.disk}", f"/sys/block/{device.disk}/queue"
    return {
        "name": device.name,
        "disk": device.disk,
        "made_of": list(device.under),
        "model": read_fact(tree.text, f"{disk}/device/model"),
        "rotational": read_fact(lambda: bool(tree.number(f"{queue}/rotational"))),
        "scheduler": read_fact(lambda: selected_option(tree.text(f"{queue}/scheduler"))),
        "size_bytes": read_fact(lambda: tree.number(f"{disk}/size") * 512),
        "write_cache": read_fact(tree.text, f"{queue}/write_cache"),
        "queue_depth": read_fact(tree.number, f"{queue}/nr_requests"),
        "read_ahead_bytes": read_fact(lambda: tree.number(f"{queue}/read_ahead_kb") * 1024),
        "logical_block_bytes": read_fact(tree.number, f"{queue}/logical_block_size"),
        "physical_block_bytes": read_fact(tree.number, f"{queue}/physical_block_size"),
    }


SHOWN_VALUES = frozenset(
    (
        "allocsize", "barrier", "block_validity", "cache", "commit", "compress", "compress-force", "data",
        "data_err", "discard", "errors", "hard", "huge", "index", "logbsize", "logbufs", "max_read",
        "metacopy", "mode", "noquota", "nr_inodes", "proto", "redirect_dir", "retrans", "rsize", "size",
        "space_cache", "ssd", "stripe", "timeo", "vers", "wsize",
    )
)  # fmt: skip
"""Mount options whose value describes the file system. The value of any other option may be a name, an address or a
password, so only its key is stored.
"""


def filesystem(folder: Path, tree: Tree) -> Facts:
    """Return the facts of the file system that contains a folder, without the folder's name."""
    return {
        "type": read_fact(lambda: mount_of(tree, folder).kind),
        "mount_options": read_fact(
            lambda: [publishable_option(option) for option in mount_of(tree, folder).options]
        ),
        "size_bytes": read_fact(lambda: _room(folder)[0]),
        "free_bytes": read_fact(lambda: _room(folder)[1]),
        "device": read_fact(lambda: describe(device_of(folder, tree), tree)),
    }


def publishable_option(option: str) -> str:
    """Return a mount option without a value that may be private.

    >>> publishable_option("password=hunter2"), publishable_option("commit=30")
    ('password=…', 'commit=30')
    """
    key, equals, _ = option.partition("=")
    return option if not equals or key in SHOWN_VALUES else f"{key}=…"


def _room(folder: Path) -> tuple[int, int]:
    """Return the size of the nearest existing parent's file system and its bytes free for this user."""
    place = folder.resolve()
    while not place.exists() and place != place.parent:
        place = place.parent
    found = os.statvfs(place)
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return ``$BENCHBOOK_CACHE``, else ``benchbook`` in the XDG cache folder; it need not exist yet."""
    if configured := environment.get("BENCHBOOK_CACHE"):
        return Path(configured).expanduser().absolute()
    found = _of_user(environment, "XDG_CACHE_HOME", ".cache")
    if found is None:
        raise RequestError(
            "No folder for the cache is known: HOME is not set, and /etc/passwd has no home folder for this user.",
            "Name a folder in the environment variable BENCHBOOK_CACHE.",
        )
    return found


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """Return ``benchbook`` in the XDG state folder, which need not exist yet; None if the user has no home folder."""
    return _of_user(environment, "XDG_STATE_HOME", ".local/state")


def _of_user(environment: Mapping[str, str], variable: str, default: str) -> Path | None:
    base = environment.get(variable, "")
    if base.startswith("/"):  # the XDG specification says that relative paths must be ignored
        return Path(base) / "benchbook"
    try:
        return Path.home() / default / "benchbook"
    except RuntimeError:
        return None
