"""MySQL and MariaDB: one server on a free loopback port, with a data folder of its own."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path
from typing import Any, ClassVar

from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.process.launch import Started
from benchbook.process.network import check_free, free_ports
from benchbook.process.ordinary_user import ordinary_user
from benchbook.storage.driver import allocated
from benchbook.systems.client import SQL_DEFECTS, BenchloadBars
from benchbook.systems.driver import Client, Place, Setting, TableCount
from benchbook.systems.redis import SETTLE_SECONDS

IN_CONTAINERS = True
URL_SCHEMES = ("mysql",)
FILE = "my.cnf"


class MySQL:
    """One MySQL in one trial."""

    own: ClassVar[tuple[str, ...]] = ("datadir", "socket", "port", "bind-address", "pid-file", "user")
    """Options that the harness sets; no arm may."""
    extra: ClassVar[dict[str, Setting]] = {"mysqlx": 0}
    """What it needs besides: no second protocol on a fixed port."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: Started | None = None
        self.watched_seconds = 0.0
        self.url = place.program.url or ""
        self._connection: Any = None
        self._created: list[str] = []
        user = None if place.program.image else ordinary_user("mysql")
        self._user = user if user is not None and user.setpriv else None
        """The account that the server changes to by itself, where the harness is root."""

    def configure(self) -> dict[str, str]:
        """Write ``my.cnf``, make the data folder and its system tables; ports and folders are placeholders."""
        place = self._place
        if place.program.url:
            return {}
        for key in place.settings:
            if key.replace("_", "-") in self.own:
                raise TrialFailed(f'The arm sets "{key}", which the harness sets.', "Take it out of the arm.")
        port = str(free_ports(1, place.host)[0])
        self.url = f"mysql://{place.host}:{port}"
        real = self._options(str(place.data), place.host, port) | dict(place.settings)
        (place.config / FILE).write_text(text(real))
        self._initialise(place.config / FILE)
        return {FILE: text(self._options("{data}", place.host, "{port}") | dict(place.settings))}

    def start(self) -> None:
        """Start the server; one that already runs is left as it is."""
        if self._place.program.url:
            return
        check_free(self.url.removeprefix("mysql://"))
        self._running = self._place.start(
            [self._program(), f"--defaults-file={self._place.config / FILE}"],
            name=self._place.program.system,
            log=self._place.logs / "server.log",
        )

    def ready(self) -> bool:
        """Say whether it takes a connection; raise TrialFailed with its last words when it has died."""
        import pymysql

        if self._running is not None:
            self._running.check()
        try:
            self.connection().ping(reconnect=False)
        except (pymysql.MySQLError, OSError):
            self._connection = None
            return False
        return True

    def prepare(self) -> None:
        """Make each database; refuse one that has tables."""
        for database in self._place.databases:
            self.ask(f"CREATE DATABASE IF NOT EXISTS `{database}`")
            if not self.ask(f"SHOW TABLES FROM `{database}`"):
                self._created.append(database)
            else:
                raise TrialFailed(
                    f'The database "{database}" of {self.url} already holds data.',
                    f'Look at it, then remove it with: mysql -e "DROP DATABASE {database}"',
                )

    def settle(self) -> None:
        """Have InnoDB write every changed page, and wait until none is left; purge has then run too."""
        names = ("innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm")
        before = {name: self.ask(f"SELECT @@GLOBAL.{name}")[0][0] for name in names}
        for name in reversed(names):
            self.ask(f"SET GLOBAL {name} = 0")
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._status("Innodb_buffer_pool_pages_dirty") > 0:
            if time.monotonic() > deadline:
                raise TrialFailed(f"{self.url} still had unwritten pages after {SETTLE_SECONDS:.0f} s.")
            time.sleep(0.05)
        for name in names:
            self.ask(f"SET GLOBAL {name} = {before[name]}")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: the databases of the trial, the redo log, and the rest of the server."""
        if self._place.program.url:
            stated = self.ask(
                "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables "  # noqa: S608 - names of ours
                f"WHERE table_schema IN ({', '.join(repr(name) for name in self._place.databases)})"
            )
            return {"data": int(stated[0][0])}
        whole = self._place.data
        data = sum(allocated(whole / name) for name in self._place.databases)
        redo = allocated(whole / "#innodb_redo") + sum(
            file.stat().st_blocks * 512 for file in whole.glob("ib_logfile*")
        )
        return {"data": data, "wal": redo, "system": allocated(whole) - data - redo}

    def version(self) -> str:
        """Return the version that the server states, without its distribution's suffix."""
        return str(self.ask("SELECT VERSION()")[0][0]).partition("-")[0]

    def count(self) -> dict[str, TableCount]:
        """Count the first database; see ``count_in``."""
        return self.count_in(self._place.databases[0])

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Rows of each table and values of each column that is no part of its primary key."""
        found: dict[str, TableCount] = {}
        for (table,) in self.ask(f"SHOW TABLES FROM `{database}`"):
            columns = [
                str(name)
                for name, key in self.ask(
                    "SELECT column_name, column_key FROM information_schema.columns "  # noqa: S608 - names of ours
                    f"WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY ordinal_position"
                )
                if key != "PRI"
            ]
            counts = ", ".join(["COUNT(*)", *(f"COUNT(`{name}`)" for name in columns)])
            rows, *values = self.ask(f"SELECT {counts} FROM `{database}`.`{table}`")[0]  # noqa: S608 - names of ours
            found[str(table)] = TableCount(int(rows), dict(zip(columns, map(int, values), strict=True)))
        return found

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking the MySQL protocol."""
        return BenchloadBars(
            benchload, defects=SQL_DEFECTS, program="benchload, go-sql-driver/mysql",
            target="mysql", url=lambda: self.url, database=self._place.databases[0],
            log=self._place.logs / "benchload.log", registry=self._place.processes,
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, which ends it in the ordinary way, then SIGKILL.

        One that already ran loses the databases that this trial made.
        """
        for database in self._created if self._place.program.url else ():
            with contextlib.suppress(TrialFailed):
                self.ask(f"DROP DATABASE `{database}`")
        self._created = []
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None
        if self._running is not None:
            self._running.stop()
            self._running = None

    def connection(self) -> Any:
        """Return the driver's own connection, as root without a password."""
        import pymysql

        if self._connection is None:
            host, _, port = self.url.partition("://")[2].rpartition(":")
            self._connection = pymysql.connect(
                host=host, port=int(port), user="root", autocommit=True, connect_timeout=5
            )
        return self._connection

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows that a statement gives; raise TrialFailed with the server's words."""
        import pymysql

        try:
            with self.connection().cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        except (pymysql.MySQLError, OSError) as error:
            if self._running is not None:
                self._running.wait_ending(0.5)
                self._running.check()
            raise TrialFailed(f"{self.url} does not answer {statement[:80]!r}: {error}.") from None

    def _status(self, name: str) -> int:
        return int(self.ask(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])

    def _program(self) -> Path:
        assert self._place.program.path is not None
        return self._place.program.path

    def _options(self, data: str, host: str, port: str) -> dict[str, Setting]:
        options: dict[str, Setting] = {
            "datadir": data, "socket": f"{data}/server.sock", "pid-file": f"{data}/server.pid",
            "bind-address": host, "port": port, "secure-file-priv": "", **self.extra,
        }  # fmt: skip
        if self._place.program.image:
            return options | {"user": "root"}  # of the container, whose accounts are not this machine's
        return options | ({"user": self._user.name} if self._user else {})

    def _initialise(self, config: Path) -> None:
        """Make the data folder's system tables."""
        self._own_data()
        self._run([self._program(), f"--defaults-file={config}", "--initialize-insecure"])

    def _own_data(self) -> None:
        if self._user is not None:
            self._user.take_over(self._place.data)

    def _run(self, command: list[str | Path]) -> None:
        log = self._place.logs / "initialise.log"
        try:
            done = self._place.call(command)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"{command[0]} could not be run: {error}.") from error
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode != 0:
            said = log.read_text(encoding="utf-8", errors="replace").splitlines()
            errors = " | ".join(line for line in said if "[ERROR]" in line)
            raise TrialFailed(
                f"{self._place.program.system} could not make its data folder: {errors or spawn.last_words(log)}",
                f"Its whole output is {log}.",
            )


def text(options: dict[str, Setting]) -> str:
    r"""Write ``my.cnf``, in an order that depends on the keys alone.

    >>> text({"port": 1, "innodb_buffer_pool_size": "24G"})
    '[mysqld]\ninnodb_buffer_pool_size = 24G\nport = 1\n'
    """
    shown = {key: int(value) if isinstance(value, bool) else value for key, value in options.items()}
    return "[mysqld]\n" + "".join(f"{key} = {shown[key]}\n" for key in sorted(shown))


def driver(place: Place) -> MySQL:
    """Return the driver of one MySQL."""
    return MySQL(place)
