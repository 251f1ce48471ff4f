"""Facts about where a run keeps its data: file system, mount options, room, device."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.host.device import describe, device_of
from benchbook.host.mounts import mount_of
from benchbook.host.reading import Facts, Tree, stated

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
