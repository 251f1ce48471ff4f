"""loop: a private file system in a file on the local disk, mounted through a loop device.

It is the same on every machine and empty at the start. Other activity on the host's file system affects it only
through the disk below.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchbook.declare.storage import LoopOptions
from benchbook.storage import mounting
from benchbook.storage.driver import Facts, StoragePlace
from benchbook.storage.local import Storage


class Made(NamedTuple):
    """How a file system is made."""

    command: Sequence[str]
    package: str
    """The package of Debian that has the command."""


FILE_SYSTEMS = {
    "ext4": Made(
        ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"), "e2fsprogs"
    ),
    "ext3": Made(("mkfs.ext3", "-q", "-F", "-E", "nodiscard"), "e2fsprogs"),
    "xfs": Made(("mkfs.xfs", "-q", "-f", "-K"), "xfsprogs"),
}
"""Name → how it is made, so that nothing is left for the kernel to initialise during the measurement."""


def mount_image(
    image: Path, size_mib: int, point: Path, mounts: Path | None, storage: str, file_system: str = "ext4"
) -> None:
    """Create a file with a file system and mount it; raise Unavailable if that is not permitted."""
    made = FILE_SYSTEMS[file_system]
    mounting.empty_folder(point)
    mounting.register_mount(mounts, point, (image,), storage)
    with image.open("wb") as file:
        file.truncate(size_mib << 20)
    mounting.run(
        [*made.command, image], f"{storage} cannot be created",
        f"{made.command[0]} is in Debian's package {made.package}.",
    )  # fmt: skip
    # mount sets up the loop device, and the kernel frees it on any unmount.
    mounting.mount(["-o", "loop,noatime", image, point], storage)


class Loop(Storage):
    """A private file system; the data folder is a folder in it, beside what the file system itself has."""

    def __init__(self, options: LoopOptions, place: StoragePlace) -> None:
        self._point, self._options, self._mounts = place.folder, options, place.mounts
        self._image = place.folder.with_name(f"{place.folder.name}.{options.file_system}")
        super().__init__(place.folder / "data")

    def mount(self) -> Path:
        """Create the file and its file system and mount it; raise Unavailable if that is not permitted."""
        kind = self._options.file_system
        mount_image(self._image, self._options.size_mib, self._point, self._mounts, f"loop-{kind}", kind)
        self.folder.mkdir()
        return self.folder

    def facts(self) -> Facts:
        """Return the facts of the file system, and of the storage below its file."""
        below = Storage(self._image.parent).facts()
        made_with = " ".join(FILE_SYSTEMS[self._options.file_system].command)
        return {**super().facts(), "made_with": made_with, "below": below}

    def unmount(self) -> None:
        if mounting.unmount(self._point):
            Storage(self._point).unmount()
            self._image.unlink(missing_ok=True)
            mounting.unregister_mount(self._mounts, self._point)


def driver(options: LoopOptions, place: StoragePlace) -> Loop:
    """Return a private file system for one trial."""
    return Loop(options, place)
