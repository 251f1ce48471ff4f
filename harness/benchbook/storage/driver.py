"""The storage driver protocol: a storage gives one trial a folder and takes it away again."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from benchbook.errors import unknown
from benchbook.process.launch import Program

if TYPE_CHECKING:
    from benchbook.declare.storage import Storage as Declared


# How many bytes a folder takes on its device.


def allocated(folder: Path) -> int:
    """Return the bytes that the files under ``folder`` take on the device, as ``du`` counts them.

    Allocated, not apparent: databases make sparse files of many megabytes that hold a few kilobytes. A file
    that vanishes meanwhile counts nothing; a missing folder is 0.
    """
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - a Path a file is slow
            except OSError:
                continue
            total += status.st_blocks * 512
    return total


# The disks of a data folder: the folders that a storage of several devices mounts, else the folder itself.

NAME = "disk-"


def disks(data: Path) -> list[Path]:
    """Return one folder a disk, in their order."""
    found = sorted(data.glob(f"{NAME}*")) if data.is_dir() else []
    return found or [data]


# What a storage driver is: it gives one trial a folder on some storage, and takes it away again.

Facts = dict[str, Any]
"""What is known of a storage, for the report: ``type``, ``mount_options``, ``device``, ``free_bytes`` …"""


@dataclass(frozen=True)
class StoragePlace:
    """Where and how a storage is made for one trial."""

    folder: Path
    """Does not exist yet; the storage makes it, and everything else of its own beside it under the same stem."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    """The pinned programs that the storage declares, by system name."""
    logs: Path | None = None
    """Folder for what its programs say; kept with the trial. None: beside the data."""
    processes: Path | None = None
    """Folder where started processes are registered (``systems/leftovers.py``); None registers nothing."""
    mounts: Path | None = None
    """Folder where mounts are registered (``storage/leftovers.py``); None registers nothing."""


class Storage(Protocol):
    """One storage in one trial. A module of this package offers ``driver(options, place) -> Storage``."""

    def mount(self) -> Path:
        """Make the data folder, empty, and return it; raise Unavailable or TrialFailed in words."""
        ...

    def facts(self) -> Facts:
        """Say what the data folder stands on, now."""
        ...

    def check(self) -> None:
        """Raise TrialFailed, with the last words of what died, when the data folder stands on nothing any more."""
        ...

    def counters(self) -> dict[str, float]:
        """Return what the storage itself has done since it was mounted; every number only grows.

        Empty where nothing stands between the system and the kernel. Names end in their unit (``_bytes``,
        ``_seconds``); the others are counts.
        """
        ...

    def abandon(self) -> None:
        """Have whoever waits for the data folder get an error at once, from another thread; it has died."""
        ...

    def processes(self) -> list[int]:
        """Process ids of the programs that the storage runs on, now."""
        ...

    def drop_caches(self) -> bool:
        """Empty every cache between the system and the device; False where that is not permitted (lukewarm).

        Called while nothing has a file of the data folder open: the storage may mount it anew. That the caches
        are empty is not believed but seen: no page of the data is in memory when it returns True.
        """
        ...

    def cached_bytes(self) -> int | None:
        """Return the bytes of the data that are in memory now; None where to look would change it."""
        ...

    def sync(self) -> None:
        """Return when all written data is on the device."""
        ...

    def bytes(self) -> int:
        """Return the bytes that the data folder takes on the device."""
        ...

    def unmount(self) -> None:
        """Remove the data folder and what was mounted for it; never raises for what is already gone."""
        ...


# Find a storage driver by the name that ``storage/<name>.toml`` gives as ``driver``.


def storage(declared: Declared, place: StoragePlace, levels: dict[str, Any] | None = None) -> Storage:
    """Return the driver of a declared storage, for a data folder that does not exist yet.

    ``levels`` of a cell replace options of the same name. Raises RequestError when there is no such driver,
    or it does not know one of the options.
    """
    if declared.driver not in names():
        raise unknown("storage driver", declared.driver, names(), f"storage/{declared.name}.toml")
    make = importlib.import_module(f"benchbook.storage.{declared.driver}").driver
    return cast("Callable[[Any, StoragePlace], Storage]", make)(declared.typed(levels), place)


def names() -> list[str]:
    """Return the names of all storage drivers."""
    from benchbook.declare.storage import OPTIONS

    return sorted(OPTIONS)
