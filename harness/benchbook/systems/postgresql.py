"""PostgreSQL: a separate cluster in the data folder, with a password.

``postgres://USER@HOST:PORT``, with the password in ``PGPASSWORD``, names an external server. USER needs the rights to
create databases and to write a checkpoint.

The driver does not touch the cluster of Debian's package. ``initdb``, ``postgres`` and ``psql`` are the programs next
to the one that provision found. If the harness is root, the server runs as an ordinary user.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.process import secret
from benchbook.process.ordinary_user import ordinary_user
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.server import DatabaseServer, Layout, check_settings, count_tables, settings_text
from benchbook.systems.sql_client import Questions, SqlClient

FILE = "benchbook.conf"
"""Appended to the ``postgresql.conf`` that initdb writes."""
USER = "benchbook"
"""The superuser of a cluster that the harness creates."""
INIT_SECONDS = 120.0
QUERY_SECONDS = 600.0


def quoted(value: Setting) -> Setting:
    """Return a setting as PostgreSQL's configuration writes it.

    >>> quoted("it's"), quoted(True), quoted(200)
    ("'it''s'", True, 200)
    """
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else value


@dataclass(frozen=True)
class Psql:
    """One database, queried through PostgreSQL's ``psql``; every query is a separate connection."""

    place: Place
    program: Path
    host: str
    port: int
    user: str
    password: str
    database: str

    def answers(self) -> bool:
        """Return whether the server accepts queries."""
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((self.host, self.port)) != 0:
                return False
        return self._run("SELECT 1").returncode == 0

    def rows(self, statement: str) -> list[list[str]]:
        """Return the rows of a statement as strings; raise TrialFailed with the server's error."""
        ran = self._run(statement)
        if ran.returncode != 0:
            raise TrialFailed(f"PostgreSQL refuses «{statement}»: {' '.join(ran.stderr.split())}")
        return list(csv.reader(io.StringIO(ran.stdout)))

    def _run(self, statement: str) -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [
            self.program, "--no-psqlrc", "--no-password", "--tuples-only", "--csv", "--quiet",
            "--host", self.host, "--port", str(self.port), "--username", self.user,
            "--dbname", self.database, "--command", statement,
        ]  # fmt: skip
        try:
            return self.place.call(command, QUERY_SECONDS, environment={"PGPASSWORD": self.password})
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"psql could not query the server: {error}.") from error


