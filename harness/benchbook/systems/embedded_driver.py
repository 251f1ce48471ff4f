"""What DuckDB and SQLite share: a worker process that holds the database and is its own client.

Client and system are one process here: what the client costs cannot be told from what the system costs, no
transport lies between them, and so they are never ranked against servers without saying what that costs.
``shares_process`` says it to the engine, and ``processes()`` of driver and client are the same tree.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchbook
from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems import process
from benchbook.systems.benchload_client import events
from benchbook.systems.driver import Event, Place, TableCount
from benchbook.systems.embedded_client import EmbeddedClient

SETTINGS_FILE = "settings.json"


class EmbeddedDriver:
    """One embedded engine in one trial."""

    shares_process = True
    watched_seconds = 0.0
    """A checkpoint returns when it is done: nothing is only watched."""

    def __init__(self, place: Place, engine: str, title: str) -> None:
        self._place = place
        self._engine = engine
        self._title = title
        self._file = place.data / f"benchbook.{engine}"
        self._log = place.logs / f"{engine}.log"
        self._open = False
        self.worker: process.Running | None = None

    def configure(self) -> dict[str, str]:
        """Write the arm's settings as they are handed to the engine."""
        text = (
            json.dumps({"engine": self._engine, "settings": self._place.settings}, indent=1, sort_keys=True)
            + "\n"
        )
        (self._place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def start(self) -> None:
        """Start the worker."""
        paths = [str(Path(benchbook.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        self.worker = process.start(
            [sys.executable, "-m", "benchbook.embedded"],
            words=f"the {self._title} worker",
            log=self._log,
            cwd=self._place.data,
            # The data folder is no place to import from.
            environment={"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"},
            registry=self._place.processes,
            pipes=True,
        )

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

    def processes(self) -> list[int]:
        """Return the worker and, during a load, the generator that feeds it: the client's processes too."""
        return self.worker.tree() if self.worker is not None else []

    def stop(self) -> None:
        """Close the worker's stdin, at which it closes the database and ends; then by force."""
        if self.worker is None:
            return
        stdin = self.worker.process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):  # it died with a request unread
                stdin.close()
        self.worker.stop(first=None)
        self.worker, self._open = None, False

    def ask(self, do: str, **more: Any) -> Event:
        """Send a request and return its reply; raise TrialFailed when it is refused or the worker dies."""
        reply: Event = {}
        for event in self.talk(do, **more):
            reply = event
        return reply

    def talk(self, do: str, **more: Any) -> Iterator[Event]:
        """Send a request and yield everything up to its reply, which comes last."""
        if self.worker is None:
            raise TrialFailed(f"The {self._title} worker is not running.")
        stdin, stdout = self.worker.process.stdin, self.worker.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write((json.dumps({"do": do, **more}) + "\n").encode())
            stdin.flush()
        except OSError:
            self._died()
        replied = False
        try:
            for event in events(stdout, f"the {self._title} worker"):
                replied = event["type"] == "reply"
                if replied and not event["ok"]:
                    raise TrialFailed(
                        f"{self._title} cannot {do}: {event['message']}", f"Its log is {self._log}."
                    )
                yield event
                if replied:
                    return
            self._died()
        finally:
            if not replied and self.worker is not None:
                # Somebody stopped listening half-way: what is still to come would answer the next request.
                self.worker.kill()

    def _died(self) -> None:
        assert self.worker is not None
        self.worker.wait_ending(5.0)
        self.worker.check()
        raise TrialFailed(f"The {self._title} worker closed its output.", f"Its log is {self._log}.")
