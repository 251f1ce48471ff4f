"""InfluxDB 1.x, and the rule for when it is settled.

**Settled** means, for the benchmark's database: the in-memory cache of every shard is empty, and no compaction has run
or waited for longer than one round of the server's planner. The server flushes a cache only after it has grown to 25
MB or been idle for 10 minutes, and a restart does not flush it either. Therefore the server's own tool flushes it
shard by shard: ``influxd backup -since`` a day in the far future flushes a cache and then copies nothing. If the
server cannot create the hard links that a backup needs, as on a mounted bucket, the tool retries for minutes although
the cache is flushed; then it is stopped. Full compactions, which the server starts after 4 hours without a write, are
not awaited.

A waiting compaction starts within a round. The server stops planning for an idle shard; if that happens between the
end of a compaction and the next plan, its counter of waiting compactions stays unchanged forever. Therefore
compactions that wait for ten rounds while none runs do not count as work.

For an external server the backup port is unknown: its caches may keep their content, and only compactions are awaited.
"""

from __future__ import annotations

import subprocess
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.host import temporary
from benchbook.storage.driver import allocated, spread
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import DatabaseServer, Layout, check_settings, flat_keys, sections_text

SETTLE_SECONDS = 900.0
"""Time that compactions may take after a load before the trial fails."""
PLANNER_SECONDS = 1.0
"""Interval of the server's compaction planner; an idle server must stay idle for longer than one round."""
STALE_SECONDS = 10 * PLANNER_SECONDS
"""Time after which a counter of waiting compactions is taken as stale if no compaction runs."""
TOOL_SECONDS = 4.0
"""Time after which the tool is stopped if the cache is flushed, or else restarted with twice the time."""
FAR_FUTURE = "2200-01-01T00:00:00Z"

_LEVELS = ("tsmLevel1", "tsmLevel2", "tsmLevel3", "tsmFull", "tsmOptimize")
_RUNNING = ("cacheCompactionsActive", *(f"{level}CompactionsActive" for level in _LEVELS))
_WAITING = tuple(f"{level}CompactionQueue" for level in _LEVELS)
_DONE = ("cacheCompactions", *(f"{level}Compactions" for level in _LEVELS))

Statistics = Callable[[], list[dict[str, Any]]]
"""Returns the server's counters for the benchmark's database (``/debug/vars``)."""


def settle(statistics: Statistics, write_out: Callable[[], None] | None) -> float:
    """Wait until the server is settled; return for how many seconds it was only watched while idle.

    ``write_out`` flushes its caches; None if that is impossible, and the caches keep their content. Raise TrialFailed
    after SETTLE_SECONDS.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    last, since = None, time.monotonic()
    while True:
        work = _work(statistics())
        if work.held and write_out is not None:
            write_out()
            work = _work(statistics())
        if write_out is None:
            work = replace(work, held=0)
        now = time.monotonic()
        if work != last:
            last, since = work, now
        rest = STALE_SECONDS if work.waiting else PLANNER_SECONDS * 1.1
        if now - since > rest and not (work.held or work.running):
            return now - since
        if now > deadline:
            raise TrialFailed(
                f"InfluxDB did not settle in {SETTLE_SECONDS:.0f} s: {work.held} bytes are left in its caches, "
                f"{work.running} compactions run and {work.waiting} wait."
            )
        time.sleep(0.1)


@dataclass(frozen=True)
class Work:
    """Remaining work of a server, by its own counters."""

    held: int = 0
    """Bytes in caches."""
    running: int = 0
    """Compactions."""
    waiting: int = 0
    """Compactions that the planner has found but not started."""
    done: int = 0
    """Compactions since the start; the server works while this changes."""


@dataclass(frozen=True)
class Shard:
    """One shard, as the server's counters identify it."""

    database: str
    policy: str
    number: str


def cached(statistics: list[dict[str, Any]]) -> list[Shard]:
    """Return the shards whose caches are not empty."""
    return [
        Shard(one["tags"]["database"], one["tags"]["retentionPolicy"], one["tags"]["id"])
        for one in statistics
        if one["name"] == "tsm1_cache" and _work([one]).held
    ]


