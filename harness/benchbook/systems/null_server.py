"""The null server: ``benchload null-server``, which counts what it is sent and keeps nothing.

What a client reaches against it is the client's own limit, so load tools are compared on it.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.process.network import free_ports
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Place, TableCount

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NullServer:
    """One null server in one trial."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: spawn.Running | None = None
        self.url = place.program.url or ""
        self.watched_seconds = 0.0

    def configure(self) -> dict[str, str]:
        """Choose a port; there is no configuration but the arm's switches."""
        if not self._place.program.url:
            self.url = f"http://{self._place.host}:{free_ports(1, self._place.host)[0]}"
        return {}

    def start(self) -> None:
        """Start it."""
        program = self._place.program
        if program.url:
            return
        assert program.path is not None
        switches = [f"--{name}={str(value).lower()}" for name, value in self._place.settings.items()]
        self._running = spawn.start(
            [program.path, "null-server", "--listen", self.url.removeprefix("http://"), *switches],
            name="the null server",
            log=self._place.logs / "null-server.log",
            registry=self._place.processes,
        )

    def ready(self) -> bool:
        """Say whether it answers."""
        if self._running is not None:
            self._running.check()
        try:
            self._counts()
        except TrialFailed:
            return False
        return True

    def prepare(self) -> None:
        """Do nothing: it has no databases."""

    def settle(self) -> None:
        """Do nothing: it keeps nothing."""

    def size(self) -> dict[str, int]:
        """Return nothing, for the same reason."""
        return {"data": 0}

    def version(self) -> str:
        """Return the version of the load tool, which it is."""
        return self._place.program.version

    def count(self) -> dict[str, TableCount]:
        """Return no tables: it does not tell rows apart."""
        return {}

    def received(self) -> int:
        """Return the rows that it was sent since it was started."""
        return int(self._counts()["rows"])

    def client(self, benchload: Path) -> BenchloadClient:
        """Benchload, speaking line protocol."""
        return BenchloadClient(
            benchload, target="influx", url=lambda: self.url, database="benchbook",
            log=self._place.logs / "benchload.log", registry=self._place.processes,
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return its process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """Stop it."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    def _counts(self) -> dict[str, Any]:
        try:
            with _OPENER.open(f"{self.url}/count", timeout=5.0) as answer:
                counts: dict[str, Any] = json.loads(answer.read())
        except (OSError, ValueError, urllib.error.URLError) as error:
            raise TrialFailed(f"The null server at {self.url} does not tell its counts: {error}.") from None
        return counts


def driver(place: Place) -> NullServer:
    """Return the driver of one null server."""
    return NullServer(place)
