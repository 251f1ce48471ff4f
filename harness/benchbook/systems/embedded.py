"""Embedded databases: the worker that contains the database is also the client.

Client and system are one process. Their costs cannot be separated, and there is no transport between them, so a
ranking with servers must mention the cost of transport. ``shares_process`` signals this to the engine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place
from benchbook.systems.python_worker import PythonWorker, WorkerClient

SETTINGS_FILE = "settings.json"


class EmbeddedDriver(PythonWorker):
    """One embedded engine in one trial."""

    engine: ClassVar[str]
    """Name of the engine's module in ``benchbook.embedded``, without ``_engine``."""
    title: ClassVar[str]
    shares_process = True
    watched_seconds = 0.0
    """A checkpoint returns when it is done, so ``settle`` has no watching time."""

    def __init__(self, place: Place) -> None:
        super().__init__(place, self.engine, self.title)
        self._file = place.data / f"benchbook.{self.engine}"
        self._open = False

    def configure(self) -> dict[str, str]:
        """Write the arm's settings in the form that the engine gets."""
        content = {"engine": self.engine, "settings": self.place.settings}
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        (self.place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def ready(self) -> bool:
        """Open the database; raise TrialFailed with the engine's error if that fails."""
        if not self._open:
            self.ask("open", engine=self.engine, path=str(self._file), settings=self.place.settings)
            self._open = True
        elif self.worker is not None:
            self.worker.check()
        return True

    def prepare(self) -> None:
        """Refuse a database that holds tables; the first batches of a load create them."""
        if tables := self.ask("tables")["tables"]:
            raise TrialFailed(
                f"The database {self._file} already holds the tables {', '.join(tables)}.",
                "Remove that file, then resume the run.",
            )

    def settle(self) -> None:
        """Write all committed data to the database file."""
        self.ask("settle")

    def size(self) -> dict[str, int]:
        """Return the bytes of the database file (data), its log (wal) and the rest (other)."""
        parts = {"data": 0, "wal": 0, "other": 0}
        for path in self.place.data.iterdir():
            log = "wal" if path.name.startswith(self._file.name) else "other"
            part = "data" if path == self._file else log
            parts[part] += allocated(path) if path.is_dir() else path.lstat().st_blocks * 512
        return parts

    def version(self) -> str:
        """Return the version that the library reports."""
        return str(self.ask("version")["version"])

    def client(self, benchload: Path) -> WorkerClient:
        """Return the worker as the client, fed by benchload's generator."""
        return WorkerClient(self, benchload)

    def stop(self) -> None:
        """Close the database and end the worker."""
        super().stop()
        self._open = False
