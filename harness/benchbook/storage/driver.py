"""The place that a storage driver gets for one trial, and what a data folder holds: disks, folders and bytes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchbook.host.guarded import files_below
from benchbook.process.launch import Program


def allocated(folder: Path) -> int:
    """Return the bytes that the files under ``folder`` occupy on the device, as ``du`` counts them.

    Allocated bytes, because databases create sparse files of many megabytes that hold a few kilobytes. Files that
    vanish during the count are ignored; a missing folder has 0 bytes.
    """
    total = 0
    for file in files_below(folder):
        with contextlib.suppress(OSError):
            total += os.lstat(file).st_blocks * 512
    return total


DISK_PREFIX = "disk-"


def disks(data: Path) -> list[Path]:
    """Return the folders of the disks in order: those of a storage with several disks, else the data folder."""
    found = sorted(data.glob(f"{DISK_PREFIX}*")) if data.is_dir() else []
    return found or [data]


def spread(data: Path, folders: Mapping[str, str], apart: Collection[str]) -> dict[str, str]:
    """Return where a system has its folders below ``data``: setting → path.

    On a storage with several disks, the folders of the settings ``apart`` are on the last disk and the others on the
    first. A log can thus have a separate disk.
    """
    found = [disk.relative_to(data) for disk in disks(data)]
    return {key: str(found[-1 if key in apart else 0] / name) for key, name in folders.items()}


Facts = dict[str, Any]
"""Facts about a storage, for the report: ``type``, ``mount_options``, ``device``, ``free_bytes`` …"""


@dataclass(frozen=True)
class StoragePlace:
    """Folders and programs with which to create a storage for one trial."""

    folder: Path
    """A folder that does not exist yet; the storage creates it, and its other files next to it with the same stem."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    """The pinned programs that the storage declares, by system name."""
    logs: Path | None = None
    """Folder for the output of its programs; kept with the trial. None puts it next to the data."""
    processes: Path | None = None
    """Folder that registers started processes (``process/leftovers.py``); None registers nothing."""
    mounts: Path | None = None
    """Folder that registers mounts (``storage/mounting.py``); None registers nothing."""
