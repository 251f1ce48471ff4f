"""The few requests to CnosDB's HTTP interface that are no part of a measurement."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import TrialFailed
from benchbook.process.launch import Started
from benchbook.process.network import check_free, free_ports
from benchbook.storage.driver import allocated
from benchbook.systems import cnosdb_config
from benchbook.systems import cnosdb_config as config
from benchbook.systems.client import BenchloadClient, of_databases
from benchbook.systems.driver import Client, Place, TableCount

# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HEADERS = {"Authorization": "Basic cm9vdDo=", "Accept": "application/json"}
"""The user ``root`` without a password, whom every version has; authentication is off by default."""


class CnosHttp:
    """A server at ``url``. Every request but ``ping`` may raise TrialFailed with the server's words."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ping(self, timeout_seconds: float = 1.0) -> str | None:
        """Return the version that the server states, or None when it does not answer."""
        try:
            with _OPENER.open(f"{self.url}/api/v1/ping", timeout=timeout_seconds) as answer:
                found = json.loads(answer.read())
        except (OSError, ValueError):
            return None
        # 2.4 adds revision and build time: "2.4.3, revision: …"
        number = re.match(r"\d+(\.\d+)*", str(found.get("version"))) if isinstance(found, dict) else None
        return number.group() if number else ""

    def sql(
        self, statement: str, database: str = "public", timeout_seconds: float = 900.0
    ) -> list[dict[str, Any]]:
        """Run one SQL statement and return its rows; none where the answer has no body, as of DDL."""
        where = urllib.parse.urlencode({"db": database})
        # The address is the harness's own or was checked to be http(s) when it was given.
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/api/v1/sql?{where}", data=statement.encode(), headers=HEADERS
        )
        try:
            with _OPENER.open(request, timeout=timeout_seconds) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            words = _words(error.read())
            raise TrialFailed(f"CnosDB refuses {statement} (status {error.code}): {words}") from error
        except OSError as error:
            raise TrialFailed(f"CnosDB at {self.url} does not answer {statement}: {error}.") from error
        if not content.strip():
            return []
        try:
            found = json.loads(content)
        except ValueError as error:
            raise TrialFailed(
                f"CnosDB answers {statement} with something that is no JSON: {content[:200]!r}."
            ) from error
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _words(content: bytes) -> str:
    """Return the server's own sentence out of the body of an error."""
    text = content.decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:500]
    if isinstance(found, dict) and found.get("error_message"):
        return str(found["error_message"])[:500]
    return " ".join(text.split())[:500]


# CnosDB 2.0 and 2.4: one server on free ports, or one that already runs (``--system NAME=http://…``).
#
# 2.0 takes addresses and binds loopback. **2.4 listens on every address of the machine, whatever
# ``global.host`` says**: run it where a firewall, a container or a network namespace keeps strangers out.
#
# 2.0.1 can read back, after a flush, at most one of several databases in one data folder. Its arms refuse
# several clients, but for ``as-published``, where what is found of each is measured and not required.

ALWAYS = frozenset({"public", "usage_schema", "cluster_schema", "information_schema"})
"""Databases that are the server's own."""
AS_PUBLISHED = "as-published"

_T = TypeVar("_T")

IN_CONTAINERS = True


