"""The local file system as an object store: the client writes and syncs one file per object.

It is the physical baseline: every store on the same disk is built on it.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated, disks
from benchbook.storage.local import Storage
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.tool import Tool

SYNCS = ("none", "data", "folder")


class Filesystem(Tool):
    """The data folder of one trial; on a storage with several disks, a folder on each."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._client: BenchloadClient | None = None
        self._folders = [disk / "objects" for disk in disks(place.data)]
        self._sync = str(place.settings.get("sync", "data"))

    def configure(self) -> dict[str, str]:
        """Return the sync mode; there is no configuration file."""
        for name, value in self.place.settings.items():
            if name != "sync" or value not in SYNCS:
                raise TrialFailed(
                    f'{name} = "{value}": the only setting of a file system is sync, and its value is one of '
                    f"{', '.join(SYNCS)}.",
                    "Correct the configuration (arm) in systems/*.toml.",
                )
        return {"sync": self._sync}

    def start(self) -> None:
        """Do nothing: the file system is already mounted."""

    def prepare(self) -> None:
        """Create the folders, so that no operation has to."""
        for folder in self._folders:
            for number in range(256):
                (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def settle(self) -> None:
        """Write everything to the device (syncfs)."""
        for folder in self._folders:
            Storage(folder).sync()

    def size(self) -> dict[str, int]:
        return {"data": sum(allocated(folder) for folder in self._folders)}

    def version(self) -> str:
        """Return the version of benchload, which writes the files."""
        return self.place.program.version

    def count(self) -> dict[str, TableCount]:
        files = sum(len(names) for folder in self._folders for _, _, names in os.walk(folder))
        return {"objects": TableCount(files)}

    def client(self, benchload: Path) -> BenchloadClient:
        """Return benchload, which writes the files itself."""
        self._client = BenchloadClient(
            benchload, target="files", url=lambda: ",".join(map(str, self._folders)), database="objects",
            log=self.place.logs / "benchload.log", registry=self.place.processes,
            own_flags={"blob": (f"--sync={self._sync}",)}, shares_process=True,
        )  # fmt: skip
        return self._client

    def processes(self) -> list[int]:
        """Return the client's processes, the only ones that write."""
        return self._client.processes() if self._client is not None else []


driver = Filesystem
