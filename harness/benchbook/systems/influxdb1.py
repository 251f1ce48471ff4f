"""InfluxDB 1.x: one server on free loopback ports, or one that already runs (``--system NAME=http://…``)."""

from __future__ import annotations

import contextlib
import json
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import TrialFailed, nearest
from benchbook.process.launch import Started
from benchbook.process.network import check_free, free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.client import BenchloadClient, of_databases
from benchbook.systems.driver import Client, Place, Setting, TableCount
from benchbook.systems.influxdb1_settle import cached, settle, write_out

# The few requests to InfluxDB's HTTP interface that are no part of a measurement.

# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class InfluxHttp:
    """A server at ``url``. Every request may raise TrialFailed with the server's words."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ping(self, timeout_seconds: float = 1.0) -> str | None:
        """Return the version that the server states, or None when it does not answer."""
        try:
            with _OPENER.open(f"{self.url}/ping", timeout=timeout_seconds) as answer:
                return str(answer.headers.get("X-Influxdb-Version", ""))
        except (OSError, ValueError):
            return None

    def query(
        self, statement: str, database: str = "", timeout_seconds: float = 600.0
    ) -> list[dict[str, Any]]:
        """Run one InfluxQL statement and return its series (``name``, ``tags``, ``columns``, ``values``)."""
        form = urllib.parse.urlencode({"q": statement, "db": database, "epoch": "ns"}).encode()
        answer = self._json("/query", form, timeout_seconds, statement)
        result = answer["results"][0] if answer.get("results") else answer
        if "error" in result:
            raise TrialFailed(f"InfluxDB refuses {statement}: {result['error']}.")
        return list(result.get("series", []))

    def statistics(self) -> list[dict[str, Any]]:
        """Return the server's own counters: objects with ``name``, ``tags`` and ``values``."""
        answer = self._json("/debug/vars", None, 30.0, "/debug/vars")
        return [one for one in answer.values() if isinstance(one, dict) and "values" in one]

    def _json(self, path: str, form: bytes | None, timeout_seconds: float, what: str) -> dict[str, Any]:
        # The address is the harness's own or was checked to be http(s) when it was given.
        request = urllib.request.Request(self.url + path, data=form)  # noqa: S310
        try:
            with _OPENER.open(request, timeout=timeout_seconds) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            content = error.read()
            if error.code != 400:
                words = content.decode(errors="replace")[:300].strip()
                raise TrialFailed(f"InfluxDB answers {what} with status {error.code}: {words}") from error
        except OSError as error:
            raise TrialFailed(f"InfluxDB at {self.url} does not answer {what}: {error}.") from error
        try:
            found = json.loads(content)
        except ValueError as error:
            raise TrialFailed(
                f"InfluxDB answers {what} with something that is no JSON: {content[:200]!r}."
            ) from error
        return found if isinstance(found, dict) else {}


# The configuration of InfluxDB 1.x: what the harness must set, then what the arm changes.

FOLDERS = {"meta.dir": "meta", "data.dir": "data", "data.wal-dir": "wal"}
"""Keys that name folders, and the folder's name under the trial's data folder. No arm may change them."""
FILE = "influxdb.conf"


def settings(data: str, http: str, rpc: str, arm: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return all keys that differ from the defaults: ``section.key`` → value.

    ``data`` is the data folder, ``http`` and ``rpc`` are ``host:port``. Raises TrialFailed when the arm sets
    a key that belongs to the harness.
    """
    for key in FOLDERS:
        if key in arm:
            raise TrialFailed(
                f'The arm sets "{key}", which the harness sets to the trial\'s data folder.',
                "Take it out of the arm; choose the place of the data with a storage.",
            )
    own: dict[str, Setting] = {"reporting-disabled": True, "bind-address": rpc, "http.bind-address": http}
    return own | {key: f"{data}/{name}" for key, name in FOLDERS.items()} | dict(arm)


def text(flat: Mapping[str, Setting]) -> str:
    """Write ``section.key`` → value as TOML, in an order that depends on the keys alone.

    >>> print(text({"reporting-disabled": True, "data.dir": "/d"}))
    reporting-disabled = true
    <BLANKLINE>
    [data]
    dir = "/d"
    <BLANKLINE>
    """
    sections: dict[str, dict[str, Setting]] = {}
    for key in sorted(flat):
        section, _, name = key.rpartition(".")
        sections.setdefault(section, {})[name] = flat[key]
    parts = []
    for section in sorted(sections):
        lines = [f"[{section}]"] if section else []
        # A JSON string, number or boolean is also a TOML one.
        lines += [f"{name} = {json.dumps(value)}" for name, value in sections[section].items()]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def check_known(place: Place, file: Path) -> None:
    """Raise TrialFailed when the server does not know a key of the arm: by itself it ignores it silently."""
    if not place.settings:
        return
    assert place.program.path is not None
    ran = place.call([place.program.path, "config", "-config", file], timeout_seconds=30)
    if ran.returncode != 0:
        raise TrialFailed(
            f"InfluxDB refuses its configuration: {' '.join(ran.stderr.split())}", "Correct the arm."
        )
    known = _flat(tomllib.loads(ran.stdout))
    for key in place.settings:
        if key not in known:
            guess = nearest(key, known)
            raise TrialFailed(
                f'InfluxDB has no setting "{key}".',
                f'Did you mean "{guess}"?' if guess else "Correct the arm.",
            )


def _flat(table: Mapping[str, object], before: str = "") -> list[str]:
    keys: list[str] = []
    for name, value in table.items():
        keys += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [f"{before}{name}"]
    return keys


# InfluxDB 1.x: one server on free loopback ports, or one that already runs (``--system NAME=http://…``).

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
        shown = settings("{data}", "{http}", "{rpc}", place.settings)
        real = settings(
            str(place.data), f"{place.host}:{http_port}", f"{place.host}:{rpc_port}", place.settings
        )
        address = str(real["http.bind-address"])
        self._url, self._rpc = f"http://{_connectable(address)}", _connectable(str(real["bind-address"]))
        file = place.config / FILE
        file.write_text(text(real))
        check_known(place, file)
        return {FILE: text(shown)}

    def start(self) -> None:
        """Start ``influxd``; a server that already runs is left as it is."""
        if self._place.program.url:
            return
        for address in (self._url.removeprefix("http://"), self._rpc):
            check_free(address)
        self._running = self._place.start(
            [self._program(), "run", "-config", self._place.config / FILE],
            name=self._place.program.system,
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
            self._place.data / FOLDERS[key] for key in ("data.dir", "data.wal-dir", "meta.dir")
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
