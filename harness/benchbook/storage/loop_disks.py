"""loop-disks: several ext4 file systems below one data folder, each on a separate loop device.

They represent several disks: each has a separate journal, queue and cache. Their files are on the same disk of the
host and share its sync rate, which ``facts`` reports. With a limit of writes per second, lower than what the disk
allows them together, each is as slow as a separate disk would be.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.declare.storage import DisksOptions
from benchbook.host.filesystem import in_memory
from benchbook.storage import mounting
from benchbook.storage.driver import DISK_PREFIX, Facts, StoragePlace
from benchbook.storage.local import Storage
from benchbook.storage.loop import FILE_SYSTEMS, mount_image


class LoopDisks(Storage):
    """A data folder with one mounted ext4 per disk."""

    def __init__(self, options: DisksOptions, place: StoragePlace) -> None:
        super().__init__(place.folder)
        self._options, self._mounts = options, place.mounts
        self._disks = [
            (
                place.folder / f"{DISK_PREFIX}{number}",
                place.folder.with_name(f"{place.folder.name}-{number}.ext4"),
            )
            for number in range(1, options.disks + 1)
        ]

    def mount(self) -> Path:
        """Create and mount every disk; raise Unavailable if that is not permitted."""
        super().mount()
        for point, image in self._disks:
            mount_image(image, self._options.size_mib, point, self._mounts, "loop-disks")
            (point / "lost+found").rmdir()
        return self.folder

    def facts(self) -> Facts:
        """Return the facts of the first disk's file system, the number of disks, and the storage below them."""
        below = super().facts()
        first = Storage(self._disks[0][0]).facts()
        made = {
            "disks": len(self._disks),
            "made_with": " ".join(FILE_SYSTEMS["ext4"].command),
            "below": below,
        }
        return {**first, **made, "writes_per_second": self._options.writes_per_second}

    def drop_caches(self) -> bool:
        """Empty every cache of the disks, whose files are on one file system."""
        return super().drop_caches() and not in_memory(self._disks[0][0])

    def throttled(self) -> dict[str, int]:
        """Return the limit of each disk's device, if the storage declares one."""
        most = self._options.writes_per_second
        devices = [point.stat().st_dev for point, _ in self._disks] if most else []
        return {f"{os.major(device)}:{os.minor(device)}": most for device in devices if most}

    def unmount(self) -> None:
        for point, image in self._disks:
            if mounting.unmount(point):
                image.unlink(missing_ok=True)
                mounting.unregister_mount(self._mounts, point)
        super().unmount()


def driver(options: DisksOptions, place: StoragePlace) -> LoopDisks:
    """Return several disks for one trial."""
    return LoopDisks(options, place)
