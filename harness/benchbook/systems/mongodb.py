"""MongoDB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.storage.driver import allocated
from benchbook.systems.inspected import Inspected
from benchbook.systems.quoting import in_quotes
from benchbook.systems.server import Layout, settings_text

FILE = "mongod.conf"


class MongoDB(Inspected):
    """One MongoDB in one trial."""

    target = "mongodb"
    scheme = "mongodb"
    url_schemes = ("mongodb",)

    def files(self, at: Layout) -> dict[str, str]:
        settings = {
            "net.bindIp": at.host, "net.port": at.ports["port"], "storage.dbPath": in_quotes(at.data),
            "net.unixDomainSocket.enabled": False, **self.settings,
        }  # fmt: skip
        return {FILE: settings_text(settings, "{}: {}")}

    def command(self) -> Sequence[str | Path]:
        return [self.program, "--config", self.place.config / FILE]

    def settle(self) -> None:
        """Return at once: MongoDB writes a checkpoint every minute and has no other work that ends.

        The size is that of its files after it has stopped writing; WiredTiger does not compact unless asked.
        """

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of collections with their indexes (data) and the journal (wal)."""
        wal = allocated(self.place.data / "journal")
        return {"data": allocated(self.place.data) - wal, "wal": wal}


driver = MongoDB
