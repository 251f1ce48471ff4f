"""A packed-day service in front of Redis or Kvrocks, in the role of the publication's QData.

It is part of the system under test: its processor time and memory count as the server's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.errors import TrialFailed, unknown
from benchbook.process import spawn
from benchbook.process.http import Http
from benchbook.process.network import free_ports
from benchbook.process.wait import until
from benchbook.systems.driver import Place

SETTING = "service"
"""Setting of an arm that requests the service."""
KINDS = ("go", "python")
READY_SECONDS = 20.0


class DayService:
    """One service in one trial."""

    def __init__(self, place: Place, kind: str) -> None:
        self._place = place
        self._kind = kind
        self._running: spawn.Running | None = None
        self.url = ""

    @classmethod
    def wanted(cls, place: Place) -> DayService | None:
        """Return the service that the arm requests, or None."""
        kind = str(place.settings.get(SETTING, ""))
        if kind and kind not in KINDS:
            raise unknown("service", kind, KINDS, "the arm")
        return cls(place, kind) if kind else None

    def start(self, benchload: Path, store: str) -> None:
        """Start it in front of the server at ``store``, and wait until it listens."""
        (port,) = free_ports(1, self._place.host)
        address = f"{self._place.host}:{port}"
        self.url = f"http://{address}"
        command: list[str | Path] = [benchload, "bars-service"]
        if self._kind == "python":
            command = [sys.executable, "-P", "-m", "benchbook.embedded.day_service"]
        self._running = spawn.start(
            [*command, "--listen", address, "--store", store],
            name=f"the packed-day service ({self._kind})",
            log=self._place.logs / "service.log",
            registry=self._place.processes,
        )
        if not until(self._answers, READY_SECONDS, pause=0.02):
            raise TrialFailed(f"The packed-day service did not answer within {READY_SECONDS:.0f} s.")

    def _answers(self) -> bool:
        assert self._running is not None
        self._running.check()
        return Http("The packed-day service", self.url).answers("/ping")

    def processes(self) -> list[int]:
        """Return its process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """Stop it."""
        if self._running is not None:
            self._running.stop()
            self._running = None
