"""What servers share that are driven from Python: the server, and a worker that holds its connections."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from benchbook.errors import TrialFailed
from benchbook.process.launch import Started
from benchbook.process.network import check_free
from benchbook.systems.driver import Place, Setting, TableCount
from benchbook.systems.embedded import EmbeddedClient, PythonWorker
from benchbook.systems.server import Server


class PythonServer(Server):
    """A server in one trial, asked through the worker whose engine is named ``engine``."""

    engine: ClassVar[str]
    title: ClassVar[str]
    library: ClassVar[str]
    """The package that drives it, for the report."""
    refuses_seconds: ClassVar[float] = 60.0
    """How long it may listen and still refuse every connection, while it starts."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._started: Started | None = None
        self._worker = PythonWorker(place, "client", f"{self.title} client")
        self._open = False
        self._refused_from: float | None = None

    def start(self) -> None:
        """Start the server, where its program runs; one that already runs is left as it is."""
        if self.elsewhere:
            return
        for address in self._addresses:
            check_free(address)
        self._started = self._place.start(
            self._command(), name=self._place.program.system, log=self._log, cwd=self._place.data,
            environment=self._environment(),
        )  # fmt: skip

    def _check(self) -> None:
        if self._started is not None:
            self._started.check()

    def _answers(self) -> bool:
        """Say whether it takes a connection; the worker is started once something listens."""
        if not self._listens():
            return False
        if self._worker.worker is None:
            self._worker.start()
        if not self._open:
            try:
                self._worker.ask("open", engine=self.engine, path=self._url, settings=self._connection())
            except TrialFailed as refusal:
                self._still_starting(refusal)
                return False
            self._open, self._refused_from = True, None
        return True

    def _listens(self) -> bool:
        parts = urlsplit(self._url)
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=1.0):
                return True
        except OSError:
            return False

    def _still_starting(self, refusal: TrialFailed) -> None:
        """Raise the refusal where no waiting helps: the worker is gone, or the server has had its time."""
        worker, now = self._worker.worker, time.monotonic()
        self._refused_from = self._refused_from or now
        late = now - self._refused_from > self.refuses_seconds
        if self.elsewhere or late or worker is None or worker.ending() is not None:
            raise refusal

    def _connection(self) -> dict[str, Setting]:
        """Return what the worker's engine needs besides the URL."""
        return {}

    def version(self) -> str:
        """Return the version that the server states."""
        return str(self._worker.ask("version")["version"])

    def prepare(self) -> None:
        """Refuse a server with tables; the load creates them by its first batch."""
        if found := self._worker.ask("tables")["tables"]:
            raise self._holds_data(", ".join(found))

    def settle(self) -> None:
        """Have everything that is committed written to the tables' own files."""
        self._worker.ask("settle")

    def count(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table."""
        found = self._worker.ask("count")["tables"]
        return {name: TableCount(int(one["rows"]), dict(one["fields"])) for name, one in found.items()}

    def client(self, benchload: Path) -> EmbeddedClient:
        """Return the worker as the client, fed by benchload's generator."""
        return EmbeddedClient(
            self._worker,
            benchload,
            shares_process=False,
            program=f"Benchbook's worker in Python, {self.library}",
        )

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._started.tree() if self._started is not None else []

    def stop(self) -> None:
        """Close the connections, then SIGTERM and SIGKILL."""
        self._worker.stop()
        self._open = False
        if self._started is not None:
            self._started.stop()
            self._started = None
