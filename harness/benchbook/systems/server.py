"""What drivers of servers have in common: one process, one address, one log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.errors import TrialFailed
from benchbook.systems import process
from benchbook.systems.benchload_client import BenchloadClient
from benchbook.systems.driver import Client, Place
from benchbook.systems.http_ask import HttpAsk
from benchbook.systems.ports import check_free


class Server:
    """A server in one trial; a family says how it is configured, asked, settled, measured and counted."""

    target: ClassVar[str]
    """The name of benchload's target."""
    scheme: ClassVar[str] = "http"
    ready_seconds: ClassVar[float] = 120.0
    """How long it may take until it answers."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: process.Running | None = None
        self._url = place.program.url or ""
        self._addresses: list[str] = []
        self._log = place.logs / "server.log"
        self.watched_seconds = 0.0

    @property
    def elsewhere(self) -> bool:
        """Whether it runs already and is only used."""
        return self._place.program.url is not None

    def configure(self) -> dict[str, str]:
        """Write the configuration; ports and folders are placeholders in what is returned."""
        return {} if self.elsewhere else self._configure()

    def _configure(self) -> dict[str, str]:
        raise NotImplementedError

    def _command(self) -> Sequence[str | Path]:
        raise NotImplementedError

    def _environment(self) -> dict[str, str]:
        return {}

    def start(self) -> None:
        """Start the server; one that already runs is left as it is."""
        if self.elsewhere:
            return
        for address in self._addresses:
            check_free(address)
        self._running = process.start(
            self._command(), words=self._place.program.system, log=self._log, cwd=self._place.data,
            registry=self._place.processes, environment=self._environment(),
        )  # fmt: skip

    def ready(self) -> bool:
        """Say whether it answers; raise TrialFailed with its last words when it has died."""
        self._check()
        return self._answers()

    def _answers(self) -> bool:
        raise NotImplementedError

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking the system's own protocol."""
        return BenchloadClient(
            benchload, target=self._target(), url=lambda: self._url, database=self._place.databases[0],
            log=self._place.logs / "benchload.log", registry=self._place.processes,
        )  # fmt: skip

    def _target(self) -> str:
        return self.target

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; data in a server that already ran is left, and the next trial refuses it."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    def _check(self) -> None:
        if self._running is not None:
            self._running.check()

    def _http(self) -> HttpAsk:
        self._check()
        return HttpAsk(self._place.program.system, self._url)

    def _holds_data(self, what: str) -> TrialFailed:
        """Return the refusal of a database that is not empty."""
        return TrialFailed(
            f"{self._place.program.system} at {self._url} already holds data: {what}.",
            "Look at it and remove it, or give a server without data.",
        )

    def _program(self) -> Path:
        assert self._place.program.path is not None
        return self._place.program.path
