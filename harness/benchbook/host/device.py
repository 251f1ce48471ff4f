"""The block device under a folder, by the kernel's names for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from benchbook.host.mounts import mount_of
from benchbook.host.reading import Facts, Tree, Unreadable, chosen, stated


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
