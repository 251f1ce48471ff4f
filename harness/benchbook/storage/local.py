"""Local disk: a plain folder on the file system of the results, and the base class of every storage."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from pathlib import Path

from benchbook.declare.storage import NoOptions
from benchbook.host import guarded
from benchbook.host.filesystem import filesystem, in_memory
from benchbook.host.reading import Tree
from benchbook.process.launch import call
from benchbook.storage.driver import Facts, StoragePlace, allocated
from benchbook.storage.mounting import empty_folder

_LIBC = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE


def resident(folder: Path) -> int:
    """Return how many bytes of the files under ``folder`` are in memory, without reading them.

    Files that vanish during the check, or may not be opened, are ignored.
    """
    total = 0
    for file in guarded.files_below(folder):
        with contextlib.suppress(OSError, ValueError):
            total += _of_file(file)
    return total


def _of_file(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # ctypes only gives the address of a writable mapping; it is private, and no page is touched.
        mapped = mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)
    first = ctypes.c_char.from_buffer(mapped)
    try:
        size = len(mapped)
        pages = (ctypes.c_ubyte * -(-size // _PAGE))()
        address = ctypes.c_void_p(ctypes.addressof(first))
        if _LIBC.mincore(address, ctypes.c_size_t(size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return min(size, sum(1 for page in bytes(pages) if page & 1) * _PAGE)
    finally:
        del first
        mapped.close()


DROP_CACHES = Path("/proc/sys/vm/drop_caches")
"""Writing 3 to this file empties the page, dentry and inode caches of the whole machine; needs root."""
DROPS = 5
"""Number of attempts: the kernel keeps pages that another processor holds at that moment."""


class Storage:
    """A folder on the local disk, usually ``<results>/scratch/<trial>``; the base class of every other storage."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self) -> Path:
        """Create the empty data folder and return it; raise Unavailable or TrialFailed."""
        return empty_folder(self.folder)

    def facts(self) -> Facts:
        """Return file system, mount options, device and free bytes of the data folder."""
        return filesystem(self.folder, Tree())

    def throttled(self) -> dict[str, int]:
        """Return the most writes per second to each device, as ``major:minor``; empty without a limit."""
        return {}

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if a program behind the data folder has died."""

    def abandon(self) -> None:
        """Make every access to the data folder of a dead storage fail at once; called from another thread."""

    def counters(self) -> dict[str, float]:
        """Return what the storage has done since it was mounted; every number only grows.

        Empty if there is no program between the system and the kernel. Names end in their unit (``_bytes``,
        ``_seconds``); others are counts.
        """
        return {}

    def processes(self) -> list[int]:
        """Return the current process ids of the programs behind the storage."""
        return []

    def drop_caches(self) -> bool:
        """Empty every cache between the system and the device; return False if that is not permitted (lukewarm).

        No process has a file of the data folder open, so the storage may remount it. True means that the storage has
        checked that no page of the data is in memory.
        """
        self.sync()
        return drop_page_cache(self.folder)

    def cached_bytes(self) -> int | None:
        """Return how many bytes of the data are in memory; None if checking would change that."""
        return resident(self.folder)

    def sync(self) -> None:
        """Return after all written data is on the device."""
        # Python has no syncfs; the command does, and leaves other file systems alone.
        try:
            done = call(["sync", "-f", self.folder]).returncode == 0
        except OSError:
            done = False
        if not done:
            os.sync()

    def bytes(self) -> int:
        """Return the bytes that the data folder occupies on the device."""
        return allocated(self.folder)

    def unmount(self) -> None:
        """Remove the data folder and its mounts; never raise for what is already gone."""
        guarded.remove_tree(self.folder)


def drop_page_cache(data: Path) -> bool:
    """Empty the machine's page cache; return False without permission, or if some of ``data`` stays in memory."""
    if in_memory(data):
        return False
    for _ in range(DROPS):
        try:
            DROP_CACHES.write_text("3\n")
        except OSError:
            return False
        if resident(data) == 0:
            return True
    return False


def driver(_options: NoOptions, place: StoragePlace) -> Storage:
    """Return the local disk; it has no options."""
    return Storage(place.folder)
