"""Base class of servers with a Python client library: the server, and a worker that holds its connections."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Place, Setting, TableCount
from benchbook.systems.python_worker import PythonWorker, WorkerClient
from benchbook.systems.server import Server


class PythonServer(Server):
    """A server in one trial; a worker with the engine ``engine`` talks to it."""

    engine: ClassVar[str]
    title: ClassVar[str]
    library: ClassVar[str]
    """The client library, for the report."""
    refusal_seconds: ClassVar[float] = 60.0
    """Time that it may refuse every connection while it starts, although it listens."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._worker = PythonWorker(place, "client", f"{self.title} client")
        self._open = False
        self._refused_since: float | None = None

    def connection(self) -> dict[str, Setting]:
        """Return what the worker's engine needs to connect in addition to the URL."""
        return {}

    def answers(self) -> bool:
        """Return whether it accepts a connection; start the worker as soon as something listens."""
        if not self._listens():
            return False
        if self._worker.worker is None:
            self._worker.start()
        if not self._open:
            try:
                self._worker.ask("open", engine=self.engine, path=self.url, settings=self.connection())
            except TrialFailed as refusal:
                self._tolerate(refusal)
                return False
            self._open, self._refused_since = True, None
        return True

    def _listens(self) -> bool:
        parts = urlsplit(self.url)
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=1.0):
                return True
        except OSError:
            return False

    def _tolerate(self, refusal: TrialFailed) -> None:
        """Raise the refusal if waiting does not help: the worker has ended, or the server has refused for too long."""
        worker, now = self._worker.worker, time.monotonic()
        self._refused_since = self._refused_since or now
        late = now - self._refused_since > self.refusal_seconds
        if self.external or late or worker is None or worker.ending() is not None:
            raise refusal

    def version(self) -> str:
        """Return the version that the server reports."""
        return str(self._worker.ask("version")["version"])

    def prepare(self) -> None:
        """Refuse a server with tables; the first batch of a load creates them."""
        if found := self._worker.ask("tables")["tables"]:
            raise self.holds_data(", ".join(found))

    def settle(self) -> None:
        """Write all committed data to the tables' files."""
        self._worker.ask("settle")

    def count(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table."""
        return self._worker.count()

    def client(self, benchload: Path) -> WorkerClient:
        """Return the worker as the client, fed by benchload's generator."""
        program = f"Benchbook's worker in Python, {self.library}"
        return WorkerClient(self._worker, benchload, shares_process=False, program=program)

    def stop(self) -> None:
        """Close the connections, then stop the server."""
        self._worker.stop()
        self._open = False
        super().stop()
