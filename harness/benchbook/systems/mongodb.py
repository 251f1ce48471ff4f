"""MongoDB: one server on a free loopback port, or one that already runs (``--system NAME=mongodb://…``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place
from benchbook.systems.server import Inspected

FILE = "mongod.conf"


class MongoDB(Inspected):
    """One MongoDB in one trial."""

    target = "mongodb"

    def _configure(self) -> dict[str, str]:
        place = self._place
        (port,) = free_ports(1, place.host)
        self._addresses = [f"{place.host}:{port}"]
        self._url = f"mongodb://{place.host}:{port}"
        (place.config / FILE).write_text(self._text(str(place.data), str(port)), encoding="utf-8")
        return {FILE: self._text("{data}", "{port}")}

    def _text(self, data: str, port: str) -> str:
        place = self._place
        lines = {
            "net.bindIp": place.host, "net.port": port, "storage.dbPath": data,
            "net.unixDomainSocket.enabled": "false", **place.settings,
        }  # fmt: skip
        return "".join(f"{name}: {value}\n" for name, value in sorted(lines.items()))

    def _command(self) -> Sequence[str | Path]:
        return [self._program(), "--config", self._place.config / FILE]

    def settle(self) -> None:
        """Do nothing: MongoDB writes a checkpoint each minute and has no other work that ends.

        The size is that of its files when it has stopped writing; WiredTiger does not compact by itself.
        """

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: collections with their indexes (data), and the journal (wal)."""
        if self.elsewhere:
            return {}
        wal = allocated(self._place.data / "journal")
        return {"data": allocated(self._place.data) - wal, "wal": wal}


def driver(place: Place) -> MongoDB:
    """Return the driver of one MongoDB."""
    return MongoDB(place)
