"""Apache Kvrocks: RocksDB behind the Redis protocol, with the driver of Redis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from benchbook.declare.level import Setting
from benchbook.systems.redis import Redis

RUNNING = ("num_running_compactions", "num_running_flushes", "compaction_pending", "memtable_flush_pending")


class Kvrocks(Redis):
    """One Kvrocks in one trial."""

    reserved = (*Redis.reserved, "log-dir", "daemonize")
    file = "kvrocks.conf"
    defaults: ClassVar[dict[str, Setting]] = {"log-dir": "stdout", "daemonize": False}

    def command(self) -> Sequence[str | Path]:
        return [self.program, "-c", self.place.config / self.file]

    def version(self) -> str:
        """Return Kvrocks' version; ``redis_version`` is the version of Redis with which it is compatible."""
        stated = self.info("server")
        return str(stated.get("kvrocks_version", stated.get("version", "unknown")))

    def has_keys(self) -> bool:
        """Return whether the server has keys, by a scan, because its DBSIZE is an estimate."""
        return self.within(lambda: next(iter(self.connection().scan_iter(count=1)), None)) is not None

    def settle(self) -> None:
        """Flush the memtables, compact everything, then wait until no flush and no compaction runs."""
        self.ask("COMPACT")
        self.wait_settled(lambda: not self.busy(), "flushes or compactions still run", pause=0.05)

    def busy(self) -> dict[str, int]:
        """Return the server's nonzero counters of flushes and compactions."""
        stated = {**self.info("rocksdb"), **self.info("keyspace"), **self.info("persistence")}
        found = {}
        for key, value in stated.items():
            name = key.partition("[")[0]
            if name in RUNNING:
                found[key] = int(value)
            elif name == "is_compacting":
                found[key] = int(value in ("yes", 1))
        return {key: value for key, value in found.items() if value}


driver = Kvrocks
