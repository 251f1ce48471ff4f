"""Base classes of server drivers: configure, start, watch and stop one server, and connect clients to it.

A family is a subclass that implements the differences; docs/adding-a-system.md explains how to write one.
"""

from __future__ import annotations

import contextlib
import json
import signal
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed, nearest
from benchbook.process.http import Http
from benchbook.process.launch import Started
from benchbook.process.network import check_free, free_ports
from benchbook.process.spawn import GRACE_SECONDS
from benchbook.process.wait import until, until_unchanged
from benchbook.storage.driver import allocated
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.several_clients import one_per_database

MISREADINGS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What code raises over an answer of an unexpected form."""


@dataclass(frozen=True)
class Layout:
    """The folders, the host and the ports of a server: those of one trial, or placeholders for all trials."""

    data: str
    config: str
    logs: str
    host: str
    ports: Mapping[str, str]

    def below(self, folders: Mapping[str, str]) -> dict[str, str]:
        """Return settings that name folders → their paths, of folders that are given below the data folder."""
        return {setting: f"{self.data}/{folder}" for setting, folder in folders.items()}

    def address(self, port: str) -> str:
        """Return ``host:port`` of a named port, or its placeholder alone."""
        number = self.ports[port]
        return f"{self.host}:{number}" if number.isdigit() else number


class Server:
    """A server in one trial; the harness starts it, unless it is already running (``external``)."""

    target: str
    """Name of benchload's target."""
    scheme: ClassVar[str] = "http"
    """Scheme of the server's URL."""
    url_schemes: ClassVar[tuple[str, ...]] = ("http", "https")
    """Schemes of the URLs of external servers."""
    ports: ClassVar[tuple[str, ...]] = ("port",)
    """Names of its ports; clients connect to the first one."""
    reserved: ClassVar[tuple[str, ...]] = ()
    """Settings that the harness controls and no arm may change."""
    harness_settings: ClassVar[tuple[str, ...]] = ()
    """Settings of an arm for the driver, not for the server."""
    users: ClassVar[tuple[str, ...]] = ()
    """Users as whom it runs if the harness is root, the first that exists; empty if it runs as root."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Packages of Benchbook's extras (``host/extras.py``) that the driver or its worker imports."""
    in_images: ClassVar[bool] = True
    """True if it can run from an image; all its programs start through ``place``."""
    in_containers: ClassVar[bool] = True
    """True if an engine can run its image too: it accepts the harness's user, whom the image does not know."""
    ready_seconds: ClassVar[float] = 120.0
    """Time that it may take to answer after its start."""
    settle_seconds: ClassVar[float] = 900.0
    """Time that it may take to settle after a load."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    stop_seconds: ClassVar[float] = GRACE_SECONDS
    """Time that it may take to stop before it is killed."""
    headers: ClassVar[Mapping[str, str]] = {}
    """Headers of every HTTP request of the driver."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = place.program.system
        self.url = place.program.url or ""
        """Address of the server, once it is configured."""
        self.settings: dict[str, Setting] = {
            name: value for name, value in place.settings.items() if name not in self.harness_settings
        }
        """The arm's settings for the server."""
        self.log = place.logs / "server.log"
        self.watched_seconds = 0.0
        self._started: Started | None = None
        self._addresses: list[str] = []
        self._answered = ""

    # For families to implement.

    def files(self, at: Layout) -> dict[str, str]:
        """Return the configuration files by name, for these folders and ports."""
        raise NotImplementedError

    def initialise(self) -> None:
        """Create what the data folder needs before the first start; configuration files exist by then."""

    def command(self) -> Sequence[str | Path]:
        """Return the command that starts the server."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return variables to add to the server's environment."""
        return {}

    def answers(self) -> bool:
        """Return whether the server accepts requests."""
        raise NotImplementedError

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes on disk by part, for a server that the harness started."""
        return {"data": allocated(self.place.data)}

    def url_of(self, address: str) -> str:
        """Return the URL of the server at ``host:port``."""
        return f"{self.scheme}://{address}"

    def client_environment(self) -> dict[str, str]:
        """Return secrets for the environment of clients; they never appear in a command line."""
        return {}

    def database_client(self, benchload: Path, database: str, log: Path) -> Client:
        """Return the client that loads and queries one database."""
        return BenchloadClient(benchload, **self.client_options(database, log))

    # For families to use.

    def client_options(self, database: str, log: Path) -> dict[str, Any]:
        """Return the options of a ``BenchloadClient`` of one database."""
        return {
            "target": self.target, "url": lambda: self.url, "database": database, "log": log,
            "registry": self.place.processes, "environment": self.client_environment,
        }  # fmt: skip

    @property
    def external(self) -> bool:
        """True if the server was already running, so that the harness only uses it."""
        return self.place.program.url is not None

    @property
    def program(self) -> Path:
        """The path of the server's program."""
        assert self.place.program.path is not None
        return self.place.program.path

    @property
    def layout(self) -> Layout:
        """The folders and ports of this trial."""
        place = self.place
        numbers = (address.rpartition(":")[2] for address in self._addresses)
        return Layout(
            str(place.data),
            str(place.config),
            str(place.logs),
            place.host,
            dict(zip(self.ports, numbers, strict=True)),
        )

    @property
    def http(self) -> Http:
        """The server's HTTP interface."""
        return Http(self.name, self.url, self.headers, self.check_alive, self._note_answer)

    def _note_answer(self, answer: str) -> None:
        self._answered = answer

    def misread(self, error: Exception) -> str | None:
        """Return that the last answer has an unexpected form, if this driver's code raised the error over it.

        Checking each value of each answer would hide what a driver does; Python's own error names the first that
        is not as expected.
        """
        if not self._answered or not isinstance(error, MISREADINGS):
            return None
        raised_in = [frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
        if not {*raised_in} & {family.__module__ for family in (*type(self).__mro__, TableCount)}:
            return None
        return (
            f"{self.name} answers {self._answered}, which is not the form of answer that Benchbook expects"
            f" ({type(error).__name__}: {error})"
        )

    def check_alive(self, wait_seconds: float = 0.5) -> None:
        """Raise TrialFailed with the end of the log if the server has died, or dies within ``wait_seconds``."""
        if self._started is not None:
            self._started.wait_ending(wait_seconds)
            self._started.check()

    def wait_settled(self, settled: Callable[[], object], reason: str, *, pause: float = 0.1) -> None:
        """Wait until ``settled`` returns true; raise TrialFailed with ``reason`` after ``settle_seconds``."""
        if not until(settled, self.settle_seconds, pause=pause):
            raise TrialFailed(f"{self.name} did not settle within {self.settle_seconds:.0f} s: {reason}.")

    def wait_unchanged(self, read: Callable[[], object], rest_seconds: float) -> None:
        """Wait until ``read`` returns the same for ``rest_seconds``, which do not count as settling."""
        if not until_unchanged(read, rest_seconds, self.settle_seconds):
            raise TrialFailed(
                f"{self.name} did not settle within {self.settle_seconds:.0f} s: its files are still changing."
            )
        self.watched_seconds = rest_seconds

    def holds_data(self, what: str, removal: str = "") -> TrialFailed:
        """Return the error for a server that is not empty; ``removal`` is a command that empties it."""
        return TrialFailed(
            f"{self.name} at {self.url} already holds data: {what}.",
            f"Check that you do not need it, then remove it{f' with: {removal}' if removal else ''}.",
        )

    # The calls of ``driver.Driver``.

    def configure(self) -> dict[str, str]:
        """Choose ports and write the configuration; return it with placeholders for ports and folders."""
        if self.external:
            return {}
        for name in self.reserved:
            if name in self.settings:
                raise TrialFailed(
                    f'The configuration (arm) {self.place.arm} sets "{name}", which the harness sets itself.',
                    f"Remove it from the arm in systems/{self.place.program.system}.toml.",
                )
        self._addresses = [f"{self.place.host}:{port}" for port in self.free_ports()]
        if self._addresses:
            self.url = self.url_of(self._addresses[0])
        for name, text in self.files(self.layout).items():
            (self.place.config / name).write_text(text, encoding="utf-8")
        self.initialise()
        shown = {name: f"{{{name}}}" for name in ("data", "config", "logs", *self.ports)}
        ports = {name: shown[name] for name in self.ports}
        return self.files(Layout(shown["data"], shown["config"], shown["logs"], self.place.host, ports))

    def free_ports(self) -> list[int]:
        """Return a free port for each name of ``ports``."""
        return free_ports(len(self.ports), self.place.host)

    def start(self) -> None:
        """Start the server; leave an external one as it is."""
        if self.external:
            return
        for address in self.addresses():
            check_free(address)
        self._started = self.place.start(
            self.command(), name=self.name, log=self.log, cwd=self.place.data, environment=self.environment()
        )

    def addresses(self) -> list[str]:
        """Return the addresses that must be free when the server starts."""
        return self._addresses

    def ready(self) -> bool:
        """Return whether it answers; raise TrialFailed with the end of its log if it has died."""
        self.check_alive(0.0)
        return self.answers()

    def size(self) -> dict[str, int]:
        """Return the bytes on disk by part; empty for an external server, whose disk may be elsewhere."""
        return {} if self.external else self.disk_usage()

    def client(self, benchload: Path) -> Client:
        """Return the client of the trial: benchload, which speaks the server's protocol."""
        return one_per_database(self.place, lambda name, log: self.database_client(benchload, name, log))

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for an external server."""
        return self._started.tree() if self._started is not None else []

    def stop(self) -> None:
        """Send the stop signal, then SIGKILL; leave an external server as it is."""
        if self._started is not None:
            self._started.stop(self.stop_seconds, self.stop_signal)
            self._started = None


class DatabaseServer(Server):
    """A server with databases, which the driver creates, counts, and drops from an external server."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._created: list[str] = []

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        raise NotImplementedError

    def tables(self, database: str) -> list[str]:
        """Return the names of the tables of a database."""
        raise NotImplementedError

    def create(self, database: str) -> None:
        """Create a database."""
        raise NotImplementedError

    def reuse(self, database: str) -> None:
        """Bring an empty database of an external server into the state that ``create`` produces."""

    def drop(self, database: str) -> None:
        """Drop a database with its data."""
        raise NotImplementedError

    def drop_command(self, database: str) -> str:
        """Return the command with which a user drops a database."""
        raise NotImplementedError

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Return rows and non-null values per table of a database."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Create each missing database; raise TrialFailed if one holds data."""
        known = self.databases()
        for database in self.place.databases:
            if database not in known:
                self._created.append(database)
                self.create(database)
            elif tables := self.tables(database):
                held = f'the database "{database}" contains {", ".join(tables[:3])}'
                raise self.holds_data(held, self.drop_command(database))
            else:
                self.reuse(database)

    def count(self) -> dict[str, TableCount]:
        """Count the first database."""
        return self.count_in(self.place.databases[0])

    def stop(self) -> None:
        """Stop the server; drop the databases that this trial created in an external one."""
        for database in self._created if self.external else ():
            # If the server is gone, the next trial's prepare reports what is left.
            with contextlib.suppress(TrialFailed):
                self.drop(database)
        self._created = []
        super().stop()


def settings_text(
    settings: Mapping[str, Setting], line: str = "{} = {}", booleans: tuple[str, str] = ("false", "true")
) -> str:
    r"""Return settings as lines, sorted by name.

    >>> settings_text({"port": 1, "bind": "127.0.0.1", "cache": True}, "{}: {}")
    'bind: 127.0.0.1\ncache: true\nport: 1\n'
    """
    shown = {name: booleans[value] if isinstance(value, bool) else value for name, value in settings.items()}
    return "".join(line.format(name, shown[name]) + "\n" for name in sorted(shown))


def check_settings(settings: Mapping[str, Setting], known: Sequence[str], name: str) -> None:
    """Raise TrialFailed if the arm has a setting that the server does not know and would ignore."""
    for setting in settings:
        if setting not in known:
            guess = nearest(setting, known)
            raise TrialFailed(
                f'{name} has no setting "{setting}".',
                f'Did you mean "{guess}"?' if guess else "Correct the arm in systems/*.toml.",
            )


def sections_text(flat: Mapping[str, Setting | Sequence[str]], sections: Sequence[str] = ()) -> str:
    """Write flat settings as TOML, sorted by key.

    Sections in ``sections`` are written even if they are empty.

    >>> sections_text({"on": True, "wal.path": "/w"}).splitlines()
    ['on = true', '', '[wal]', 'path = "/w"']
    """
    parts: dict[str, dict[str, Setting | Sequence[str]]] = {section: {} for section in sections}
    for key in sorted(flat):
        section, _, name = key.rpartition(".")
        parts.setdefault(section, {})[name] = flat[key]
    shown = []
    for section in sorted(parts):
        lines = [f"[{section}]"] if section else []
        # A JSON string, number, boolean or list of strings is also a TOML one.
        lines += [f"{name} = {json.dumps(value)}" for name, value in parts[section].items()]
        shown.append("\n".join(lines) + "\n")
    return "\n".join(shown)


def flat_keys(table: Mapping[str, object], prefix: str = "") -> list[str]:
    """Return the keys of a table and its sections.

    >>> flat_keys({"on": True, "wal": {"path": "/w"}})
    ['on', 'wal.path']
    """
    keys: list[str] = []
    for name, value in table.items():
        keys += flat_keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [f"{prefix}{name}"]
    return keys


Rows = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a statement and returns its rows."""


def count_tables(
    rows: Rows, tables: Mapping[str, Iterable[str]], quote: str = '"', database: str = ""
) -> dict[str, TableCount]:
    """Return rows and non-null values of ``tables``, a mapping of names to the columns to count.

    >>> count_tables(lambda statement: [print(statement) or (3, 2)], {"cpu": ["user"]})
    SELECT count(*), count("user") FROM "cpu"
    {'cpu': TableCount(rows=3, fields={'user': 2}, exact=True)}
    """
    within = f"{quote}{database}{quote}." if database else ""
    found = {}
    for table, names in tables.items():
        columns = list(names)
        counts = ", ".join(["count(*)", *(f"count({quote}{name}{quote})" for name in columns)])
        number, *values = map(int, rows(f"SELECT {counts} FROM {within}{quote}{table}{quote}")[0])  # noqa: S608
        found[table] = TableCount(number, dict(zip(columns, values, strict=True)))
    return found
