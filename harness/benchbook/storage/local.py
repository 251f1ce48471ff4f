"""Local disk: a plain folder on the file system of the results."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from benchbook.declare.storage import NoOptions
from benchbook.host.filesystem import filesystem
from benchbook.host.reading import Tree
from benchbook.storage.driver import Facts, StoragePlace, allocated
from benchbook.storage.mounting import empty_folder
from benchbook.storage.page_cache import resident

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
        """Return file system, mount options, device and free bytes."""
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
        """Return the bytes of the folder's files that the page cache holds."""
        return resident(self.folder)

    def sync(self) -> None:
        """Sync the folder's file system."""
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
        """Return the bytes allocated to the files of the folder."""
        return allocated(self.folder)

    def unmount(self) -> None:
        """Remove the folder with everything in it."""
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