class PostgreSQL(DatabaseServer):
    """One PostgreSQL in one trial."""

    target = "postgresql"
    packages = ("psycopg",)
    dialect = "postgresql"
    url_schemes = ("postgres", "postgresql")
    reserved = (
        "listen_addresses", "port", "unix_socket_directories", "data_directory", "hba_file", "ident_file",
        "config_file",
    )  # fmt: skip
    users = ("postgres",)
    in_containers = False
    settle_seconds = 600.0
    stop_signal = signal.SIGINT  # fast shutdown: it ends sessions and writes a checkpoint

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "postgres.log"
        self._user = None if self.external or place.program.isolated else ordinary_user(*self.users)
        """The user as whom its programs run; None for an external server and for an image, which states its user."""
        self._cluster = place.data / "cluster"
        self._password = os.environ.get("PGPASSWORD", "") if self.external else secret.draw()
        self._questions: dict[str, Questions] = {}
        """Database → the worker of its client."""

    def url_of(self, address: str) -> str:
        """Return the address with the user and without the password."""
        return f"postgres://{USER}@{address}"

    def files(self, at: Layout) -> dict[str, str]:
        """Return the settings that are appended to the configuration from initdb."""
        settings: dict[str, Setting] = {
            "listen_addresses": at.host, "unix_socket_directories": "",
            **self.settings,
        }  # fmt: skip
        written = {name: quoted(value) for name, value in settings.items()} | {"port": at.ports["port"]}
        return {FILE: settings_text(written, booleans=("off", "on"))}

    def initialise(self) -> None:
        """Refuse settings that the server does not know, and create the cluster."""
        if self.settings:
            check_settings(self.settings, self._known_settings(), "PostgreSQL")
        self._initdb()
        with (self._cluster / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write((self.place.config / FILE).read_text(encoding="utf-8"))

    def _known_settings(self) -> list[str]:
        ran = self._call([self._beside("postgres"), "--describe-config"], 30.0)
        if ran.returncode != 0:
            raise TrialFailed(f"PostgreSQL does not list its settings: {' '.join(ran.stderr.split())}")
        return [line.partition("\t")[0] for line in ran.stdout.splitlines()]

    def _initdb(self) -> None:
        file = self.place.data / "password"
        file.touch(mode=0o600)
        file.write_text(self._password + "\n", encoding="utf-8")
        if self._user is not None:
            self._user.take_over(self.place.data)
        command: list[str | Path] = [
            self._beside("initdb"), "--pgdata", self._cluster, "--username", USER, "--pwfile", file,
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
        ]  # fmt: skip
        try:
            ran = self._call(self._as_user(command), INIT_SECONDS)
        finally:
            with contextlib.suppress(OSError):
                file.unlink()
        if ran.returncode != 0:
            raise TrialFailed(f"initdb could not create the cluster: {' '.join(ran.stderr.split())[-500:]}")

    def _call(self, command: Sequence[str | Path], seconds: float) -> subprocess.CompletedProcess[str]:
        try:
            return self.place.call(command, seconds, cwd=self.place.data)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"{self.name} could not be prepared: {error}.") from error

    def _beside(self, name: str) -> Path:
        """Return a program of the same PostgreSQL: a link on PATH leads to the folder of all its programs."""
        program = self.program if self.place.program.isolated else self.program.resolve()
        return program.with_name(name)

    def _as_user(self, command: Sequence[str | Path]) -> Sequence[str | Path]:
        return self._user.command(command) if self._user is not None else command

    def command(self) -> Sequence[str | Path]:
        """Return the command, run as an ordinary user."""
        return self._as_user([self._beside("postgres"), "-D", self._cluster])

    def psql(self, database: str = "postgres") -> Psql:
        """Return the connection to a database."""
        at = urlsplit(self.url)
        program = Path(shutil.which("psql") or "psql") if self.external else self._beside("psql")
        return Psql(
            self.place,
            program,
            str(at.hostname),
            at.port or 5432,
            at.username or "postgres",
            self._password,
            database,
        )

    def answers(self) -> bool:
        return self.psql().answers()

    def version(self) -> str:
        """Return the version that the server reports, without the distribution's suffix."""
        self.check_alive(0.0)
        return self.psql().rows("SHOW server_version")[0][0].split()[0]

    def databases(self) -> list[str]:
        return [row[0] for row in self.psql().rows("SELECT datname FROM pg_database")]

    def tables(self, database: str) -> list[str]:
        """Return the names of the tables of a database, without the server's."""
        system = "('pg_catalog', 'information_schema')"
        rows = f"SELECT tablename FROM pg_tables WHERE schemaname NOT IN {system} ORDER BY 1"  # noqa: S608
        return [row[0] for row in self.psql(database).rows(rows)]

    def create(self, database: str) -> None:
        """Create a database, in UTF-8."""
        self.psql().rows(f'CREATE DATABASE "{database}"')

    def drop(self, database: str) -> None:
        self.psql().rows(f'DROP DATABASE "{database}"')

    def drop_command(self, database: str) -> str:
        return f"dropdb {database}"

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Count the rows of each table and the non-null values of each column."""
        if (asked := self._questions.get(database)) and asked.worker:
            return asked.count()
        psql = self.psql(database)
        tables: dict[str, list[str]] = {table: [] for table in self.tables(database)}
        for table, name in psql.rows(
            "SELECT table_name, column_name FROM information_schema.columns ORDER BY ordinal_position"
        ):
            if table in tables:
                tables[table].append(name)
        return count_tables(psql.rows, tables)

    def settle(self) -> None:
        """Wait until no autovacuum works, then write and sync every changed page (CHECKPOINT).

        The table of ``hits`` is vacuumed and analysed before, as in its publication. An autovacuum that has not started
        by then is not awaited: a threshold of changed rows triggers it.
        """
        for one in self._questions.values():
            if one.worker:
                one.ask("settle")
        working = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
        self.wait_settled(
            lambda: self.psql().rows(working)[0][0] == "0", "autovacuum is still running", pause=0.2
        )
        self.psql().rows("CHECKPOINT")

    def size(self) -> dict[str, int]:
        """Return the bytes of the trial's databases (data), the write-ahead log (wal) and the rest (other)."""
        names = ", ".join(f"'{name}'" for name in self.place.databases)
        if self.external:
            statement = f"SELECT sum(pg_database_size(datname)) FROM pg_database WHERE datname IN ({names})"  # noqa: S608
            return {"data": int(self.psql().rows(statement)[0][0] or 0)}
        rows = self.psql().rows(f"SELECT oid FROM pg_database WHERE datname IN ({names})")  # noqa: S608 - our names
        data = sum(allocated(self._cluster / "base" / row[0]) for row in rows)
        wal = allocated(self._cluster / "pg_wal")
        return {"data": data, "wal": wal, "other": max(0, allocated(self._cluster) - data - wal)}

    def client_environment(self) -> dict[str, str]:
        return {"PGPASSWORD": self._password}

    def database_client(self, benchload: Path, database: str, log: Path) -> Client:
        self._questions[database] = Questions(
            self.place,
            "PostgreSQL",
            "postgresql",
            lambda: self.url,
            database,
            lambda: {"password": self._password},
        )
        return SqlClient(
            benchload,
            self._questions[database],
            **self.client_options(database, log),
        )

    def stop(self) -> None:
        """Close the workers' connections, then stop the server."""
        for one in self._questions.values():
            one.stop()
        super().stop()


driver = PostgreSQL
