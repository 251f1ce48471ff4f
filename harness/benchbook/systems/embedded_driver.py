"""What DuckDB and SQLite share: a worker process that holds the database and is its own client.

Client and system are one process here: what the client costs cannot be told from what the system costs, no
transport lies between them, and so they are never ranked against servers without saying what that costs.
``shares_process`` says it to the engine, and ``processes()`` of driver and client are the same tree.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.embedded_client import EmbeddedClient
from benchbook.systems.python_worker import PythonWorker

SETTINGS_FILE = "settings.json"


class EmbeddedDriver(PythonWorker):
    """One embedded engine in one trial."""

    shares_process = True
    watched_seconds = 0.0
    """A checkpoint returns when it is done: nothing is only watched."""

    def __init__(self, place: Place, engine: str, title: str) -> None:
        super().__init__(place, engine, title)
        self._engine = engine
        self._file = place.data / f"benchbook.{engine}"
        self._open = False

    def configure(self) -> dict[str, str]:
        """Write the arm's settings as they are handed to the engine."""
        text = (
            json.dumps({"engine": self._engine, "settings": self._place.settings}, indent=1, sort_keys=True)
            + "\n"
        )
        (self._place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def ready(self) -> bool:
        """Open the database; raise TrialFailed with the engine's words when it cannot be."""
        if not self._open:
            self.ask("open", engine=self._engine, path=str(self._file), settings=self._place.settings)
            self._open = True
        elif self.worker is not None:
            self.worker.check()
        return True

    def prepare(self) -> None:
        """Refuse a database that already holds tables; the load creates them by its first batches."""
        tables = self.ask("tables")["tables"]
        if tables:
            raise TrialFailed(
                f"The database {self._file} already holds the tables {', '.join(tables)}.",
                "Remove that file, then resume the run.",
            )

    def settle(self) -> None:
        """Have everything that is committed written into the database file."""
        self.ask("settle")

    def size(self) -> dict[str, int]:
        """Return the bytes allocated to the database file (data), to its log (wal) and to anything else."""
        parts = {"data": 0, "wal": 0, "other": 0}
        for found in self._place.data.iterdir():
            part = (
                "data"
                if found == self._file
                else "wal"
                if found.name.startswith(self._file.name)
                else "other"
            )
            parts[part] += allocated(found) if found.is_dir() else found.lstat().st_blocks * 512
        return parts

    def version(self) -> str:
        """Return the version that the library states."""
        return str(self.ask("version")["version"])

    def count(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table."""
        found = self.ask("count")["tables"]
        return {name: TableCount(int(one["rows"]), dict(one["fields"])) for name, one in found.items()}

    def client(self, benchload: Path) -> EmbeddedClient:
        """Return the client, which is the worker itself fed by benchload's generator."""
        return EmbeddedClient(self, benchload)

    def stop(self) -> None:
        """Close the database, then the worker."""
        super().stop()
        self._open = False