def write_out(place: Place, rpc: str, shard: Shard, written: Callable[[], bool]) -> None:
    """Flush the cache of a shard on the server whose backup port is ``rpc`` (host:port).

    ``written`` returns whether that cache is empty.
    """
    folder = temporary.folder("empty-backup")
    assert place.program.path is not None
    command: list[str | Path] = [
        place.program.path, "backup", "-portable", "-host", rpc, "-database", shard.database,
        "-retention", shard.policy, "-shard", shard.number, "-since", FAR_FUTURE, folder.name,
    ]  # fmt: skip
    limit = TOOL_SECONDS
    try:
        while True:
            try:
                ran = place.call(command, timeout_seconds=limit)
                break
            except subprocess.TimeoutExpired as error:
                if written():
                    return
                limit *= 2
                if limit > SETTLE_SECONDS:
                    raise TrialFailed(f"Could not flush InfluxDB's caches: {error}.") from error
    except OSError as error:
        raise TrialFailed(f"Could not flush InfluxDB's caches: {error}.") from error
    finally:
        folder.cleanup()
    if ran.returncode != 0:
        output = " ".join((ran.stderr or ran.stdout).split())[-500:]
        raise TrialFailed(f"Could not flush InfluxDB's caches: {output}")


def _work(statistics: list[dict[str, Any]]) -> Work:
    """Add up the counters of all shards."""
    total = Work()
    for one in statistics:
        values = one["values"]
        if one["name"] == "tsm1_cache":
            held = int(values.get("memBytes", 0)) + int(values.get("snapshotCount", 0))
            total = replace(total, held=total.held + held)
        elif one["name"] == "tsm1_engine":
            running, waiting, done = (
                sum(int(values.get(key, 0)) for key in keys) for keys in (_RUNNING, _WAITING, _DONE)
            )
            total = Work(total.held, total.running + running, total.waiting + waiting, total.done + done)
    return total


FILE = "influxdb.conf"
FOLDERS = {"meta.dir": "meta", "data.dir": "data", "data.wal-dir": "wal"}
"""Settings that name folders → their names in the data folder."""
APART = ("meta.dir", "data.wal-dir")
"""Those on a separate disk if the storage has several, as in the comparison with CnosDB."""


