"""The mounted file systems, as /proc/self/mountinfo lists them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchbook.host.reading import Tree, Unreadable


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
