"""CnosDB 2.0 and 2.4.

2.0 listens on loopback, as configured. **2.4 listens on every address of the machine, whatever ``global.host`` says**:
run it behind a firewall, in a container or in a network namespace.

After a flush, 2.0.1 can read back at most one of several databases in one data folder. Its arms refuse several
clients, except ``as-published``, which reports what each database returns but does not require it.

The configuration holds the settings of the harness, then those of the arm. 2.0 requires every key and writes byte sizes
as whole numbers; its defaults are those of the configuration file in its repository. In 2.4 every key is optional, and
byte sizes are strings such as ``"128MiB"``.
"""

from __future__ import annotations

import re
import signal
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.host.texts import parse_json
from benchbook.storage.driver import allocated, spread
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import DatabaseServer, Layout, check_settings, flat_keys, sections_text

FILE = "cnosdb.toml"
RUN = "run."
"""Prefix of settings that are options of ``cnosdb run`` in 2.0: ``run.cpu`` is ``--cpu``."""
FOLDERS = {"storage.path": "db", "wal.path": "wal", "log.path": "log"}
"""Settings that name folders → their names in the data folder."""
APART = ("wal.path",)
"""Those on a separate disk if the storage has several, as published."""

Value = Setting | Sequence[str]

DEFAULTS_20: dict[str, Setting] = {
    "query.max_server_connections": 10240,
    "query.query_sql_limit": 16777216,
    "query.write_sql_limit": 167772160,
    "storage.max_summary_size": 134217728,
    "storage.max_level": 4,
    "storage.base_file_size": 16777216,
    "storage.compact_trigger": 4,
    "storage.max_compact_size": 2147483648,
    "storage.dio_max_resident": 1024,
    "storage.dio_max_non_resident": 1024,
    "storage.dio_page_len_scale": 10,
    "storage.strict_write": False,
    "wal.enabled": True,
    "wal.sync": False,
    "cache.max_buffer_size": 134217728,
    "cache.max_immutable_number": 4,
    "log.level": "info",
}
"""The configuration file of 2.0.1, except for its log level ``debug``."""
SECTIONS_20 = ("query", "storage", "wal", "cache", "log", "security")
RUN_20: dict[str, Setting] = {"run.cpu": 4, "run.memory": 16}
"""Default options of ``cnosdb run`` in 2.0; memory in GB."""

KNOWN_20 = (*DEFAULTS_20, *RUN_20)


def settings_20(folders: Mapping[str, str], arm: Mapping[str, Setting]) -> dict[str, Value]:
    """Return all keys of a configuration of 2.0, without the options of ``run``."""
    changed = {key: value for key, value in arm.items() if not key.startswith(RUN)}
    return {"reporting_disabled": True, **DEFAULTS_20, **folders, **changed}


def options_20(arm: Mapping[str, Setting]) -> list[str]:
    """Return the options of ``cnosdb run`` in 2.0."""
    chosen = {**RUN_20, **{key: value for key, value in arm.items() if key.startswith(RUN)}}
    return [f"--{key.removeprefix(RUN)}={value}" for key, value in sorted(chosen.items())]


def settings_24(
    folders: Mapping[str, str], ports: Mapping[str, str], arm: Mapping[str, Setting]
) -> dict[str, Value]:
    """Return the keys that differ from the defaults of 2.4."""
    return {
        "global.host": "127.0.0.1",
        "global.store_metrics": False,
        "deployment.mode": "singleton",
        "meta.service_addr": [f"127.0.0.1:{ports['meta']}"],
        "meta.system_database_replica": 1,
        "service.http_listen_port": _port(ports["http"]),
        "service.grpc_listen_port": _port(ports["grpc"]),
        "service.enable_report": False,
        **folders,
        **arm,
    }


def _port(port: str) -> Value:
    """Return a port as the number that the server expects; placeholders stay strings."""
    return int(port) if port.isdigit() else port


AS_PUBLISHED = "as-published"
REST_SECONDS = 2.0
"""Time that data and index files must stay unchanged before the server counts as settled."""