class InfluxDB1(DatabaseServer):
    """One InfluxDB 1.x in one trial."""

    target = "influx"
    ports = ("http", "rpc")
    reserved = tuple(FOLDERS)

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "influxd.log"
        self._folders = spread(place.data, FOLDERS, APART)

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration; an arm may choose the addresses."""
        settings: dict[str, Setting] = {
            "reporting-disabled": True, "bind-address": at.address("rpc"), "http.bind-address": at.address("http"),
            **at.below(self._folders),
            **self.settings,
        }  # fmt: skip
        return {FILE: sections_text(settings)}

    def initialise(self) -> None:
        """Use the addresses that the arm sets, and refuse settings that the server would ignore."""
        chosen = self.settings.get("http.bind-address"), self.settings.get("bind-address")
        self._addresses = [
            _connectable(str(address or free)) for address, free in zip(chosen, self._addresses, strict=True)
        ]
        self.url = f"http://{self._addresses[0]}"
        if self.settings:
            check_settings(self.settings, self._known_settings(), self.name)

    def _known_settings(self) -> list[str]:
        ran = self.place.call(
            [self.program, "config", "-config", self.place.config / FILE], timeout_seconds=30
        )
        if ran.returncode != 0:
            raise TrialFailed(
                f"{self.name} refuses its configuration: {' '.join(ran.stderr.split())}",
                "Correct the settings of this configuration (an arm) in the file of the system in systems/.",
            )
        return flat_keys(tomllib.loads(ran.stdout))

    def command(self) -> Sequence[str | Path]:
        return [self.program, "run", "-config", self.place.config / FILE]

    def answers(self) -> bool:
        return self.http.probe("/ping", 1.0) is not None

    def version(self) -> str:
        """Return the version in the server's ``X-Influxdb-Version`` header."""
        self.check_alive(0.0)
        answer = self.http.probe("/ping", 5.0)
        if answer is None:
            raise TrialFailed(f"{self.name} at {self.url} did not answer the request for its version.")
        return str(answer.headers.get("X-Influxdb-Version", "")).removeprefix("v")

    def query(self, statement: str, database: str = "") -> list[dict[str, Any]]:
        """Run one InfluxQL statement and return its series: ``name``, ``tags``, ``columns``, ``values``."""
        params = {"q": statement, "db": database, "epoch": "ns"}
        answer = self.http.json("/query", method="POST", params=params, what=statement)
        result = (answer.get("results") or [{}])[0]
        if "error" in result:
            raise TrialFailed(f"{self.name} refuses {statement}: {result['error']}.")
        return list(result.get("series", []))

    def databases(self) -> list[str]:
        return [row[0] for series in self.query("SHOW DATABASES") for row in series.get("values", [])]

    def tables(self, database: str) -> list[str]:
        """Return the name of one measurement, if there is any."""
        found = self.query("SHOW MEASUREMENTS LIMIT 1", database)
        return [row[0] for series in found for row in series.get("values", [])]

    def create(self, database: str) -> None:
        """Create a database that keeps old data forever."""
        self.query(f'CREATE DATABASE "{database}" WITH DURATION INF REPLICATION 1 NAME "autogen"')

    def reuse(self, database: str) -> None:
        """Check that an existing database keeps old data too; the server refuses another retention policy."""
        self.create(database)

    def drop(self, database: str) -> None:
        self.query(f'DROP DATABASE "{database}"')

    def drop_command(self, database: str) -> str:
        return f'influx -execute "DROP DATABASE {database}"'

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Count the non-null values of each field; a measurement has as many rows as its fullest field has values.

        InfluxDB has no rows: it merges points of the same series and time field by field.
        """
        counts: dict[str, TableCount] = {}
        for series in self.query("SELECT COUNT(*) FROM /.*/", database):
            values = dict(zip(series["columns"], series["values"][0], strict=True))
            # The columns cover all measurements; a measurement without the field has null.
            counts[series["name"]] = TableCount.of_fields(
                {
                    name.removeprefix("count_"): int(number)
                    for name, number in values.items()
                    if name != "time" and number is not None
                }
            )
        return counts

    def settle(self) -> None:
        """Flush every cache, then wait until compactions are done; this module's docstring defines the rule."""
        self.watched_seconds = settle(self._statistics, None if self.external else self._write_out)

    def _statistics(self) -> list[dict[str, Any]]:
        """Return the server's counters for the trial's databases: ``name``, ``tags`` and ``values``."""
        answer = self.http.json("/debug/vars", timeout_seconds=30.0)
        found = [one for one in answer.values() if isinstance(one, dict) and "values" in one]
        return [one for one in found if (one.get("tags") or {}).get("database") in self.place.databases]

    def _write_out(self) -> None:
        rpc = self._addresses[1]
        for shard in cached(self._statistics()):
            try:
                write_out(self.place, rpc, shard, lambda shard=shard: shard not in cached(self._statistics()))  # type: ignore[misc]
            except TrialFailed:
                self.check_alive()
                raise

    def size(self) -> dict[str, int]:
        """Return the bytes of data, wal, meta, and the server's statistics (monitor).

        For an external server, return the bytes that it reports for the shards of the databases.
        """
        if self.external:
            shards = [one["values"] for one in self._statistics() if one["name"] == "shard"]
            return {"data": sum(int(one.get("diskBytes", 0)) for one in shards)}
        data, wal, meta = (
            self.place.data / self._folders[key] for key in ("data.dir", "data.wal-dir", "meta.dir")
        )
        return {
            "data": sum(allocated(data / name) for name in self.place.databases),
            "wal": sum(allocated(wal / name) for name in self.place.databases),
            "meta": allocated(meta),
            "monitor": allocated(data / "_internal") + allocated(wal / "_internal"),
        }


driver = InfluxDB1


def _connectable(address: str) -> str:
    """Return ``host:port`` to connect to, from an address to listen on such as ``:8086``."""
    host, _, port = address.rpartition(":")
    return f"{host or '127.0.0.1'}:{port}"
