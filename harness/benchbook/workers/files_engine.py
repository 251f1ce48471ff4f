"""Files through Python: one file per object, opened and closed for each operation.

It serves to compare an embedded database with plain files: both are then called from the same language, by the same
loop. ``systems/filesystem.toml`` is the faster choice as the physical baseline of servers.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from benchbook.declare.level import Setting
from benchbook.workers.engine import Count

if TYPE_CHECKING:
    from benchbook.workers.blob import Item

FOLDERS = 256
"""Keys begin with one of as many folders, such as ``3f/``."""
SYNCS = ("none", "data")


class Files:
    """A folder of files. It stores objects only, so it lacks the calls of an engine for tables and queries."""

    def __init__(self, folder: Path, settings: Mapping[str, Setting]) -> None:
        for name, value in settings.items():
            if name != "sync" or value not in SYNCS:
                raise ValueError(
                    f'{name} = "{value}": files have only the setting sync, one of {", ".join(SYNCS)}'
                )
        self._folder, self._synced = folder, settings.get("sync") == "data"
        for number in range(FOLDERS):
            (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse the calls for tables and queries."""
        raise AttributeError(f"files store objects only, and have no call {name}: use the workload blob")

    def version(self) -> str:
        """Return the version of the file system's interface: the kernel's."""
        return platform.release()

    def tables(self) -> list[str]:
        """Return ``objects`` if the folder has files."""
        return ["objects"] if self.count()["objects"].rows else []

    def objects(self, timeout_seconds: float) -> FileObjects:  # noqa: ARG002 - no call waits for another one
        """Return the files, for one thread."""
        return FileObjects(str(self._folder), synced=self._synced)

    def settle(self) -> None:
        """Write everything to the device."""
        os.sync()

    def count(self) -> dict[str, Count]:
        """Count the files."""
        return {"objects": Count(sum(len(names) for _, _, names in os.walk(self._folder)), {})}

    def interrupt(self) -> None:
        """Do nothing: a call that waits for the disk cannot be stopped."""

    def close(self) -> None:
        """Do nothing: no file stays open."""


class FileObjects:
    """The files of one thread. It calls the system directly, because Python's own file objects make more calls."""

    def __init__(self, folder: str, *, synced: bool) -> None:
        self._folder, self._synced = folder, synced

    def put(self, items: Sequence[Item]) -> None:
        """Write one new file after the other; there are no transactions."""
        for item in items:
            file = os.open(f"{self._folder}/{item.key}", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
            try:
                if os.write(file, item.content) != len(item.content):
                    raise OSError(f"only a part of {item.key} was written")
                if self._synced:
                    os.fsync(file)
            finally:
                os.close(file)

    def get(self, key: str) -> bytes | None:
        """Read a whole file in one call, after asking for its size."""
        try:
            file = os.open(f"{self._folder}/{key}", os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.read(file, os.fstat(file).st_size)
        finally:
            os.close(file)

    def delete(self, key: str) -> bool:
        """Remove a file; return whether it existed."""
        try:
            os.unlink(f"{self._folder}/{key}")  # noqa: PTH108 - timed: plain calls
        except FileNotFoundError:
            return False
        return True

    def close(self) -> None:
        """Do nothing: no file stays open."""


def open_database(where: str | Path, settings: Mapping[str, Setting]) -> Files:
    """Open a folder, which is created. Raise ValueError for an unknown setting."""
    return Files(Path(where), settings)