class CnosDB(DatabaseServer):
    """One CnosDB in one trial; subclasses implement the differences between versions."""

    target = "cnosdb"
    ports: ClassVar[tuple[str, ...]] = ("http", "grpc")
    reserved = tuple(FOLDERS)
    stop_signal = signal.SIGINT
    # The user ``root`` without a password exists in every version; authentication is off by default.
    headers: ClassVar[Mapping[str, str]] = {"Authorization": "Basic cm9vdDo=", "Accept": "application/json"}
    retention = "INF"
    """Time that a new database keeps data; the default drops data older than a year."""

    def __new__(cls, place: Place) -> Self:
        """Create the driver for the server's version."""
        by_version = CnosDB20 if place.program.version.startswith("2.0") else CnosDB24
        return super().__new__(cast("type[Self]", by_version if cls is CnosDB else cls))

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "cnosdb.log"
        self._folders = spread(place.data, FOLDERS, APART)
        self.not_required: tuple[str, ...] = ()
        """Databases whose rows are counted but not required."""

    def answers(self) -> bool:
        return self._ping(1.0) is not None

    def _ping(self, timeout_seconds: float) -> str | None:
        """Return the version that the server reports, or None if it does not answer."""
        answer = self.http.probe("/api/v1/ping", timeout_seconds)
        try:
            found = answer.json() if answer is not None and answer.ok else None
        except ValueError:
            return None
        # 2.4 adds revision and build time: "2.4.3, revision: …"
        number = re.match(r"\d+(\.\d+)*", str(found.get("version"))) if isinstance(found, dict) else None
        return None if found is None else number.group() if number else ""

    def version(self) -> str:
        """Return the version that the server reports to a ping."""
        self.check_alive(0.0)
        reported = self._ping(5.0)
        if reported is None:
            raise TrialFailed(f"{self.name} at {self.url} did not answer the request for its version.")
        return reported

    def sql(self, statement: str, database: str = "public") -> list[dict[str, Any]]:
        """Run one SQL statement and return its rows; empty if the answer has no body, as for DDL."""
        text = self.http.text("/api/v1/sql", statement, params={"db": database}, what=statement)
        if not text.strip():
            return []
        try:
            found = parse_json(text)
        except (ValueError, RecursionError) as error:
            raise TrialFailed(
                f"{self.name} answers {statement} with text that is not JSON: {text[:200]!r}."
            ) from error
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []

    def databases(self) -> list[str]:
        return [_cell(row, "database_name", "Database") for row in self.sql("SHOW DATABASES")]

    def tables(self, database: str) -> list[str]:
        return [_cell(row, "table_name", "Table") for row in self.sql("SHOW TABLES", database)]

    def create(self, database: str) -> None:
        """Create a database with one shard that keeps old data."""
        self.sql(
            f"CREATE DATABASE {database} WITH TTL '{self.retention}' SHARD 1 VNODE_DURATION '365d' "
            "REPLICA 1 PRECISION 'NS'"
        )

    def drop(self, database: str) -> None:
        self.sql(self.drop_command(database))

    def drop_command(self, database: str) -> str:
        return f"DROP DATABASE {database}"

    def settle(self) -> None:
        """Flush the caches if the version can, then wait until no file changes for REST_SECONDS.

        Background merges continue after the caches are flushed, so the files are watched. 2.0 cannot flush its caches;
        their content stays in the write-ahead log.
        """
        self.write_out()
        self.watched_seconds = 0.0
        if self.external:
            return
        data = self.place.data / self._folders["storage.path"]
        self.wait_unchanged(lambda: _files(data), REST_SECONDS)

    def write_out(self) -> None:
        """Flush the caches."""

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of data, with index and summaries, and of the write-ahead log."""
        data, wal = (self.place.data / self._folders[key] for key in ("storage.path", "wal.path"))
        return {"data": allocated(data), "wal": allocated(wal)}

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Count rows and non-null values per table, by the server's SQL."""
        counts: dict[str, TableCount] = {}
        for table in self.tables(database):
            columns = self.sql(f"DESCRIBE TABLE {table}", database)
            names = [
                _cell(column, "column_name", "COLUMN_NAME", "FIELDNAME")
                for column in columns
                if "FIELD" in _cell(column, "column_type", "COLUMN_TYPE", "ISTAG").upper()
                or str(column.get("ISTAG", "")).lower() == "false"
            ]
            counts[table] = self._count_table(database, table, [name for name in names if name != "time"])
        return counts

    def _count_table(self, database: str, table: str, fields: list[str]) -> TableCount:
        # Without a condition on time, 2.4 adds up its files' metadata and counts rows twice that were written twice.
        # 2.0 sees only rows that have one of the selected fields, and refuses to select time alone.
        counts = ", ".join(f'count("{name}") AS "{name}"' for name in ("time", *fields))
        since = "TIMESTAMP '1970-01-01T00:00:00Z'"
        found = self.sql(f'SELECT {counts} FROM "{table}" WHERE time >= {since}', database)  # noqa: S608
        values = {name: int((found[0] if found else {}).get(name) or 0) for name in ("time", *fields)}
        return TableCount(values.pop("time"), values)


