"""Redis, the base class of servers that speak its protocol."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.process.http import ANSWER_SECONDS
from benchbook.process.wait import within
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.quoting import in_quotes
from benchbook.systems.server import MISREADINGS, Layout, Server, settings_text

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
"""Time limit of each read from the server; ``Redis.within`` limits the whole answer."""
PROBE_SECONDS = 5.0
T = TypeVar("T")


KEYS_PER_REQUEST = 500


class Redis(Server):
    """One Redis in one trial."""

    target = "redis"
    packages = ("redis",)
    scheme = "redis"
    url_schemes = ("redis",)
    reserved: ClassVar[tuple[str, ...]] = ("bind", "port", "dir")
    file: ClassVar[str] = "redis.conf"
    defaults: ClassVar[dict[str, Setting]] = {}
    """Required settings of the driver."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._connection: Any = None
        self._owns_keys = False
        """True if this trial wrote the keys of an external server."""

    def files(self, at: Layout) -> dict[str, str]:
        settings = {
            "bind": at.host,
            "port": at.ports["port"],
            "dir": in_quotes(at.data),
            **self.defaults,
            **self.settings,
        }
        return {self.file: self.text(settings)}

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
        except MISREADINGS as error:  # of the library, whose parser trusts the server
            self._connection = None
            raise TrialFailed(
                f"{self.name} at {self.url} gave an answer that is not of the form that Benchbook expects"
                f" ({type(error).__name__}: {error})."
            ) from error

    def ask(self, *words: str) -> Any:
        """Run a Redis command; raise TrialFailed with the server's error."""
        import redis

        try:
            found = self.within(lambda: self.connection().execute_command(*words))
            self._note_answer(f"{' '.join(words)} with {repr(found)[:200]}")
            return found
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
        """Refuse a server that holds keys."""
        if self.has_keys():
            raise self.holds_data("it has keys", f"redis-cli -u {self.url} flushdb")
        self._owns_keys = self.external

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
        """Count strings as the table ``objects``."""
        objects = sum(kinds.count(b"string") for _, kinds in self.keys())
        return {"objects": TableCount(objects)} if objects else {}

    def keys(self) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Yield some keys at a time, and the types of their values."""
        names = self.connection().scan_iter(count=KEYS_PER_REQUEST)
        while keys := self.within(lambda: list(itertools.islice(names, KEYS_PER_REQUEST))):
            yield keys, self.pipeline("type", [(key,) for key in keys])

    def pipeline(self, command: str, arguments: list[tuple[bytes, ...]]) -> list[Any]:
        """Run a command once for each tuple of arguments, in one round trip."""
        pipe = self.connection().pipeline(transaction=False)
        for some in arguments:
            getattr(pipe, command)(*some)
        return self.within(lambda: list(pipe.execute()))

    def client(self, benchload: Path) -> BenchloadClient:
        """Return benchload with the Redis protocol."""
        options = self.client_options(self.place.databases[0], self.place.logs / "benchload.log")
        return BenchloadClient(benchload, **options)

    def stop(self) -> None:
        """Stop the server; remove this trial's keys from an external one."""
        if self._owns_keys:
            self._owns_keys = False
            with contextlib.suppress(TrialFailed):
                self.ask("FLUSHDB")
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        super().stop()


driver = Redis
