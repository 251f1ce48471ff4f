"""InfluxDB 1.x: one server on free loopback ports, or one that already runs (``--system NAME=http://…``).

**Settled** means, for the benchmark's database: nothing is left in the in-memory cache of any shard, and no
compaction runs or waits for longer than one round of the server's planner. The server itself writes a cache
out only when it has grown to 25 MB or rested for 10 minutes, and a restart does not write it out either, so
``settle`` asks for it with the server's own tool: ``influxd backup -since`` a day in the far future writes
out every cache and then copies nothing. Full compactions, which the server starts after 4 hours without a
write, are not waited for. On a server that the harness did not start the backup port is unknown: there the
cache may keep what it holds, and only compactions are waited for.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems import influxdb1_config as config
from benchbook.systems import process
from benchbook.systems.benchload_client import BenchloadClient
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.influx_http import InfluxHttp

DATABASE = "benchbook"
SETTLE_SECONDS = 900.0
"""How long compactions may take after a load before the trial fails."""
PLANNER_SECONDS = 1.0
"""Interval of the server's compaction planner: rest is only believed when it outlasts one round."""
FAR_FUTURE = "2200-01-01T00:00:00Z"

_BUSY = (
    "cacheCompactionsActive",
    *(f"tsmLevel{level}Compactions{kind}" for level in (1, 2, 3) for kind in ("Active",)),
    *(f"tsmLevel{level}CompactionQueue" for level in (1, 2, 3)),
    "tsmFullCompactionsActive",
    "tsmFullCompactionQueue",
    "tsmOptimizeCompactionsActive",
    "tsmOptimizeCompactionQueue",
)


