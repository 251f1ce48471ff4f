"""Embedded databases: the worker that holds the database is its own client.

Client and system are one process. Their costs cannot be separated, and no transport lies between them, so a
ranking with servers must say what the transport costs. ``shares_process`` tells the engine.
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
    """A checkpoint returns when it is done, so ``settle`` never only watches."""

    def __init__(self, place: Place) -> None:
        super().__init__(place, self.engine, self.title)
        self._file = place.data / f"benchbook.{self.engine}"
        self._open = False

    def configure(self) -> dict[str, str]:
        """Write the arm's settings as the engine gets them."""
        content = {"engine": self.engine, "settings": self.place.settings}
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        (self.place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def ready(self) -> bool:
        """Open the database; raise TrialFailed with the engine's error when that fails."""
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
        """Write everything that is committed into the database file."""
        self.ask("settle")

    def size(self) -> dict[str, int]:
        """Return the bytes of the database file (data), of its log (wal) and of the rest (other)."""
        parts = {"data": 0, "wal": 0, "other": 0}
        for path in self.place.data.iterdir():
            log = "wal" if path.name.startswith(self._file.name) else "other"
            part = "data" if path == self._file else log
            parts[part] += allocated(path) if path.is_dir() else path.lstat().st_blocks * 512
        return parts

    def version(self) -> str:
        """Return the version that the library states."""
        return str(self.ask("version")["version"])

    def client(self, benchload: Path) -> WorkerClient:
        """Return the worker as the client, fed by benchload's generator."""
        return WorkerClient(self, benchload)

    def stop(self) -> None:
        """Close the database and end the worker."""
        super().stop()
        self._open = False
