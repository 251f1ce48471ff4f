"""loop-ext4: a private ext4 in a file on the local disk, mounted through a loop device.

Its file system is the same on every machine and empty at the start. Other activity on the host's file system affects
it only through the disk below.
"""

from __future__ import annotations

from pathlib import Path

from benchbook.declare.storage import SizedOptions
from benchbook.storage import mounting
from benchbook.storage.driver import Facts, StoragePlace
from benchbook.storage.local import Storage

MAKE = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard")
"""Leaves nothing for the kernel to initialise during the measurement."""


def mount_image(image: Path, size_mib: int, point: Path, mounts: Path | None, storage: str) -> None:
    """Create a file with an ext4 and mount it; raise Unavailable if that is not permitted."""
    mounting.empty_folder(point)
    mounting.register_mount(mounts, point, (image,), storage)
    with image.open("wb") as file:
        file.truncate(size_mib << 20)
    mounting.run(
        [*MAKE, image], f"{storage} cannot be created", "mkfs.ext4 is in Debian's package e2fsprogs."
    )
    # mount sets up the loop device, and the kernel frees it on any unmount.
    mounting.mount(["-o", "loop,noatime", image, point], storage)


class LoopExt4(Storage):
    """A private ext4; the data folder is a folder in it, next to ``lost+found``."""

    def __init__(self, options: SizedOptions, place: StoragePlace) -> None:
        self._point, self._options, self._mounts = place.folder, options, place.mounts
        self._image = place.folder.with_name(f"{place.folder.name}.ext4")
        super().__init__(place.folder / "data")

    def mount(self) -> Path:
        """Create the file and its file system and mount it; raise Unavailable if that is not permitted."""
        mount_image(self._image, self._options.size_mib, self._point, self._mounts, "loop-ext4")
        self.folder.mkdir()
        return self.folder

    def facts(self) -> Facts:
        """Return the facts of the file system, and of the storage below its file."""
        below = Storage(self._image.parent).facts()
        return {**super().facts(), "made_with": " ".join(MAKE), "below": below}

    def unmount(self) -> None:
        if mounting.unmount(self._point):
            Storage(self._point).unmount()
            self._image.unlink(missing_ok=True)
            mounting.unregister_mount(self._mounts, self._point)


def driver(options: SizedOptions, place: StoragePlace) -> LoopExt4:
    """Return a private ext4 for one trial."""
    return LoopExt4(options, place)