class InfluxDB1:
    """One InfluxDB 1.x server in one trial."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: process.Running | None = None
        self._created = False
        self._rpc = ""
        self._url = place.program.url or ""
        self._log = place.logs / "influxd.log"

    def configure(self) -> dict[str, str]:
        """Write ``influxdb.conf``; return it with folders and ports as ``{data}``, ``{http}``, ``{rpc}``.

        Those differ from trial to trial and are no part of what identifies a configuration.
        """
        place = self._place
        if place.program.url:
            return {}
        http_port, rpc_port = process.free_ports(2, place.host)
        shown = config.settings("{data}", "{http}", "{rpc}", place.settings)
        real = config.settings(
            str(place.data), f"{place.host}:{http_port}", f"{place.host}:{rpc_port}", place.settings
        )
        address = str(real["http.bind-address"])
        self._url, self._rpc = f"http://{_connectable(address)}", _connectable(str(real["bind-address"]))
        file = place.config / config.FILE
        file.write_text(config.text(real))
        config.check_known(self._program(), file, place.settings)
        return {config.FILE: config.text(shown)}

    def start(self) -> None:
        """Start ``influxd``; a server that already runs is left as it is."""
        if self._place.program.url:
            return
        for address in (self._url.removeprefix("http://"), self._rpc):
            _check_free(address)
        self._running = process.start(
            [self._program(), "run", "-config", self._place.config / config.FILE],
            words=self._place.program.system,
            log=self._log,
            cwd=self._place.data,
            registry=self._place.processes,
        )

    def ready(self) -> bool:
        """Say whether ``/ping`` answers; raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()
        return self._http().ping() is not None

    def prepare(self) -> None:
        """Create the database with a retention policy that keeps old data for ever."""
        http = self._http()
        if DATABASE in _names(http.query("SHOW DATABASES")):
            if http.query("SHOW MEASUREMENTS LIMIT 1", DATABASE):
                raise TrialFailed(
                    f'The database "{DATABASE}" of {self._url} already holds data.',
                    f'Look at it, then remove it with: influx -execute "DROP DATABASE {DATABASE}"',
                )
        else:
            self._created = True
        http.query(f'CREATE DATABASE "{DATABASE}" WITH DURATION INF REPLICATION 1 NAME "autogen"')

    def settle(self) -> None:
        """Have every cache written out, then wait until compactions rest; see the module's rule."""
        deadline = time.monotonic() + SETTLE_SECONDS
        rested_since: float | None = None
        while True:
            left, busy = self._unsettled()
            if left and self._running is not None:
                self._write_out()
                left, busy = self._unsettled()
            if self._running is None:
                left = 0
            now = time.monotonic()
            rested_since = None if left or busy else rested_since or now
            if rested_since is not None and now - rested_since > PLANNER_SECONDS * 1.1:
                return
            if now > deadline:
                raise TrialFailed(
                    f"InfluxDB did not settle in {SETTLE_SECONDS:.0f} s: "
                    f"{left} bytes are left in its caches and {busy} compactions run or wait.",
                    f"Its log is {self._log}.",
                )
            self._check()
            time.sleep(0.1)

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: data, wal, meta, and the server's own statistics (monitor).

        For a server elsewhere: the bytes it states for the shards of the database.
        """
        if self._place.program.url:
            shards = self._counters("shard")
            return {"data": sum(int(one.get("diskBytes", 0)) for one in shards)}
        data, wal, meta = (
            self._place.data / config.FOLDERS[key] for key in ("data.dir", "data.wal-dir", "meta.dir")
        )
        return {
            "data": allocated(data / DATABASE),
            "wal": allocated(wal / DATABASE),
            "meta": allocated(meta),
            "monitor": allocated(data / "_internal") + allocated(wal / "_internal"),
        }

    def version(self) -> str:
        """Return what the server states in its ``X-Influxdb-Version`` header."""
        self._check()
        stated = self._http().ping(timeout_seconds=5.0)
        if stated is None:
            raise TrialFailed(f"InfluxDB at {self._url} does not answer when asked for its version.")
        return stated.removeprefix("v")

    def count(self) -> dict[str, TableCount]:
        """Non-null values per field; rows are the values of the field that has most of them.

        InfluxDB has no rows of its own: points of one series and time are merged field by field.
        """
        self._check()
        counts: dict[str, TableCount] = {}
        for series in self._http().query("SELECT COUNT(*) FROM /.*/", DATABASE):
            values = dict(zip(series["columns"], series["values"][0], strict=True))
            # The columns are those of all measurements; where a measurement has no such field there is null.
            fields = {
                name.removeprefix("count_"): int(n)
                for name, n in values.items()
                if name != "time" and n is not None
            }
            counts[series["name"]] = TableCount(max(fields.values(), default=0), fields)
        return counts

    def client(self, benchload: Path) -> BenchloadClient:
        """Benchload, speaking line protocol and InfluxQL over HTTP."""
        return BenchloadClient(
            benchload,
            target="influx",
            url=lambda: self._url,
            database=DATABASE,
            log=self._place.logs / "benchload.log",
            registry=self._place.processes,
        )

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; on a server that already ran, drop the database that this trial made."""
        if self._running is not None:
            self._running.stop()
            self._running = None
        elif self._created:
            try:
                self._http().query(f'DROP DATABASE "{DATABASE}"')
                self._created = False
            except TrialFailed:
                pass  # it is gone, or the next trial's prepare will say that data is left

    def _program(self) -> Path:
        assert self._place.program.path is not None
        return self._place.program.path

    def _http(self) -> InfluxHttp:
        return InfluxHttp(self._url)

    def _check(self) -> None:
        if self._running is not None:
            self._running.check()

    def _counters(self, name: str) -> list[dict[str, Any]]:
        found = self._http().statistics()
        return [
            one["values"] for one in found if one["name"] == name and one["tags"].get("database") == DATABASE
        ]

    def _unsettled(self) -> tuple[int, int]:
        """Return the bytes that caches hold and the compactions that run or wait."""
        self._check()
        cached = sum(
            int(one.get("memBytes", 0)) + int(one.get("snapshotCount", 0))
            for one in self._counters("tsm1_cache")
        )
        busy = sum(int(one.get(key, 0)) for one in self._counters("tsm1_engine") for key in _BUSY)
        return cached, busy

    def _write_out(self) -> None:
        """Make the server write every cache of the database out as TSM files."""
        folder = tempfile.mkdtemp(prefix="benchbook-empty-backup-")
        command = [str(self._program()), "backup", "-portable", "-host", self._rpc]
        try:
            ran = subprocess.run(
                [*command, "-database", DATABASE, "-since", FAR_FUTURE, folder],
                stdin=subprocess.DEVNULL,
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SETTLE_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"InfluxDB's caches could not be written out: {error}.") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if ran.returncode != 0:
            self._check()
            words = " ".join((ran.stderr or ran.stdout).split())[-500:]
            raise TrialFailed(
                f"InfluxDB's caches could not be written out: {words}", f"Its log is {self._log}."
            )


def driver(place: Place) -> InfluxDB1:
    """Return the driver of one InfluxDB 1.x server."""
    return InfluxDB1(place)


def _names(series: list[dict[str, Any]]) -> list[str]:
    return [row[0] for one in series for row in one.get("values", [])]


def _connectable(address: str) -> str:
    """Return ``host:port`` to connect to, from what an arm may set to listen on (``:8086``)."""
    host, _, port = address.rpartition(":")
    return f"{host or '127.0.0.1'}:{port}"


def _check_free(address: str) -> None:
    """Raise TrialFailed when somebody listens on ``host:port``."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            raise TrialFailed(
                f"{address} cannot be listened on: {error}.",
                "Stop what uses that port, or take the bind-address out of the arm: one is then chosen.",
            ) from error
