"""The local file system as a store of objects: one file an object, written and synced by the client itself.

It is the physical yardstick: what every store on the same disk has below it.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated, disks
from benchbook.storage.local import Local
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Place, TableCount

SYNCS = ("none", "data", "folder")


class Filesystem:
    """The data folder of one trial; on a storage of several disks, a folder on each."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._client: BenchloadClient | None = None
        self._folders = [disk / "objects" for disk in disks(place.data)]
        self.watched_seconds = 0.0

    def configure(self) -> dict[str, str]:
        """Return what the client asks the kernel for; there is no configuration."""
        for name, value in self._place.settings.items():
            if name != "sync" or value not in SYNCS:
                raise TrialFailed(
                    f'{name} = "{value}": a file system has only the setting sync, one of {", ".join(SYNCS)}.',
                    "Correct the arm.",
                )
        return {"sync": self._sync()}

    def start(self) -> None:
        """Do nothing: it is there."""

    def ready(self) -> bool:
        """Say that it is there."""
        return True

    def prepare(self) -> None:
        """Make the folders, so that this is not timed."""
        for folder in self._folders:
            for number in range(256):
                (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def settle(self) -> None:
        """Have everything written to the device (syncfs)."""
        for folder in self._folders:
            Local(folder).sync()

    def size(self) -> dict[str, int]:
        """Return the bytes allocated to the files."""
        return {"data": sum(allocated(folder) for folder in self._folders)}

    def version(self) -> str:
        """Return the version of the load tool, which writes the files."""
        return self._place.program.version

    def count(self) -> dict[str, TableCount]:
        """Count the files."""
        files = sum(len(names) for folder in self._folders for _, _, names in os.walk(folder))
        return {"objects": TableCount(files)}

    def client(self, benchload: Path) -> BenchloadClient:
        """Benchload, which writes the files itself."""
        self._client = BenchloadClient(
            benchload, target="files", url=lambda: ",".join(map(str, self._folders)), database="objects",
            log=self._place.logs / "benchload.log", registry=self._place.processes, sync=self._sync(),
            shares_process=True,
        )  # fmt: skip
        return self._client

    def processes(self) -> list[int]:
        """Return the client's processes: nobody else writes."""
        return self._client.processes() if self._client is not None else []

    def stop(self) -> None:
        """Do nothing."""

    def _sync(self) -> str:
        return str(self._place.settings.get("sync", "data"))


def driver(place: Place) -> Filesystem:
    """Return the driver of the local file system."""
    return Filesystem(place)
