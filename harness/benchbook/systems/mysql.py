"""MySQL, and the base of MariaDB."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.process.http import ANSWER_SECONDS, hang_up
from benchbook.process.ordinary_user import ordinary_user
from benchbook.process.wait import within
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.quoting import in_quotes
from benchbook.systems.server import DatabaseServer, Layout, count_tables, settings_text
from benchbook.systems.sql_client import Questions, SqlClient

FILE = "my.cnf"

PROBE_SECONDS = 10.0
"""Time that a connection and a ping may take, before the server counts as not ready."""


class MySQL(DatabaseServer):
    """One MySQL in one trial."""

    target = "mysql"
    packages = ("pymysql",)
    dialect = "mysql"
    users = ("mysql",)
    scheme = "mysql"
    url_schemes = ("mysql",)
    reserved = ("datadir", "socket", "port", "bind-address", "pid-file", "user")
    defaults: ClassVar[dict[str, Setting]] = {"mysqlx": 0}
    """Required settings: no second protocol on a fixed port."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._connection: Any = None
        self._questions: list[Questions] = []
        """The worker of each client."""
        user = None if place.program.isolated else ordinary_user(*self.users)
        self._user = user if user is not None and user.setpriv else None
        """The account to which the server changes if the harness is root."""

    def files(self, at: Layout) -> dict[str, str]:
        options: dict[str, Setting] = {
            "datadir": in_quotes(at.data), "socket": in_quotes(f"{at.data}/server.sock"),
            "pid-file": in_quotes(f"{at.data}/server.pid"),
            "bind-address": at.host, "port": at.ports["port"], "secure-file-priv": "", **self.defaults,
        }  # fmt: skip
        if self.place.program.image:
            options["user"] = "root"  # in the container, whose accounts differ from this machine's
        elif self._user:
            options["user"] = self._user.name
        return {FILE: "[mysqld]\n" + settings_text(options | self.settings, booleans=("0", "1"))}

    def initialise(self) -> None:
        if self._user is not None:
            self._user.take_over(self.place.data)
        command = self.initialise_command()
        log = self.place.logs / "initialise.log"
        try:
            ran = self.place.call(command, cwd=self.place.data)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"{command[0]} could not run: {error}.") from error
        log.write_text(ran.stdout + ran.stderr, encoding="utf-8")
        if ran.returncode != 0:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            errors = " | ".join(line for line in lines if "[ERROR]" in line)
            raise TrialFailed(
                f"{self.name} could not initialise its data folder: {errors or spawn.log_end(log)}",
                f"The whole output is {log}.",
            )

    def initialise_command(self) -> Sequence[str | Path]:
        return [*self.command(), "--initialize-insecure"]

    def command(self) -> Sequence[str | Path]:
        return [self.program, f"--defaults-file={self.place.config / FILE}"]

    def answers(self) -> bool:
        """Connect, or send a ping."""
        import pymysql

        try:
            within(PROBE_SECONDS, lambda: self._connected().ping(reconnect=False), self._hang_up)
        except (pymysql.MySQLError, OSError):
            self._connection = None
            return False
        return True

    def _connected(self) -> Any:
        """Return the driver's connection, as root without a password."""
        import pymysql

        if self._connection is None:
            host, _, port = self.url.partition("://")[2].rpartition(":")
            self._connection = pymysql.connect(
                host=host, port=int(port), user="root", autocommit=True, connect_timeout=5
            )
        return self._connection

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; raise TrialFailed with the server's error."""
        import pymysql

        def ask() -> list[tuple[Any, ...]]:
            with self._connected().cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())

        try:
            return within(ANSWER_SECONDS, ask, self._hang_up)
        except (pymysql.MySQLError, OSError) as error:
            self.check_alive()
            raise TrialFailed(f"{self.name} at {self.url} refuses {statement[:80]!r}: {error}.") from None

    def version(self) -> str:
        """Return the version that the server reports, without the distribution's suffix."""
        return str(self.sql("SELECT VERSION()")[0][0]).partition("-")[0]

    def databases(self) -> list[str]:
        return [str(name) for (name,) in self.sql("SHOW DATABASES")]

    def tables(self, database: str) -> list[str]:
        return [str(name) for (name,) in self.sql(f"SHOW TABLES FROM `{database}`")]

    def create(self, database: str) -> None:
        self.sql(f"CREATE DATABASE `{database}`")

    def drop(self, database: str) -> None:
        self.sql(f"DROP DATABASE `{database}`")

    def drop_command(self, database: str) -> str:
        return f'mysql -e "DROP DATABASE {database}"'

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Count the rows of each table and the values of each column outside its primary key."""
        tables: dict[str, list[str]] = {table: [] for table in self.tables(database)}
        for table, name, key in self.sql(
            "SELECT table_name, column_name, column_key FROM information_schema.columns "  # noqa: S608 - our name
            f"WHERE table_schema = '{database}' ORDER BY ordinal_position"
        ):
            if key != "PRI":
                tables[table].append(name)
        return count_tables(self.sql, tables, "`", database)

    def settle(self) -> None:
        """Make InnoDB write every changed page, and wait until none is left; purge has then run too.

        Tables from a file are analysed before.
        """
        for one in self._questions:
            if one.worker:
                one.ask("settle")
        names = ("innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm")
        before = {name: self.sql(f"SELECT @@GLOBAL.{name}")[0][0] for name in names}
        for name in reversed(names):
            self.sql(f"SET GLOBAL {name} = 0")
        self.wait_settled(lambda: not self._dirty_pages(), "changed pages are not written yet", pause=0.05)
        for name in names:
            self.sql(f"SET GLOBAL {name} = {before[name]}")

    def _dirty_pages(self) -> int:
        return int(self.sql("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")[0][1])

    def size(self) -> dict[str, int]:
        """Return the bytes of the trial's databases (data), the redo log (wal) and the rest (system)."""
        if self.external:
            names = ", ".join(repr(name) for name in self.place.databases)
            sizes = self.sql(
                "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables "  # noqa: S608
                f"WHERE table_schema IN ({names})"
            )
            return {"data": int(sizes[0][0])}
        whole = self.place.data
        data = sum(allocated(whole / name) for name in self.place.databases)
        redo = allocated(whole / "#innodb_redo") + sum(
            file.stat().st_blocks * 512 for file in whole.glob("ib_logfile*")
        )
        return {"data": data, "wal": redo, "system": allocated(whole) - data - redo}

    def database_client(self, benchload: Path, database: str, log: Path) -> Client:
        questions = Questions(self.place, "MySQL", "mysql", lambda: self.url, database)
        self._questions.append(questions)
        return SqlClient(benchload, questions, **self.client_options(database, log))

    def stop(self) -> None:
        """Close the workers' connections, stop the server and close the connection."""
        for one in self._questions:
            one.stop()
        super().stop()
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None

    def _hang_up(self) -> None:
        """End a connection that another thread still reads, so that this thread ends too."""
        connection, self._connection = self._connection, None
        sock = getattr(connection, "_sock", None)  # closing the connection would wait for the reader
        if sock is not None:
            hang_up(sock)


driver = MySQL
