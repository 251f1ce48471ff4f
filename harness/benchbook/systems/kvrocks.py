"""Apache Kvrocks: RocksDB behind the Redis protocol, driven as Redis is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Place, Setting
from benchbook.systems.redis import SETTLE_SECONDS, Redis

IN_CONTAINERS = True
URL_SCHEMES = ("redis",)


class Kvrocks(Redis):
    """One Kvrocks in one trial."""

    file: ClassVar[str] = "kvrocks.conf"
    own: ClassVar[tuple[str, ...]] = ("bind", "port", "dir", "log-dir", "daemonize")

    def settle(self) -> None:
        """Write the memtables out and compact everything, then wait until no flush and no compaction runs."""
        self._ask("COMPACT")
        deadline = time.monotonic() + SETTLE_SECONDS
        while any(self.busy().values()):
            if time.monotonic() > deadline:
                raise TrialFailed(f"The server at {self.url} still compacted after {SETTLE_SECONDS:.0f} s.")
            time.sleep(0.05)

    def busy(self) -> dict[str, int]:
        """Return the counters of INFO that are above zero while the server writes or compacts."""
        stated = {**self._info("rocksdb"), **self._info("keyspace"), **self._info("persistence")}
        found = {}
        for key, value in stated.items():
            name = key.partition("[")[0]
            if name in ("num_running_compactions", "num_running_flushes", "compaction_pending",
                        "memtable_flush_pending"):  # fmt: skip
                found[key] = int(value)
            elif name == "is_compacting":
                found[key] = int(value in ("yes", 1))
        return found

    def version(self) -> str:
        """Return Kvrocks' own version; ``redis_version`` is only what it is compatible with."""
        stated = self._info("server")
        return str(stated.get("kvrocks_version", stated.get("version", "unknown")))

    def _holds(self) -> bool:
        # DBSIZE is an estimate there, so the keys are scanned.
        return next(iter(self.connection().scan_iter(count=1)), None) is not None

    def _harness(self, data: str, host: str, port: str) -> dict[str, Setting]:
        return {**super()._harness(data, host, port), "log-dir": "stdout", "daemonize": False}

    def _command(self, config: Path) -> list[str | Path]:
        assert self._place.program.path is not None
        return [self._place.program.path, "-c", config]


def driver(place: Place) -> Kvrocks:
    """Return the driver of one Kvrocks."""
    return Kvrocks(place)
