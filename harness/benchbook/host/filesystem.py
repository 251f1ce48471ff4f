"""Facts about file systems: mounts, devices and free space."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchbook.host.reading import Facts, Tree, Unreadable, chosen, stated

# The mounted file systems, as /proc/self/mountinfo lists them.


@dataclass(frozen=True)
class Mount:
    """One mounted file system."""

    device: str
    """``major:minor``; the major is 0 where no block device stands behind it."""
    root: str
    """The folder of that file system which is mounted."""
    point: str
    """Where it is mounted."""
    kind: str
    """ext4, tmpfs, overlay, cgroup2 …"""
    source: str
    options: tuple[str, ...]
    """Options of the mount and of the file system, each once."""


def mounts(tree: Tree) -> list[Mount]:
    """Return all mounts, later ones lie over earlier ones; raise Unreadable."""
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
    """Return the mount that holds a folder, which need not exist yet; raise Unreadable."""
    place = PurePosixPath(folder.resolve())
    holding = [mount for mount in mounts(tree) if place.is_relative_to(mount.point)]
    if not holding:
        raise Unreadable("no mount holds the data folder")
    deepest = max(len(PurePosixPath(mount.point).parts) for mount in holding)
    return [mount for mount in holding if len(PurePosixPath(mount.point).parts) == deepest][-1]


def _plain(text: str) -> str:
    r"""Undo the kernel's ``\040`` for a space in a name."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), text)


# The block device under a folder, by the kernel's names for it.


@dataclass(frozen=True)
class Device:
    """A block device that holds a file system."""

    name: str
    """The kernel's name of what is mounted: a partition, a whole disk, dm-0, md0, loop0."""
    disk: str
    """The whole disk it lies on; the same name where it is no partition."""
    under: tuple[str, ...] = ()
    """What a device mapper or RAID device is made of."""


def device_of(folder: Path, tree: Tree | None = None) -> Device:
    """Return the block device of a folder or of its nearest existing parent.

    Raises Unreadable where none stands behind it: tmpfs, overlay, network and FUSE file systems.
    """
    tree = tree or Tree()
    mount = mount_of(tree, folder)
    number = mount.device
    if number.startswith("0:"):
        # btrfs and its like number their own volumes; what they are mounted from is a device all the same
        if not mount.source.startswith("/dev/"):
            raise Unreadable(f"no block device stands behind {mount.kind}")
        there = Path(mount.source).stat().st_rdev
        number = f"{os.major(there)}:{os.minor(there)}"
    place = tree.at(f"/sys/dev/block/{number}")
    if not place.exists():
        raise Unreadable(f"the kernel shows no block device {number}")
    place = place.resolve()
    disk = place.parent if (place / "partition").exists() else place
    return Device(place.name, disk.name, tuple(tree.names(f"/sys/block/{disk.name}/slaves", "*")))


def describe(device: Device, tree: Tree) -> Facts:
    """Return the facts of a device: model, kind of medium, scheduler, caches; sizes in bytes."""
    disk, queue = f"/sys/block/{device.disk}", f"/sys/block/{device.disk}/queue"
    return {
        "name": device.name,
        "disk": device.disk,
        "made_of": list(device.under),
        "model": stated(tree.text, f"{disk}/device/model"),
        "rotational": stated(lambda: bool(tree.number(f"{queue}/rotational"))),
        "scheduler": stated(lambda: chosen(tree.text(f"{queue}/scheduler"))),
        "size_bytes": stated(lambda: tree.number(f"{disk}/size") * 512),
        "write_cache": stated(tree.text, f"{queue}/write_cache"),
        "queue_depth": stated(tree.number, f"{queue}/nr_requests"),
        "read_ahead_bytes": stated(lambda: tree.number(f"{queue}/read_ahead_kb") * 1024),
        "logical_block_bytes": stated(tree.number, f"{queue}/logical_block_size"),
        "physical_block_bytes": stated(tree.number, f"{queue}/physical_block_size"),
    }


# Facts about where a run keeps its data: file system, mount options, room, device.

SHOWN_VALUES = frozenset(
    (
        "allocsize",
        "barrier",
        "block_validity",
        "cache",
        "commit",
        "compress",
        "compress-force",
        "data",
        "data_err",
        "discard",
        "errors",
        "hard",
        "huge",
        "index",
        "logbsize",
        "logbufs",
        "max_read",
        "metacopy",
        "mode",
        "noquota",
        "nr_inodes",
        "proto",
        "redirect_dir",
        "retrans",
        "rsize",
        "size",
        "space_cache",
        "ssd",
        "stripe",
        "timeo",
        "vers",
        "wsize",
    )
)
"""Mount options whose value says how the file system works. The value of any other may be a name, an
address or a password, so only its key is kept."""


def filesystem(folder: Path, tree: Tree) -> Facts:
    """Return the facts of the file system that holds a folder; the folder's own name is not among them."""
    return {
        "type": stated(lambda: mount_of(tree, folder).kind),
        "mount_options": stated(lambda: [shown(option) for option in mount_of(tree, folder).options]),
        "size_bytes": stated(lambda: _room(folder)[0]),
        "free_bytes": stated(lambda: _room(folder)[1]),
        "device": stated(lambda: describe(device_of(folder, tree), tree)),
    }


def shown(option: str) -> str:
    """Return a mount option as it may be published.

    >>> shown("password=hunter2"), shown("commit=30")
    ('password=…', 'commit=30')
    """
    key, equals, _ = option.partition("=")
    return option if not equals or key in SHOWN_VALUES else f"{key}=…"


def _room(folder: Path) -> tuple[int, int]:
    """Return size and free bytes of the nearest existing parent's file system, free as we may use it."""
    place = folder.resolve()
    while not place.exists() and place != place.parent:
        place = place.parent
    found = os.statvfs(place)
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return ``$BENCHBOOK_CACHE``, else ``benchbook`` in the XDG cache folder; it need not exist yet."""
    if own := environment.get("BENCHBOOK_CACHE"):
        return Path(own).expanduser().absolute()
    base = environment.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "benchbook"
