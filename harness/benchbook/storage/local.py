"""Local disk: a plain folder on whatever file system the results stand on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import TrialFailed, unknown
from benchbook.host.filesystem import filesystem
from benchbook.host.reading import Tree
from benchbook.storage.driver import Facts, Setting
from benchbook.storage.folder import allocated

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
"""Writing 3 here empties the page cache, the dentries and the inodes of the whole machine; needs root."""


class Local:
    """A folder on the local disk; by custom ``<results>/scratch/<trial>``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def mount(self) -> Path:
        """Make the folder; one that already holds something is refused, for a trial starts from nothing."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            held = any(self._folder.iterdir())
        except OSError as error:
            raise TrialFailed(
                f"The data folder {self._folder} cannot be made: {error.strerror}.",
                "Free space, make its parent writable, or name another folder with --results.",
            ) from error
        if held:
            raise TrialFailed(
                f"The data folder {self._folder} is not empty.", "Remove it, then resume the run."
            )
        return self._folder

    def facts(self) -> Facts:
        """Return file system, mount options, device and free bytes."""
        return filesystem(self._folder, Tree())

    def drop_caches(self) -> bool:
        """Sync, then empty the page cache of the whole machine; False without the right to do so."""
        self.sync()
        try:
            DROP_CACHES.write_text("3\n")
        except OSError:
            return False
        return True

    def sync(self) -> None:
        """Sync the file system that the folder stands on."""
        # Python has no syncfs; the command has, and spares the file systems of other people.
        try:
            done = (
                subprocess.run(["sync", "-f", str(self._folder)], capture_output=True, check=False).returncode
                == 0
            )
        except OSError:
            done = False
        if not done:
            os.sync()

    def bytes(self) -> int:
        """Return the bytes allocated to the files of the folder."""
        return allocated(self._folder)

    def unmount(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self._folder, ignore_errors=True)


def driver(options: Mapping[str, Setting], folder: Path) -> Local:
    """Return the local disk; it has no options."""
    for name in options:
        raise unknown("option", name, (), "storage driver local")
    return Local(folder)