class CnosDB:
    """One CnosDB server in one trial; what differs between the versions is in its two subclasses."""

    create = "CREATE DATABASE {name} WITH TTL 'INF' SHARD 1 VNODE_DURATION '365d' REPLICA 1 PRECISION 'NS'"
    """How a database is made that keeps old data."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: Started | None = None
        self._created: list[str] = []
        self._url = place.program.url or ""
        self._log = place.logs / "cnosdb.log"
        self._command: list[str | Path] = []
        self._addresses: list[str] = []
        self.watched_seconds = 0.0
        """How long the last ``settle`` only watched that files rest."""
        self.not_required: tuple[str, ...] = ()
        """Databases whose rows are counted and not required to be there."""

    def configure(self) -> dict[str, str]:
        """Write ``cnosdb.toml``; return it, with folders and ports as placeholders."""
        if self._place.program.url:
            return {}
        return self._configure()

    def _configure(self) -> dict[str, str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start ``cnosdb``; a server that already runs is left as it is."""
        if self._place.program.url:
            return
        for address in self._addresses:
            check_free(address)
        self._running = self._place.start(
            self._command, name=self._place.program.system, log=self._log, cwd=self._place.data
        )

    def ready(self) -> bool:
        """Say whether it answers; raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()
        return self._http().ping() is not None

    def version(self) -> str:
        """Return what the server states to a ping."""
        if self._running is not None:
            self._running.check()
        stated = self._http().ping(timeout_seconds=5.0)
        if stated is None:
            raise TrialFailed(f"CnosDB at {self._url} does not answer when asked for its version.")
        return stated

    def prepare(self) -> None:
        """Create each database, with data kept for ever; raise TrialFailed when one already holds data."""
        known = {str(row.get("database_name", row.get("Database"))) for row in self._sql("SHOW DATABASES")}
        for database in self._place.databases:
            if database in known:
                if self._sql("SHOW TABLES", database):
                    raise TrialFailed(
                        f'The database "{database}" of {self._url} already holds data.',
                        f"Look at it, then remove it with the statement: DROP DATABASE {database}",
                    )
                continue
            self._sql(self.create.format(name=database))
            self._created.append(database)

    def settle(self) -> None:
        """Write out what can be, then wait until the files rest; the rule is ``cnosdb_settle``'s."""
        data = None if self._place.program.url else self._place.data / config.FOLDERS["storage.path"]
        self.watched_seconds = cnosdb_config.settle(data, self._write_out())

    def _write_out(self) -> Callable[[], None] | None:
        return None

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: data (with index and summaries) and write-ahead log; none for a server elsewhere."""
        if self._place.program.url:
            return {}
        data, wal = (self._place.data / config.FOLDERS[key] for key in ("storage.path", "wal.path"))
        return {"data": allocated(data), "wal": allocated(wal)}

    def count(self) -> dict[str, TableCount]:
        """Count the first database; see ``count_in``."""
        return self.count_in(self._place.databases[0])

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Rows and non-null values per table, counted by the server's own SQL."""
        counts: dict[str, TableCount] = {}
        for row in self._sql("SHOW TABLES", database):
            table = str(row.get("table_name", row.get("Table")))
            fields = [
                str(column.get("column_name", column.get("COLUMN_NAME", column.get("FIELDNAME"))))
                for column in self._sql(f"DESCRIBE TABLE {table}", database)
                if "FIELD"
                in str(column.get("column_type", column.get("COLUMN_TYPE", column.get("ISTAG")))).upper()
                or str(column.get("ISTAG", "")).lower() == "false"
            ]
            counts[table] = self._count(database, table, [name for name in fields if name != "time"])
        return counts

    def _count(self, database: str, table: str, fields: list[str]) -> TableCount:
        # With a condition on the time the rows are read: without one, 2.4 adds up what its files say, and
        # rows that were written twice count twice. Rows are counted beside all fields: 2.0 sees only rows that
        # have one of the fields it is asked for (count(*) asks for the first alone), and refuses time by itself.
        counted = ", ".join(f'count("{name}") AS "{name}"' for name in ("time", *fields))
        since = "TIMESTAMP '1970-01-01T00:00:00Z'"
        found = self._sql(f'SELECT {counted} FROM "{table}" WHERE time >= {since}', database)  # noqa: S608
        values = {name: int((found[0] if found else {}).get(name) or 0) for name in ("time", *fields)}
        return TableCount(values.pop("time"), values)

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking line protocol and SQL over HTTP: one client for each database."""
        return of_databases(
            self._place, lambda database, log: BenchloadClient(
                benchload, target="cnosdb", url=lambda: self._url, database=database, log=log,
                registry=self._place.processes,
            ),
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGINT, then SIGKILL; on a server that already ran, drop the databases that this trial made."""
        if self._running is not None:
            self._running.stop(first=signal.SIGINT)
            self._running = None
            return
        for database in self._created:
            # Where it is gone by now, the next trial's prepare says whether data is left.
            with contextlib.suppress(TrialFailed):
                self._http().sql(f"DROP DATABASE {database}")
        self._created = []

    def _program(self) -> Path:
        assert self._place.program.path is not None
        return self._place.program.path

    def _http(self) -> CnosHttp:
        return CnosHttp(self._url)

    def _sql(self, statement: str, database: str = "public") -> list[dict[str, Any]]:
        return self._alive(lambda: self._http().sql(statement, database))

    def _alive(self, ask: Callable[[], _T]) -> _T:
        """Return what ``ask`` returns; where it fails because the server died, its last words say more."""
        try:
            return ask()
        except TrialFailed:
            if self._running is not None:
                self._running.wait_ending(0.5)
                self._running.check()
            raise

    def _write_file(self, real: str, shown: str) -> dict[str, str]:
        (self._place.config / config.FILE).write_text(real)
        return {config.FILE: shown}


