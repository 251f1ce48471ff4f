"""Local disk: a plain folder on whatever file system the results stand on."""

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
"""Writing 3 here empties the page cache, the dentries and the inodes of the whole machine; needs root."""
DROPS = 5
"""How often it is written: the kernel leaves the pages that another processor holds at that moment."""


class Local:
    """A folder on the local disk; by custom ``<results>/scratch/<trial>``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self) -> Path:
        """Make the folder; one that already holds something is refused, for a trial starts from nothing."""
        return empty_folder(self.folder)

    def facts(self) -> Facts:
        """Return file system, mount options, device and free bytes."""
        return filesystem(self.folder, Tree())

    def check(self) -> None:
        """Nothing stands behind a folder that could have died."""

    def abandon(self) -> None:
        """Nobody waits for a folder on a local disk."""

    def counters(self) -> dict[str, float]:
        """Return nothing: the kernel counts what happens here, and telemetry reads it."""
        return {}

    def processes(self) -> list[int]:
        """Return no process."""
        return []

    def drop_caches(self) -> bool:
        """Sync, then empty the page cache of the whole machine; False without the right to do so."""
        self.sync()
        return drop_page_cache(self.folder)

    def cached_bytes(self) -> int | None:
        """Return the bytes of the folder's files that the page cache holds."""
        return resident(self.folder)

    def sync(self) -> None:
        """Sync the file system that the folder stands on."""
        # Python has no syncfs; the command has, and spares the file systems of other people.
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
    """Empty the page cache of the whole machine; False without the right, or where some of ``data`` stays in it."""
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
