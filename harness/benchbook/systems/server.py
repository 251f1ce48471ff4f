"""What drivers of servers have in common: one process, one address, one log."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.process.network import check_free
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.http import HttpAsk


class Server:
    """A server in one trial; a family says how it is configured, asked, settled, measured and counted."""

    target: ClassVar[str]
    """The name of benchload's target."""
    scheme: ClassVar[str] = "http"
    ready_seconds: ClassVar[float] = 120.0
    """How long it may take until it answers."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: spawn.Running | None = None
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
        self._running = spawn.start(
            self._command(), name=self._place.program.system, log=self._log, cwd=self._place.data,
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


COUNT_SECONDS = 900.0


class Inspected(Server):
    """A server whose version and counts benchload tells."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._benchload: Path | None = None

    def client(self, benchload: Path) -> Client:
        """Benchload, which is also what asks the server for its version and its counts."""
        self._benchload = benchload
        return super().client(benchload)

    def _answers(self) -> bool:
        try:
            self._inspect(timeout_seconds=10.0)
        except TrialFailed:
            return False
        return True

    def version(self) -> str:
        """Return what the server states."""
        self._check()
        return str(self._inspect()["version"])

    def prepare(self) -> None:
        """Refuse a server whose database has rows; benchload makes the tables."""
        held = [name for name, table in self.count().items() if table.rows]
        if held:
            raise self._holds_data(", ".join(held))

    def count(self) -> dict[str, TableCount]:
        """Rows and values of each table, as the server answers them to benchload."""
        self._check()
        tables = self._inspect("--count", timeout_seconds=COUNT_SECONDS).get("tables") or {}
        return {name: TableCount(int(one["rows"]), one["fields"] or {}) for name, one in tables.items()}

    def _inspect(self, *flags: str, timeout_seconds: float = 30.0) -> dict[str, Any]:
        assert self._benchload is not None
        command = [
            str(self._benchload), "inspect", "--target", self._target(), "--url", self._url,
            "--database", self._place.databases[0], "--timeout", f"{timeout_seconds:g}s", *flags,
        ]  # fmt: skip
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
                timeout=timeout_seconds + 10,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise TrialFailed(
                f"{self._place.program.system} at {self._url} did not answer within {timeout_seconds:.0f} s."
            ) from error
        if ran.returncode != 0:
            words = ran.stderr.strip().removeprefix("benchload: ")
            raise TrialFailed(f"{self._place.program.system} at {self._url}: {words}.")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found