class CnosDB20(CnosDB):
    """CnosDB 2.0."""

    create = "CREATE DATABASE {name} WITH TTL '36500d' SHARD 1 VNODE_DURATION '365d' REPLICA 1 PRECISION 'NS'"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        if len(place.databases) > 1:
            if place.arm != AS_PUBLISHED:
                raise TrialFailed(
                    "CnosDB 2.0 can read back only one of several databases in one data folder.",
                    f"Give clients = 1, or the arm {AS_PUBLISHED}, which says what is found of each.",
                )
            # Which of them can be read is a matter of whose files are written out first.
            self.not_required = place.databases

    def _configure(self) -> dict[str, str]:
        place = self._place
        http, grpc = free_ports(2, place.host)
        self._addresses = [f"{place.host}:{http}", f"{place.host}:{grpc}"]
        self._url = f"http://{self._addresses[0]}"
        options = config.options_20(place.settings)
        run = [f"--{name}={value}" for name, value in sorted(options.items())]
        self._command = [
            self._program(), "run", f"--http-host={self._addresses[0]}", f"--grpc-host={self._addresses[1]}",
            *run, f"--config={place.config / config.FILE}",
        ]  # fmt: skip
        real, shown = (
            config.text(config.settings_20(folder, place.settings), config.SECTIONS_20)
            for folder in (str(place.data), "{data}")
        )
        return {**self._write_file(real, shown), "arguments": " ".join(run) + "\n"}


class CnosDB24(CnosDB):
    """CnosDB 2.4, as a single node."""

    def _configure(self) -> dict[str, str]:
        place = self._place
        ports = free_ports(3, place.host)
        self._addresses = [f"{place.host}:{port}" for port in ports]
        self._url = f"http://{self._addresses[0]}"
        self._command = [self._program(), "run", "-M", "singleton", "--config", place.config / config.FILE]
        http, grpc, meta = (str(port) for port in ports)
        real = config.settings_24(str(place.data), http, grpc, meta, place.settings)
        config.check_24(place)
        shown = config.settings_24("{data}", "{http}", "{grpc}", "{meta}", place.settings)
        return self._write_file(config.text(real), config.text(shown))

    def _write_out(self) -> Callable[[], None]:
        def compact() -> None:
            for database in self._place.databases:
                try:
                    self._sql(f"COMPACT DATABASE {database}")
                except TrialFailed as refused:
                    if "Expected VNODE" not in str(refused):
                        raise
                    self._compact_vnodes(database)

        return compact

    def _compact_vnodes(self, database: str) -> None:
        """Write out every vnode of a database: what 2.4 before 2.4.3 has in the place of ``COMPACT DATABASE``.

        Only the data folder tells their numbers, so a server elsewhere keeps its caches as they are.
        """
        if self._place.program.url:
            return
        folder = self._place.data / config.FOLDERS["storage.path"] / "data" / f"cnosdb.{database}"
        vnodes = sorted(int(path.name) for path in folder.glob("*") if path.name.isdigit())
        if vnodes:
            # Without the semicolon these versions miss the end of the list.
            self._sql(f"COMPACT VNODE {' '.join(map(str, vnodes))};")

    def _count(self, database: str, table: str, fields: list[str]) -> TableCount:
        counted = super()._count(database, table, fields)
        try:
            found = self._sql(f'SELECT exact_count(*) AS n FROM "{table}"', database)  # noqa: S608
        except TrialFailed as refused:
            if "Invalid function" not in str(refused):
                raise
            return counted  # 2.4 before 2.4.3 has no such function
        return replace(counted, rows=int(next(iter(found[0].values()))) if found else 0)


def driver(place: Place) -> CnosDB:
    """Return the driver of one CnosDB server."""
    return CnosDB20(place) if place.program.version.startswith("2.0") else CnosDB24(place)
