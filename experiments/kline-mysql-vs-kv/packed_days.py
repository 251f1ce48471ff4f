"""Key-value stores that hold packed days of bars, and the service in front of them.

The service has the role of the publication's QData. It is part of the system under test: its processor time and memory
count as the server's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.errors import TrialFailed, unknown
from benchbook.process import spawn
from benchbook.process.http import Http
from benchbook.process.network import free_ports
from benchbook.process.wait import until
from benchbook.systems import kvrocks, redis
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import Layout

SETTING = "service"
"""Setting of an arm that requests the service."""
KINDS = ("go", "python")
READY_SECONDS = 20.0
BAR_BYTES = 28
"""One bar in a packed day; ``client/bars/packedday`` describes the layout."""
BAR_FIELDS = ("open", "close", "high", "low", "volume", "amount", "turn")
FIELDS_PER_REQUEST = 10_000


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
            command = [sys.executable, "-P", Path(__file__).with_name("day_service.py")]
        self._running = spawn.start(
            [*command, "--listen", address, "--store", store],
            name=f"the packed-day service ({self._kind})",
            log=self._place.logs / "service.log",
            registry=self._place.processes,
        )
        if not until(self._answers, READY_SECONDS, pause=0.02):
            raise TrialFailed(
                f"The service in front of the store (arm service) did not answer within {READY_SECONDS:.0f} s."
            )

    def _answers(self) -> bool:
        assert self._running is not None
        self._running.check()
        return Http("The packed-day service", self.url).answers("/ping")

    def processes(self) -> list[int]:
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None


class PackedDays(redis.Redis):
    """A store in one trial: each hash has the days of some stocks."""

    harness_settings = (SETTING,)

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._service = DayService.wanted(place)
        self._client: BenchloadClient | None = None
        self._benchload = Path("benchload")

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration, and the kind of packed-day service."""
        service = {"service": f"{self.place.settings[SETTING]}\n"} if self._service else {}
        return super().files(at) | service

    def prepare(self) -> None:
        """Refuse a server that holds keys; start the packed-day service if the arm has one."""
        super().prepare()
        if self._service is not None:
            self._service.start(self._benchload, self.url)
            if self._client is not None:
                self._client.own_flags["bars-read"] = (f"--through={self._service.url}",)

    def count(self) -> dict[str, TableCount]:
        """Count the bars of packed days as the table ``finance``."""
        bars = 0
        for keys, kinds in self.keys():
            bars += sum(self._bars(key) for key, kind in zip(keys, kinds, strict=True) if kind == b"hash")
        return {"finance": TableCount(bars, dict.fromkeys(BAR_FIELDS, bars))} if bars else {}

    def _bars(self, key: bytes) -> int:
        total, fields = 0, self.within(lambda: self.connection().hkeys(key))
        for first in range(0, len(fields), FIELDS_PER_REQUEST):
            some = fields[first : first + FIELDS_PER_REQUEST]
            total += sum(self.pipeline("hstrlen", [(key, field) for field in some]))
        return total // BAR_BYTES

    def client(self, benchload: Path) -> BenchloadClient:
        """Return benchload with the Redis protocol, or with HTTP for the packed-day service."""
        self._benchload, self._client = benchload, super().client(benchload)
        return self._client

    def processes(self) -> list[int]:
        """Return the server's processes and the service's."""
        return super().processes() + (self._service.processes() if self._service is not None else [])

    def stop(self) -> None:
        """Stop the service, then the server."""
        if self._service is not None:
            self._service.stop()
        super().stop()


class Kvrocks(PackedDays, kvrocks.Kvrocks):
    """One Kvrocks in one trial."""
