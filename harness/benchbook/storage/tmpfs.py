"""tmpfs: a file system in memory, mounted for one trial."""

from __future__ import annotations

from pathlib import Path

from benchbook.declare.storage import SizedOptions
from benchbook.storage import mounting
from benchbook.storage.driver import StoragePlace
from benchbook.storage.local import Storage


class Tmpfs(Storage):
    """A private tmpfs; its pages are the data itself, so its cache cannot be dropped."""

    def __init__(self, options: SizedOptions, place: StoragePlace) -> None:
        super().__init__(place.folder)
        self._options, self._mounts = options, place.mounts

    def mount(self) -> Path:
        """Mount it; raise Unavailable if this user may not mount."""
        folder = super().mount()
        mounting.register_mount(self._mounts, folder, (), "tmpfs")
        size = f"size={self._options.size_mib}m,mode=0700"
        mounting.mount(["-t", "tmpfs", "-o", size, "benchbook", folder], "tmpfs")
        return folder

    def drop_caches(self) -> bool:
        """Return False: the data exists only in memory."""
        return False

    def cached_bytes(self) -> int | None:
        """Return all of its bytes, which are in memory."""
        return self.bytes()

    def unmount(self) -> None:
        """Unmount it, which frees its memory."""
        if mounting.unmount(self.folder):
            super().unmount()
            mounting.unregister_mount(self._mounts, self.folder)


def driver(options: SizedOptions, place: StoragePlace) -> Tmpfs:
    """Return a tmpfs for one trial."""
    return Tmpfs(options, place)
