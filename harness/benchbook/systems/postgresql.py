"""PostgreSQL: a cluster of its own in the trial's data folder, on a free loopback port, with a password."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from benchbook.errors import TrialFailed, nearest
from benchbook.process import secret, spawn
from benchbook.process.network import check_free, free_ports
from benchbook.process.ordinary_user import OrdinaryUser, ordinary_user
from benchbook.storage.driver import allocated
from benchbook.systems.client import BenchloadBars, of_databases
from benchbook.systems.driver import Client, Place, Setting, TableCount

# The configuration of PostgreSQL: what the harness must set, then what the arm changes.

FILE = "benchbook.conf"
"""Added to the end of the ``postgresql.conf`` that initdb wrote."""

OWN = (
    "listen_addresses", "port", "unix_socket_directories", "data_directory", "hba_file", "ident_file", "config_file",
)  # fmt: skip
"""Settings that belong to the harness."""


def text(host: str, port: str, arm: Mapping[str, Setting]) -> str:
    """Return the lines that are added, in an order that depends on the keys alone.

    >>> print(text("127.0.0.1", "5432", {"synchronous_commit": "off", "max_connections": 200}))
    listen_addresses = '127.0.0.1'
    max_connections = 200
    port = 5432
    synchronous_commit = 'off'
    unix_socket_directories = ''
    <BLANKLINE>
    """
    lines = {"listen_addresses": f"'{host}'", "port": port, "unix_socket_directories": "''"}
    lines |= {name: _written(value) for name, value in arm.items()}
    return "".join(f"{name} = {lines[name]}\n" for name in sorted(lines))


def check_known(program: Path, arm: Mapping[str, Setting]) -> None:
    """Raise TrialFailed where the arm sets what belongs to the harness or what the server does not know."""
    for name in arm:
        if name in OWN:
            raise TrialFailed(
                f'The arm sets "{name}", which the harness sets for each trial.', "Take it out of the arm."
            )
    if not arm:
        return
    known = _known(program)
    for name in arm:
        if name not in known:
            guess = nearest(name, known)
            raise TrialFailed(
                f'PostgreSQL has no setting "{name}".',
                f'Did you mean "{guess}"?' if guess else "Correct the arm.",
            )


def _known(program: Path) -> list[str]:
    ran = subprocess.run(
        [str(program), "--describe-config"],
        check=False, capture_output=True, text=True, errors="replace", timeout=30,
    )  # fmt: skip
    if ran.returncode != 0:
        raise TrialFailed(f"PostgreSQL does not tell its settings: {' '.join(ran.stderr.split())}")
    return [line.partition("\t")[0] for line in ran.stdout.splitlines()]


def _written(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        escaped = value.replace("'", "''")
        return f"'{escaped}'"
    return str(value)


# Questions to a PostgreSQL server, asked through its own ``psql``.

TIMEOUT_SECONDS = 600.0
_TABLES = (
    "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
)
_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns ORDER BY ordinal_position"


@dataclass(frozen=True)
class Psql:
    """One database of a server on this machine; every question is a connection of its own."""

    program: Path
    host: str
    port: int
    user: str
    password: str
    database: str

    def answers(self) -> bool:
        """Say whether the server takes queries now."""
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((self.host, self.port)) != 0:
                return False
        return self._run("SELECT 1").returncode == 0

    def rows(self, statement: str) -> list[list[str]]:
        """Return the rows of a statement as texts; raise TrialFailed with the server's words."""
        ran = self._run(statement)
        if ran.returncode != 0:
            raise TrialFailed(f"PostgreSQL refuses «{statement}»: {' '.join(ran.stderr.split())}")
        return list(csv.reader(io.StringIO(ran.stdout)))

    def tables(self) -> list[str]:
        """Return the names of all tables that are not the system's own."""
        return [row[0] for row in self.rows(_TABLES)]

    def counts(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table and column."""
        found = {}
        for table in self.tables():
            columns = [row[1] for row in self.rows(_COLUMNS) if row[0] == table]
            asked = ", ".join(["count(*)", *(f'count("{name}")' for name in columns)])
            numbers = [int(one) for one in self.rows(f'SELECT {asked} FROM "{table}"')[0]]  # noqa: S608
            found[table] = TableCount(numbers[0], dict(zip(columns, numbers[1:], strict=True)))
        return found

    def _run(self, statement: str) -> subprocess.CompletedProcess[str]:
        command = [
            str(self.program), "--no-psqlrc", "--no-password", "--tuples-only", "--csv", "--quiet",
            "--host", self.host, "--port", str(self.port), "--username", self.user,
            "--dbname", self.database, "--command", statement,
        ]  # fmt: skip
        try:
            return subprocess.run(
                command, env={**os.environ, "PGPASSWORD": self.password}, stdin=subprocess.DEVNULL,
                check=False, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"psql could not ask the server: {error}.") from error


# PostgreSQL: a cluster of its own in the trial's data folder, on a free loopback port, with a password.
#
# ``postgres://USER@HOST:PORT`` with the password in ``PGPASSWORD`` names a server that already runs; USER must be
# allowed to make databases, and to write a checkpoint.
#
# Debian's own cluster, which the package makes, is neither used nor touched: ``initdb``, ``postgres`` and ``psql``
# are the programs beside the one that provision found. As root the server runs as an ordinary user.

URL_SCHEMES = ("postgres", "postgresql")
USER = "benchbook"
"""The superuser of a cluster of the trial's own."""
INIT_SECONDS = 120.0
SETTLE_SECONDS = 600.0


class PostgreSQL:
    """One PostgreSQL server in one trial."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: spawn.Running | None = None
        self._user: OrdinaryUser | None = None
        there = urlsplit(place.program.url) if place.program.url else None
        self._elsewhere = there is not None
        self._host = str(there.hostname) if there else place.host
        self._port = (there.port or 5432) if there else 0
        self._login = (there.username or "postgres") if there else USER
        self._password = os.environ.get("PGPASSWORD", "") if there else secret.draw()
        self._created: list[str] = []
        self._cluster = place.data / "cluster"
        self._log = place.logs / "postgres.log"
        self.watched_seconds = 0.0
        """A checkpoint returns when it is done: nothing is only watched."""

    def configure(self) -> dict[str, str]:
        """Write what is added to initdb's own configuration; return it with the port as ``{port}``."""
        place = self._place
        if self._elsewhere:
            return {}
        assert place.program.path is not None
        check_known(place.program.path, place.settings)
        (self._port,) = free_ports(1, place.host)
        (place.config / FILE).write_text(text(place.host, str(self._port), place.settings))
        return {FILE: text(place.host, "{port}", place.settings)}

    def start(self) -> None:
        """Make the cluster with ``initdb``, then start ``postgres`` on it; one that already runs is left as it is."""
        if self._elsewhere:
            return
        check_free(f"{self._place.host}:{self._port}")
        self._user = ordinary_user("postgres")
        self._initdb()
        with (self._cluster / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write((self._place.config / FILE).read_text(encoding="utf-8"))
        self._running = spawn.start(
            self._user.command([self._program("postgres"), "-D", self._cluster]),
            name=self._place.program.system,
            log=self._log,
            cwd=self._cluster,
            registry=self._place.processes,
        )

    def ready(self) -> bool:
        """Say whether it answers a query; raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()
        return self._psql().answers()

    def prepare(self) -> None:
        """Create each database, in UTF-8; a database that is there must hold no tables."""
        known = {row[0] for row in self._psql().rows("SELECT datname FROM pg_database")}
        for database in self._place.databases:
            if database not in known:
                self._psql().rows(f'CREATE DATABASE "{database}"')
                self._created.append(database)
            elif tables := self._psql(database).tables():
                raise TrialFailed(
                    f"The database {database} already holds the tables {', '.join(tables)}.",
                    "Remove them, then resume the run.",
                )

    def settle(self) -> None:
        """Wait until no autovacuum works, then have every changed page written and synced (CHECKPOINT).

        Autovacuum that has not begun by then is not waited for: it comes by a threshold of changed rows.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        working = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
        while self._psql().rows(working)[0][0] != "0":
            if time.monotonic() > deadline:
                raise TrialFailed(
                    f"Autovacuum of {self._place.program.system} did not rest in {SETTLE_SECONDS:.0f} s."
                )
            time.sleep(0.2)
        self._psql().rows("CHECKPOINT")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: the trial's databases (data), the write-ahead log (wal), everything else."""
        names = ", ".join(f"'{name}'" for name in self._place.databases)
        if self._elsewhere:
            stated = f"SELECT sum(pg_database_size(datname)) FROM pg_database WHERE datname IN ({names})"  # noqa: S608
            return {"data": int(self._psql().rows(stated)[0][0] or 0)}
        rows = self._psql().rows(f"SELECT oid FROM pg_database WHERE datname IN ({names})")  # noqa: S608 - our names
        data = sum(allocated(self._cluster / "base" / row[0]) for row in rows)
        wal = allocated(self._cluster / "pg_wal")
        return {"data": data, "wal": wal, "other": max(0, allocated(self._cluster) - data - wal)}

    def version(self) -> str:
        """Return the version that the server states, without the distribution's addition."""
        if self._running is not None:
            self._running.check()
        return self._psql().rows("SHOW server_version")[0][0].split()[0]

    def count(self) -> dict[str, TableCount]:
        """Count the first database; see ``count_in``."""
        return self.count_in(self._place.databases[0])

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Rows and non-null values of every column of every table."""
        return self._psql(database).counts()

    @property
    def url(self) -> str:
        """Where it listens, without the password: clients get that in PGPASSWORD."""
        return f"postgres://{self._login}@{self._host}:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """Return what a client's environment has to hold."""
        return {"PGPASSWORD": self._password}

    def dsn(self, database: str = "") -> str:
        """Return the address with the password, for a client in this process; it is never written down."""
        name = quote(database or self._place.databases[0])
        return f"postgres://{self._login}:{quote(self._password)}@{self._host}:{self._port}/{name}"

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking PostgreSQL's own protocol: one client for each database."""
        return of_databases(
            self._place, lambda database, log: BenchloadBars(
                benchload, defects=frozenset({"three-bars"}), program="benchload, pgx",
            target="postgresql", url=lambda: self.url, database=database, log=log,
                registry=self._place.processes, environment=self.environment,
            ),
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """Fast shutdown (SIGINT): sessions are ended and a checkpoint is written; then SIGKILL.

        One that already ran loses the databases that this trial made.
        """
        for database in self._created if self._elsewhere else ():
            with contextlib.suppress(TrialFailed):
                self._psql().rows(f'DROP DATABASE "{database}"')
        self._created = []
        if self._running is not None:
            self._running.stop(first=signal.SIGINT)
            self._running = None

    def _program(self, name: str) -> Path:
        assert self._place.program.path is not None
        # A link on PATH leads to the folder that has initdb and psql as well.
        return self._place.program.path.resolve().with_name(name)

    def _psql(self, database: str = "postgres") -> Psql:
        program = Path(shutil.which("psql") or "psql") if self._elsewhere else self._program("psql")
        return Psql(program, self._host, self._port, self._login, self._password, database)

    def _initdb(self) -> None:
        assert self._user is not None
        file = self._place.data / "password"
        file.touch(mode=0o600)
        file.write_text(self._password + "\n", encoding="utf-8")
        self._user.take_over(self._place.data)
        command: list[str | Path] = [
            self._program("initdb"), "--pgdata", self._cluster, "--username", USER, "--pwfile", file,
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
        ]  # fmt: skip
        try:
            ran = subprocess.run(
                [str(part) for part in self._user.command(command)],
                check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                timeout=INIT_SECONDS, cwd=self._place.data,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"initdb could not make the cluster: {error}.") from error
        finally:
            with contextlib.suppress(OSError):
                file.unlink()
        if ran.returncode != 0:
            raise TrialFailed(f"initdb could not make the cluster: {' '.join(ran.stderr.split())[-500:]}")


def driver(place: Place) -> PostgreSQL:
    """Return the driver of one PostgreSQL server."""
    return PostgreSQL(place)
