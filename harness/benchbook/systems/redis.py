"""Redis, the base class of servers that speak its protocol, and the packed-day service in front of them.

The service has the role of the publication's QData. It is part of the system under test: its processor time and memory
count as the server's.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from benchbook.errors import TrialFailed, unknown
from benchbook.process import spawn
from benchbook.process.http import ANSWER_SECONDS, Http
from benchbook.process.network import free_ports
from benchbook.process.wait import until, within
from benchbook.systems.client import BenchloadBars
from benchbook.systems.driver import Client, Place, Setting, TableCount
from benchbook.systems.server import Layout, Server, settings_text

SETTING = "service"
"""Setting of an arm that requests the service."""
KINDS = ("go", "python")
READY_SECONDS = 20.0
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
"""Time limit of each read from the server; ``Redis.within`` limits the whole answer."""
PROBE_SECONDS = 5.0
T = TypeVar("T")


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


BAR_BYTES = 28
"""One bar in a packed day; ``harness/benchload/bars/packedday`` describes the layout."""
BAR_FIELDS = ("open", "close", "high", "low", "volume", "amount", "turn")
KEYS_PER_REQUEST = 500
FIELDS_PER_REQUEST = 10_000


class Redis(Server):
    """One Redis in one trial."""

    target = "redis"
    scheme = "redis"
    url_schemes = ("redis",)
    reserved: ClassVar[tuple[str, ...]] = ("bind", "port", "dir")
    harness_settings = (SETTING,)
    file: ClassVar[str] = "redis.conf"
    defaults: ClassVar[dict[str, Setting]] = {}
    """Required settings of the driver."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._connection: Any = None
        self._service = DayService.wanted(place)
        self._client: BenchloadBars | None = None
        self._benchload = Path("benchload")
        self._owns_keys = False
        """True if this trial wrote the keys of an external server."""

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration, and the kind of packed-day service."""
        settings = {
            "bind": at.host,
            "port": at.ports["port"],
            "dir": at.data,
            **self.defaults,
            **self.settings,
        }
        service = {"service": f"{self.place.settings[SETTING]}\n"} if self._service else {}
        return {self.file: self.text(settings)} | service

    def text(self, settings: dict[str, Any]) -> str:
        """Format settings as lines; an empty value becomes a pair of quotes."""
        quoted = {name: '""' if value == "" else value for name, value in settings.items()}
        return settings_text(quoted, "{} {}", booleans=("no", "yes"))

    def command(self) -> Sequence[str | Path]:
        return [self.program, self.place.config / self.file]

    def connection(self) -> Any:
        import redis

        if self._connection is None:
            # Kvrocks 2.8 speaks the second version of the protocol alone.
            self._connection = redis.Redis.from_url(
                self.url,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=READ_SECONDS,
                decode_responses=False,
                protocol=2,
            )
        return self._connection

    def within(self, call: Callable[[], T], seconds: float = ANSWER_SECONDS) -> T:
        """Return the result of a call of the connection; raise TrialFailed if it takes longer in total."""
        try:
            return within(seconds, call)
        except TimeoutError as error:
            self._connection = None
            raise TrialFailed(f"{self.name} at {self.url} gave {error}.") from None

    def ask(self, *words: str) -> Any:
        """Run a Redis command; raise TrialFailed with the server's error."""
        import redis

        try:
            return self.within(lambda: self.connection().execute_command(*words))
        except redis.RedisError as error:
            self.check_alive()
            raise TrialFailed(f"{self.name} at {self.url} refuses {words[0]}: {error}.") from None

    def info(self, section: str) -> dict[str, Any]:
        """Return a section of the server's INFO."""
        return dict(self.ask("INFO", section))

    def answers(self) -> bool:
        import redis

        try:
            return self.within(lambda: bool(self.connection().ping()), PROBE_SECONDS)
        except (redis.RedisError, TrialFailed):
            return False

    def version(self) -> str:
        """Return the version that INFO reports."""
        return str(self.info("server").get("redis_version", "unknown"))

    def prepare(self) -> None:
        """Refuse a server that holds keys; start the packed-day service if the arm has one."""
        if self.has_keys():
            raise self.holds_data("it has keys", f"redis-cli -u {self.url} flushdb")
        self._owns_keys = self.external
        if self._service is not None:
            self._service.start(self._benchload, self.url)
            if self._client is not None:
                self._client.own_flags["bars-read"] = (f"--through={self._service.url}",)

    def has_keys(self) -> bool:
        """Return whether the server has keys."""
        return bool(self.ask("DBSIZE"))

    def settle(self) -> None:
        """Write a snapshot, and wait until no snapshot and no log rewrite is in progress.

        By default the server writes one 60 s to an hour later, so the bytes on disk would depend on the moment.
        """
        self.ask("BGSAVE", "SCHEDULE")
        self.wait_settled(lambda: not self.busy(), "a snapshot or a log is still being written", pause=0.02)
        if self.info("persistence").get("rdb_last_bgsave_status") not in ("ok", None):
            raise TrialFailed(f"{self.name} could not write its snapshot.", f"The log is {self.log}.")

    def busy(self) -> dict[str, int]:
        """Return the server's nonzero counters of background work."""
        names = ("rdb_bgsave_in_progress", "rdb_bgsave_scheduled", "aof_rewrite_in_progress")
        stated = self.info("persistence")
        return {name: int(stated[name]) for name in names if int(stated.get(name, 0))}

    def size(self) -> dict[str, int]:
        """Return the bytes on disk; for an external server, the memory that it reports for data."""
        if self.external:
            return {"data": int(self.info("memory").get("used_memory_dataset", 0))}
        return self.disk_usage()

    def count(self) -> dict[str, TableCount]:
        """Count the bars of packed days as the table ``finance``, and strings as ``objects``."""
        bars = objects = 0
        for keys in self._keys():
            kinds = self._pipeline("type", [(key,) for key in keys])
            objects += sum(1 for kind in kinds if kind == b"string")
            bars += sum(self._bars(key) for key, kind in zip(keys, kinds, strict=True) if kind == b"hash")
        found = {"finance": TableCount(bars, dict.fromkeys(BAR_FIELDS, bars))} if bars else {}
        return found | ({"objects": TableCount(objects)} if objects else {})

    def _bars(self, key: bytes) -> int:
        total, fields = 0, self.within(lambda: self.connection().hkeys(key))
        for first in range(0, len(fields), FIELDS_PER_REQUEST):
            some = fields[first : first + FIELDS_PER_REQUEST]
            total += sum(self._pipeline("hstrlen", [(key, field) for field in some]))
        return total // BAR_BYTES

    def _keys(self) -> Iterator[list[bytes]]:
        names = self.connection().scan_iter(count=KEYS_PER_REQUEST)
        while keys := self.within(lambda: list(itertools.islice(names, KEYS_PER_REQUEST))):
            yield keys

    def _pipeline(self, command: str, arguments: list[tuple[bytes, ...]]) -> list[Any]:
        """Run a command once for each tuple of arguments, in one round trip."""
        pipe = self.connection().pipeline(transaction=False)
        for some in arguments:
            getattr(pipe, command)(*some)
        return self.within(lambda: list(pipe.execute()))

    def client(self, benchload: Path) -> Client:
        """Return benchload with the Redis protocol, or with HTTP for the packed-day service."""
        self._benchload = benchload
        options = self.client_options(self.place.databases[0], self.place.logs / "benchload.log")
        program = f"benchload, {'HTTP' if self._service else 'go-redis'}"
        self._client = BenchloadBars(benchload, program=program, **options)
        return self._client

    def processes(self) -> list[int]:
        return super().processes() + (self._service.processes() if self._service is not None else [])

    def stop(self) -> None:
        """Stop the service and the server; remove this trial's keys from an external server."""
        if self._service is not None:
            self._service.stop()
        if self._owns_keys:
            self._owns_keys = False
            with contextlib.suppress(TrialFailed):
                self.ask("FLUSHDB")
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        super().stop()


driver = Redis
