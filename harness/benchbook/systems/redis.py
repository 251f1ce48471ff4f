"""Redis and servers that speak its protocol: one server on a free loopback port."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any, ClassVar

from benchbook.errors import TrialFailed
from benchbook.process.launch import Started
from benchbook.process.network import check_free, free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.client import BenchloadBars
from benchbook.systems.day_service import SETTING, DayService, split
from benchbook.systems.driver import Client, Place, Setting, TableCount

# What benchload stores in Redis and Kvrocks, counted: packed days of bars (hashes) and objects (strings).

BAR_BYTES = 28
"""One bar in a packed day; the layout is described in ``harness/benchload/packedday``."""
BAR_FIELDS = ("open", "close", "high", "low", "volume", "amount", "turn")
BATCH_KEYS = 500


def count(connection: Any) -> dict[str, TableCount]:
    """Return the bars of the packed days as the table ``finance``, and the strings as ``objects``."""
    bars = objects = 0
    for keys in _batches(connection):
        pipe = connection.pipeline(transaction=False)
        for key in keys:
            pipe.type(key)
        kinds = pipe.execute()
        objects += sum(1 for kind in kinds if kind == b"string")
        for key, kind in zip(keys, kinds, strict=True):
            if kind == b"hash":
                bars += _bars(connection, key)
    found = {"finance": TableCount(bars, dict.fromkeys(BAR_FIELDS, bars))} if bars else {}
    return found | ({"objects": TableCount(objects)} if objects else {})


def _bars(connection: Any, key: bytes) -> int:
    total, fields = 0, connection.hkeys(key)
    for first in range(0, len(fields), 10_000):
        pipe = connection.pipeline(transaction=False)
        for field in fields[first : first + 10_000]:
            pipe.hstrlen(key, field)
        total += sum(pipe.execute())
    return total // BAR_BYTES


def _batches(connection: Any) -> Any:
    batch: list[bytes] = []
    for key in connection.scan_iter(count=BATCH_KEYS):
        batch.append(key)
        if len(batch) == BATCH_KEYS:
            yield batch
            batch = []
    if batch:
        yield batch


# Redis and what speaks its protocol: one server on a free loopback port.

IN_CONTAINERS = True
URL_SCHEMES = ("redis",)

SETTLE_SECONDS = 900.0
"""How long a snapshot may take after a load before the trial fails."""


class Redis:
    """One Redis in one trial."""

    file: ClassVar[str] = "redis.conf"
    own: ClassVar[tuple[str, ...]] = ("bind", "port", "dir")
    """Keys that the harness sets; no arm may."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: Started | None = None
        self.watched_seconds = 0.0
        self.url = place.program.url or ""
        self._connection: Any = None
        self._settings, kind = split(place.settings)
        self._service = DayService(place, kind) if kind else None
        self._client: BenchloadBars | None = None
        self._benchload = Path("benchload")
        self._ours = False
        """Whether the keys of a server that already ran are this trial's."""

    def configure(self) -> dict[str, str]:
        """Write the configuration file; return it with folder and port as ``{data}`` and ``{port}``."""
        place = self._place
        if place.program.url:
            return {}
        for key in self.own:
            if key in self._settings:
                raise TrialFailed(f'The arm sets "{key}", which the harness sets.', "Take it out of the arm.")
        port = free_ports(1, place.host)[0]
        self.url = f"redis://{place.host}:{port}"
        real = self._harness(str(place.data), place.host, str(port)) | self._settings
        (place.config / self.file).write_text(text(real))
        shown = {self.file: text(self._harness("{data}", place.host, "{port}") | self._settings)}
        return shown | ({"service": f"{place.settings[SETTING]}\n"} if self._service else {})

    def start(self) -> None:
        """Start the server; one that already runs is left as it is."""
        if self._place.program.url:
            return
        check_free(self.url.removeprefix("redis://"))
        self._running = self._place.start(
            self._command(self._place.config / self.file),
            name=self._place.program.system,
            log=self._place.logs / "server.log",
            cwd=self._place.data,
        )

    def ready(self) -> bool:
        """Say whether PING is answered; raise TrialFailed with its last words when it has died."""
        import redis

        if self._running is not None:
            self._running.check()
        try:
            return bool(self.connection().ping())
        except redis.RedisError:
            return False

    def prepare(self) -> None:
        """Refuse a server that holds keys; start the packed-day service where the arm has one."""
        if self._holds():
            raise TrialFailed(
                f"The server at {self.url} already holds data.",
                f"Look at it, then remove it with: redis-cli -u {self.url} flushdb",
            )
        self._ours = self._place.program.url is not None
        if self._service is not None:
            self._service.start(self._benchload, self.url)
            if self._client is not None:
                self._client.through = self._service.url

    def settle(self) -> None:
        """Have a snapshot written, and wait until none is being written and no log is rewritten.

        The vanilla server would write one itself 60 s to an hour later, so without it the bytes on disk would
        say when they were looked at, not how many there are.
        """
        self._ask("BGSAVE", "SCHEDULE")
        self._rest(("rdb_bgsave_in_progress", "rdb_bgsave_scheduled", "aof_rewrite_in_progress"))
        if self._info("persistence").get("rdb_last_bgsave_status") not in ("ok", None):
            raise TrialFailed(f"The server at {self.url} could not write its snapshot; its log says why.")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk, and the memory that the server says it uses for data."""
        if self._place.program.url:
            return {"data": int(self._info("memory").get("used_memory_dataset", 0))}
        return {"data": allocated(self._place.data)}

    def version(self) -> str:
        """Return what INFO states."""
        return str(self._info("server").get("redis_version", "unknown"))

    def count(self) -> dict[str, TableCount]:
        """Count what is stored, by reading the length of every value; the layouts are ``redis_layout``'s."""
        return count(self.connection())

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking the Redis protocol, or HTTP with the packed-day service."""
        self._benchload = benchload
        library = "HTTP" if self._service else "go-redis"
        self._client = BenchloadBars(
            benchload, defects=frozenset({"undecoded"}), program=f"benchload, {library}",
            target="redis", url=lambda: self.url, database=self._place.databases[0],
            log=self._place.logs / "benchload.log", registry=self._place.processes,
        )  # fmt: skip
        return self._client

    def processes(self) -> list[int]:
        """Return the process tree of the server, and of the service before it; empty for a server elsewhere."""
        own = self._running.tree() if self._running is not None else []
        return own + (self._service.tree() if self._service is not None else [])

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; a server that already ran loses the keys of this trial."""
        if self._service is not None:
            self._service.stop()
        if self._ours:
            self._ours = False
            with contextlib.suppress(TrialFailed):
                self._ask("FLUSHDB")
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._running is not None:
            self._running.stop()
            self._running = None

    def connection(self) -> Any:
        """Return the driver's own connection."""
        import redis

        if self._connection is None:
            self._connection = redis.Redis.from_url(self.url, socket_timeout=60.0, decode_responses=False)
        return self._connection

    def _holds(self) -> bool:
        return bool(self._ask("DBSIZE"))

    def _harness(self, data: str, host: str, port: str) -> dict[str, Setting]:
        return {"bind": host, "port": port, "dir": data}

    def _command(self, config: Path) -> list[str | Path]:
        assert self._place.program.path is not None
        return [self._place.program.path, config]

    def _ask(self, *words: str) -> Any:
        import redis

        try:
            return self.connection().execute_command(*words)
        except redis.RedisError as error:
            if self._running is not None:
                self._running.wait_ending(0.5)
                self._running.check()
            raise TrialFailed(f"The server at {self.url} does not do {words[0]}: {error}.") from None

    def _info(self, section: str) -> dict[str, Any]:
        return dict(self._ask("INFO", section))

    def _rest(self, busy: tuple[str, ...]) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while any(int(self._info("persistence").get(key, 0)) for key in busy):
            if time.monotonic() > deadline:
                raise TrialFailed(f"The server at {self.url} was still writing after {SETTLE_SECONDS:.0f} s.")
            time.sleep(0.02)


def text(settings: dict[str, Setting]) -> str:
    r"""Write ``key value`` lines, in an order that depends on the keys alone.

    >>> text({"port": 1, "appendonly": True, "save": ""})
    'appendonly yes\nport 1\nsave ""\n'
    """
    words = {True: "yes", False: "no"}
    shown = {key: words[value] if isinstance(value, bool) else str(value) for key, value in settings.items()}
    return "".join(f"{key} {shown[key] or chr(34) * 2}\n" for key in sorted(shown))


def driver(place: Place) -> Redis:
    """Return the driver of one Redis."""
    return Redis(place)
