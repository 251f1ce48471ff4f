"""Embedded stores, which the client of this project drives in its own process."""

from __future__ import annotations

from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process.launch import call
from benchbook.storage.driver import allocated
from benchbook.storage.local import Storage
from benchbook.systems.client import BenchloadClient, as_flags
from benchbook.systems.driver import Place
from benchbook.systems.tool import Tool


class EmbeddedStore(Tool):
    """One store in one trial. ``settings`` of a configuration are flags of the client."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._kind = place.program.system.rpartition("-")[0] or place.program.system
        self._folder = place.data / "store"
        self._client: BenchloadClient | None = None

    def configure(self) -> dict[str, str]:
        """Return the flags of the configuration; there is no file."""
        return {"flags": " ".join(self._flags())}

    def settle(self) -> None:
        """Write everything to the device (syncfs); a closed store has no work left."""
        Storage(self.place.data).sync()

    def size(self) -> dict[str, int]:
        return {"data": allocated(self._folder)}

    def version(self) -> str:
        """Return the version of the store's library, as the client reports it."""
        for line in call([str(self.place.program.path), "--version"]).stdout.splitlines():
            name, _, version = line.partition(" ")
            if name == self._kind:
                return version
        raise TrialFailed(f"The client {self.place.program.path} has no store {self._kind}.")

    def client(self, benchload: Path) -> BenchloadClient:  # noqa: ARG002 - the signature of a driver
        """Return the client of this project in place of benchload."""
        assert self.place.program.path is not None
        self._client = BenchloadClient(
            self.place.program.path, target=self._kind, url=lambda: str(self._folder), database="",
            log=self.place.logs / "client.log", registry=self.place.processes,
            own_flags={"entries": self._flags()}, shares_process=True,
        )  # fmt: skip
        return self._client

    def processes(self) -> list[int]:
        """Return the client's processes, in which the store is."""
        return self._client.processes() if self._client is not None else []

    def _flags(self) -> list[str]:
        return as_flags({name.replace("_", "-"): value for name, value in self.place.settings.items()})


drivers = {"embedded-store": EmbeddedStore}