class CnosDB20(CnosDB):
    """CnosDB 2.0."""

    retention = "36500d"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        if place.arm == AS_PUBLISHED:
            # Of several, which is readable depends on whose files are flushed first; one returns too many rows.
            self.not_required = place.databases
        elif len(place.databases) > 1:
            raise TrialFailed(
                "CnosDB 2.0 can read back only one of several databases in one data folder.",
                "Each client writes to its own database. Set clients = 1, or use the configuration "
                f"{AS_PUBLISHED}, which reports what each database returns.",
            )

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration and the options of its command."""
        check_settings(self.settings, KNOWN_20, self.name)
        text = sections_text(settings_20(at.below(self._folders), self.settings), SECTIONS_20)
        return {FILE: text, "arguments": " ".join(options_20(self.settings)) + "\n"}

    def command(self) -> Sequence[str | Path]:
        http, grpc = (self.layout.address(port) for port in self.ports)
        return [
            self.program, "run", f"--http-host={http}", f"--grpc-host={grpc}",
            *options_20(self.settings), f"--config={self.place.config / FILE}",
        ]  # fmt: skip


class CnosDB24(CnosDB):
    """CnosDB 2.4, as a single node."""

    ports = ("http", "grpc", "meta")

    def files(self, at: Layout) -> dict[str, str]:
        return {FILE: sections_text(settings_24(at.below(self._folders), at.ports, self.settings))}

    def initialise(self) -> None:
        """Refuse settings that the server would ignore."""
        if self.settings:
            ran = self.place.call([self.program, "config"], timeout_seconds=30)
            if ran.returncode != 0:
                output = " ".join(ran.stderr.split())[:500]
                raise TrialFailed(f"{self.name} does not print its configuration: {output}")
            check_settings(self.settings, flat_keys(tomllib.loads(ran.stdout)), self.name)

    def command(self) -> Sequence[str | Path]:
        return [self.program, "run", "-M", "singleton", "--config", self.place.config / FILE]

    def write_out(self) -> None:
        """Flush the caches of all databases before the statement returns."""
        for database in self.place.databases:
            try:
                self.sql(f"COMPACT DATABASE {database}")
            except TrialFailed as refusal:
                if "Expected VNODE" not in str(refusal):
                    raise
                self._compact_vnodes(database)

    def _compact_vnodes(self, database: str) -> None:
        """Flush every vnode of a database: versions before 2.4.3 have no ``COMPACT DATABASE``.

        Only the data folder contains their numbers, so an external server keeps its caches.
        """
        if self.external:
            return
        folder = self.place.data / self._folders["storage.path"] / "data" / f"cnosdb.{database}"
        vnodes = sorted(int(path.name) for path in folder.glob("*") if path.name.isdigit())
        if vnodes:
            # Without the semicolon these versions miss the last item of the list.
            self.sql(f"COMPACT VNODE {' '.join(map(str, vnodes))};")

    def _count_table(self, database: str, table: str, fields: list[str]) -> TableCount:
        counted = super()._count_table(database, table, fields)
        try:
            found = self.sql(f'SELECT exact_count(*) AS n FROM "{table}"', database)  # noqa: S608
        except TrialFailed as refusal:
            if "Invalid function" not in str(refusal):
                raise
            return counted  # versions before 2.4.3 have no such function
        return replace(counted, rows=int(next(iter(found[0].values()))) if found else 0)


driver = CnosDB


def _cell(row: dict[str, Any], *names: str) -> str:
    """Return the value of a column whose name differs between versions."""
    return str(next((row[name] for name in names if name in row), None))


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and modification time of every file below a folder."""
    found: dict[str, tuple[int, int]] = {}
    for path in folder.rglob("*"):
        try:
            status = path.stat()
        except OSError:
            continue  # the file was removed after the listing
        if path.is_file():
            found[str(path)] = status.st_size, status.st_mtime_ns
    return found
