"""Local disk: a plain folder on the file system of the results."""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import subprocess
from pathlib import Path

from benchbook.declare.storage import NoOptions
from benchbook.host.filesystem import filesystem
from benchbook.host.reading import Tree
from benchbook.storage.driver import Facts, StoragePlace, allocated
from benchbook.storage.mounting import empty_folder

_LIBC = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE


def resident(folder: Path) -> int:
    """Return how many bytes of the files under ``folder`` are in memory, without reading them.

    Files that vanish during the check, or may not be opened, are ignored.
    """
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += _of_file(os.path.join(place, name))  # noqa: PTH118 - a Path for each file is slow
            except (OSError, ValueError):
                continue
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


class Local:
    """A folder on the local disk, usually ``<results>/scratch/<trial>``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self) -> Path:
        """Create the folder; refuse one with content, because a trial starts from nothing."""
        return empty_folder(self.folder)

    def facts(self) -> Facts:
        return filesystem(self.folder, Tree())

    def check(self) -> None:
        """Do nothing: no program is behind a local folder."""

    def abandon(self) -> None:
        """Do nothing: no access to a local folder waits."""

    def counters(self) -> dict[str, float]:
        """Return no counters: telemetry reads the kernel's."""
        return {}

    def processes(self) -> list[int]:
        """Return no process."""
        return []

    def drop_caches(self) -> bool:
        """Sync, then empty the page cache of the whole machine; return False without permission."""
        self.sync()
        return drop_page_cache(self.folder)

    def cached_bytes(self) -> int | None:
        return resident(self.folder)

    def sync(self) -> None:
        # Python has no syncfs; the command does, and leaves other file systems alone.
        try:
            done = (
                subprocess.run(["sync", "-f", str(self.folder)], capture_output=True, check=False).returncode
                == 0
            )
        except OSError:
            done = False
        if not done:
            os.sync()

    def bytes(self) -> int:
        return allocated(self.folder)

    def unmount(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def drop_page_cache(data: Path) -> bool:
    """Empty the machine's page cache; return False without permission, or if some of ``data`` stays in it."""
    for _ in range(DROPS):
        try:
            DROP_CACHES.write_text("3\n")
        except OSError:
            return False
        if resident(data) == 0:
            return True
    return False


def driver(_options: NoOptions, place: StoragePlace) -> Local:
    """Return the local disk; it has no options."""
    return Local(place.folder)
