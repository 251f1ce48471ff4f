"""A packed-day service before Redis or Kvrocks: the place that QData has in the publication.

It belongs to the system under test: its processor time and memory count as the server's.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchbook.errors import TrialFailed, unknown
from benchbook.process import spawn
from benchbook.process.network import free_ports
from benchbook.systems.driver import Place, Setting

SETTING = "service"
"""The arm's setting that asks for one; it is no setting of the server's."""
KINDS = ("go", "python")
READY_SECONDS = 20.0


def split(settings: dict[str, Setting]) -> tuple[dict[str, Setting], str]:
    """Return the server's own settings, and the kind of service that the arm asks for (empty: none)."""
    own = {key: value for key, value in settings.items() if key != SETTING}
    kind = str(settings.get(SETTING, ""))
    if kind and kind not in KINDS:
        raise unknown("service", kind, KINDS, "the arm")
    return own, kind


class DayService:
    """One service in one trial."""

    def __init__(self, place: Place, kind: str) -> None:
        self._place = place
        self._kind = kind
        self._running: spawn.Running | None = None
        self.url = ""

    def start(self, benchload: Path, store: str) -> None:
        """Start it before the server at ``store``, and wait until it listens."""
        port = free_ports(1, self._place.host)[0]
        listen = f"{self._place.host}:{port}"
        self.url = f"http://{listen}"
        command: list[str | Path] = [benchload, "bars-service"]
        if self._kind == "python":
            command = [sys.executable, "-P", "-m", "benchbook.embedded.day_service"]
        self._running = spawn.start(
            [*command, "--listen", listen, "--store", store],
            name=f"the packed-day service ({self._kind})",
            log=self._place.logs / "service.log",
            registry=self._place.processes,
        )
        self._wait()

    def tree(self) -> list[int]:
        """Return its processes."""
        return self._running.tree() if self._running is not None else []

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()

    def stop(self) -> None:
        """Stop it."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    def _wait(self) -> None:
        import urllib.error
        import urllib.request

        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + READY_SECONDS
        while True:
            self.check()
            try:
                opener.open(f"{self.url}/ping", timeout=2.0).close()
            except (OSError, urllib.error.URLError):
                if time.monotonic() > deadline:
                    raise TrialFailed(
                        f"The packed-day service did not answer within {READY_SECONDS:.0f} s."
                    ) from None
                time.sleep(0.02)
            else:
                return
