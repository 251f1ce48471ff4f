"""InfluxDB 1.x."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place, Setting, TableCount
from benchbook.systems.influxdb1_settle import cached, settle, write_out
from benchbook.systems.sections import flat_keys, sections_text
from benchbook.systems.server import DatabaseServer, Layout, check_settings

FILE = "influxdb.conf"
FOLDERS = {"meta.dir": "meta", "data.dir": "data", "data.wal-dir": "wal"}
"""Settings that name folders → their names in the data folder."""


class InfluxDB1(DatabaseServer):
    """One InfluxDB 1.x in one trial."""

    target = "influx"
    ports = ("http", "rpc")
    reserved = tuple(FOLDERS)

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "influxd.log"

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration; an arm may choose the addresses."""
        settings: dict[str, Setting] = {
            "reporting-disabled": True, "bind-address": at.address("rpc"), "http.bind-address": at.address("http"),
            **{key: f"{at.data}/{name}" for key, name in FOLDERS.items()},
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
                f"{self.name} refuses its configuration: {' '.join(ran.stderr.split())}", "Correct the arm."
            )
        return flat_keys(tomllib.loads(ran.stdout))

    def command(self) -> Sequence[str | Path]:
        """Return the command with its configuration."""
        return [self.program, "run", "-config", self.place.config / FILE]

    def answers(self) -> bool:
        """Send a ping."""
        return self.http.probe("/ping", 1.0) is not None

    def version(self) -> str:
        """Return the version in the server's ``X-Influxdb-Version`` header."""
        self.check_alive(0.0)
        answer = self.http.probe("/ping", 5.0)
        if answer is None:
            raise TrialFailed(f"{self.name} at {self.url} does not answer the request for its version.")
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
        """Return the names of all databases."""
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
        """Drop a database."""
        self.query(f'DROP DATABASE "{database}"')

    def drop_command(self, database: str) -> str:
        """Return a command of InfluxDB's shell."""
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
        """Flush every cache, then wait until compactions are done; ``influxdb1_settle`` defines the rule."""
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
        data, wal, meta = (self.place.data / FOLDERS[key] for key in ("data.dir", "data.wal-dir", "meta.dir"))
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
