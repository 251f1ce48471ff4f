"""InfluxDB 1.x: one server on free loopback ports, or one that already runs (``--system NAME=http://…``)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems import influxdb1_config as config
from benchbook.systems.benchload_client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.influx_http import InfluxHttp
from benchbook.systems.influxdb1_settle import cached, settle, write_out
from benchbook.systems.launch import Started
from benchbook.systems.ports import check_free, free_ports
from benchbook.systems.several_clients import of_databases

_T = TypeVar("_T")

IN_CONTAINERS = True


class InfluxDB1:
    """One InfluxDB 1.x server in one trial."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: Started | None = None
        self._created: list[str] = []
        self.watched_seconds = 0.0
        """How long the last ``settle`` only watched that compactions rest; it waited for nothing then."""
        self._rpc = ""
        self._url = place.program.url or ""
        self._log = place.logs / "influxd.log"

    @property
    def url(self) -> str:
        """Where it answers, once it was configured: for tools that are told an address."""
        return self._url

    def configure(self) -> dict[str, str]:
        """Write ``influxdb.conf``; return it with folders and ports as ``{data}``, ``{http}``, ``{rpc}``.

        Those differ from trial to trial and are no part of what identifies a configuration.
        """
        place = self._place
        if place.program.url:
            return {}
        http_port, rpc_port = free_ports(2, place.host)
        shown = config.settings("{data}", "{http}", "{rpc}", place.settings)
        real = config.settings(
            str(place.data), f"{place.host}:{http_port}", f"{place.host}:{rpc_port}", place.settings
        )
        address = str(real["http.bind-address"])
        self._url, self._rpc = f"http://{_connectable(address)}", _connectable(str(real["bind-address"]))
        file = place.config / config.FILE
        file.write_text(config.text(real))
        config.check_known(place, file)
        return {config.FILE: config.text(shown)}

    def start(self) -> None:
        """Start ``influxd``; a server that already runs is left as it is."""
        if self._place.program.url:
            return
        for address in (self._url.removeprefix("http://"), self._rpc):
            check_free(address)
        self._running = self._place.start(
            [self._program(), "run", "-config", self._place.config / config.FILE],
            words=self._place.program.system,
            log=self._log,
            cwd=self._place.data,
        )

    def ready(self) -> bool:
        """Say whether ``/ping`` answers; raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()
        return self._http().ping() is not None

    def prepare(self) -> None:
        """Create each database with a retention policy that keeps old data for ever."""
        known = _names(self._query("SHOW DATABASES"))
        for database in self._place.databases:
            if database in known:
                if self._query("SHOW MEASUREMENTS LIMIT 1", database):
                    raise TrialFailed(
                        f'The database "{database}" of {self._url} already holds data.',
                        f'Look at it, then remove it with: influx -execute "DROP DATABASE {database}"',
                    )
            else:
                self._created.append(database)
            self._query(f'CREATE DATABASE "{database}" WITH DURATION INF REPLICATION 1 NAME "autogen"')

    def settle(self) -> None:
        """Have every cache written out, then wait until compactions rest; the rule is ``influxdb1_settle``'s."""
        if self._running is None:
            self.watched_seconds = settle(self._statistics, None)
        else:
            self.watched_seconds = settle(self._statistics, self._write_out)

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: data, wal, meta, and the server's own statistics (monitor).

        For a server elsewhere: the bytes it states for the shards of the database.
        """
        if self._place.program.url:
            shards = [one["values"] for one in self._statistics() if one["name"] == "shard"]
            return {"data": sum(int(one.get("diskBytes", 0)) for one in shards)}
        data, wal, meta = (
            self._place.data / config.FOLDERS[key] for key in ("data.dir", "data.wal-dir", "meta.dir")
        )
        return {
            "data": sum(allocated(data / name) for name in self._place.databases),
            "wal": sum(allocated(wal / name) for name in self._place.databases),
            "meta": allocated(meta),
            "monitor": allocated(data / "_internal") + allocated(wal / "_internal"),
        }

    def version(self) -> str:
        """Return what the server states in its ``X-Influxdb-Version`` header."""
        if self._running is not None:
            self._running.check()
        stated = self._http().ping(timeout_seconds=5.0)
        if stated is None:
            raise TrialFailed(f"InfluxDB at {self._url} does not answer when asked for its version.")
        return stated.removeprefix("v")

    def count(self) -> dict[str, TableCount]:
        """Count the first database; see ``count_in``."""
        return self.count_in(self._place.databases[0])

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Non-null values per field; rows are the values of the field that has most of them.

        InfluxDB has no rows of its own: points of one series and time are merged field by field.
        """
        counts: dict[str, TableCount] = {}
        for series in self._query("SELECT COUNT(*) FROM /.*/", database):
            values = dict(zip(series["columns"], series["values"][0], strict=True))
            # The columns are those of all measurements; where a measurement has no such field there is null.
            fields = {
                name.removeprefix("count_"): int(n)
                for name, n in values.items()
                if name != "time" and n is not None
            }
            counts[series["name"]] = TableCount(max(fields.values(), default=0), fields, exact=False)
        return counts

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking line protocol and InfluxQL over HTTP: one client for each database."""
        return of_databases(
            self._place, lambda database, log: BenchloadClient(
                benchload, target="influx", url=lambda: self._url, database=database, log=log,
                registry=self._place.processes,
            ),
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; on a server that already ran, drop the databases that this trial made."""
        if self._running is not None:
            self._running.stop()
            self._running = None
        else:
            for database in self._created:
                # Where it is gone by now, the next trial's prepare says whether data is left.
                with contextlib.suppress(TrialFailed):
                    self._http().query(f'DROP DATABASE "{database}"')
            self._created = []

    def _program(self) -> Path:
        assert self._place.program.path is not None
        return self._place.program.path

    def _http(self) -> InfluxHttp:
        return InfluxHttp(self._url)

    def _query(self, statement: str, database: str = "") -> list[dict[str, Any]]:
        return self._alive(lambda: self._http().query(statement, database))

    def _alive(self, ask: Callable[[], _T]) -> _T:
        """Return what ``ask`` returns; where it fails because the server died, its last words say more."""
        try:
            return ask()
        except TrialFailed:
            if self._running is not None:
                self._running.wait_ending(0.5)
                self._running.check()
            raise

    def _statistics(self) -> list[dict[str, Any]]:
        found = self._alive(self._http().statistics)
        return [one for one in found if (one.get("tags") or {}).get("database") in self._place.databases]

    def _write_out(self) -> None:
        for shard in cached(self._statistics()):
            self._alive(
                lambda one=shard: write_out(  # type: ignore[misc]
                    self._place, self._rpc, one, lambda: one not in cached(self._statistics())
                )
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
