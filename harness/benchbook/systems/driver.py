"""The protocol of system drivers, through which the engine uses every database or store.

A driver configures, starts and stops one server or embedded process for one trial. It never times anything: the engine
in ``benchbook.run`` does. A family of systems is one module of this package that sets ``driver`` to a class, created
from a place; ``systems/<name>.toml`` names the module. An experiment may add drivers (``declare/plugin.py``).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from benchbook.declare import checkout, plugin
from benchbook.declare.experiment import Limits
from benchbook.declare.level import Setting
from benchbook.errors import RequestError, unknown
from benchbook.measure.measurement import Event
from benchbook.process import launch, spawn
from benchbook.process.launch import CALL_SECONDS, Launch, Program, Started

DATABASE = "benchbook"
"""Name of the first database, to which queries go."""


def databases(clients: int) -> tuple[str, ...]:
    """Return the names of the databases into which ``clients`` clients load.

    >>> databases(2)
    ('benchbook', 'benchbook_2')
    """
    return (DATABASE, *(f"{DATABASE}_{place}" for place in range(2, clients + 1)))


@dataclass(frozen=True)
class Place:
    """The folders, program and settings with which a driver runs its system in one trial; the folders exist."""

    program: Program
    arm: str
    settings: dict[str, Setting]
    """The arm's settings: differences from the system's default configuration."""
    data: Path
    """Data folder, on the storage under test."""
    config: Path
    """Folder for configuration files; kept with the trial."""
    logs: Path
    """Folder for the server's output; kept with the trial."""
    host: str = "127.0.0.1"
    databases: tuple[str, ...] = (DATABASE,)
    """Names of the databases, one for each client that loads at once."""
    limits: Limits = field(default_factory=Limits)
    """Limits of the system's processes. ``start`` enforces them; a driver reads them to size a heap."""
    processes: Path | None = None
    """Folder that registers started processes (``process/leftovers.py``); None registers nothing."""
    launch: Launch | None = None
    """Starts programs; None starts them as processes of this machine."""

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """Start a server of the system; raise TrialFailed if that fails. Messages call it ``name``."""
        if self.launch is not None:
            return self.launch.start(command, name=name, log=log, cwd=cwd, environment=environment)
        return spawn.start(
            command, name=name, log=log, cwd=cwd, environment=environment, registry=self.processes
        )

    def call(
        self,
        command: Sequence[str | Path],
        timeout_seconds: float = CALL_SECONDS,
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the system to its end; raise OSError or TimeoutExpired like ``subprocess.run``.

        ``environment`` is added to that of the harness, or of the image.
        """
        if self.launch is not None:
            return self.launch.call(command, timeout_seconds, cwd=cwd, environment=environment)
        variables = {**os.environ, **environment} if environment else None
        return launch.call(command, timeout_seconds, cwd=cwd, env=variables)


@dataclass(frozen=True)
class TableCount:
    """Rows of a table (measurement) and non-null values per field, as the running system counts them."""

    rows: int
    fields: dict[str, int] = field(default_factory=dict)
    exact: bool = True
    """True if ``rows`` were counted; False if they are the values of the fullest field."""

    @classmethod
    def of_fields(cls, fields: dict[str, int]) -> TableCount:
        """Return the count of a table in a system without rows: the values of its fullest field."""
        return cls(max(fields.values(), default=0), fields, exact=False)


@dataclass(frozen=True)
class DatasetRequest:
    """A dataset that benchload generates."""

    generator: str
    flags: tuple[str, ...]
    """Flags after ``benchload <verb> <generator>``: ``--seed 1 --scale 10 …``."""
    tables: dict[str, TableCount]
    """Expected rows and values per table, from the dataset's digest."""
    by_worker: bool = False
    """True if only a worker in Python can load it and ask its questions."""
    load_command: str = ""
    """Command of the client that loads it; empty for ``load``."""
    file: Path | None = None
    """The rows in Arrow, of a dataset from a file, which benchload does not generate."""


@dataclass(frozen=True)
class LoadRequest:
    """A load of a dataset into an empty database."""

    dataset: DatasetRequest
    workers: int
    batch_rows: int
    gzip: bool = False
    timeout_seconds: float = 30.0
    retries: int = 5
    """Number of times that the client repeats a write that the server failed to do."""
    keep_going: bool = False
    """True if the load continues after a refused write."""
    append: bool = False
    """True if the database may hold data already."""
    lasts_seconds: float | None = None
    """If set: writes begin for so long, with rows that follow the dataset's in time after those of the dataset."""
    whole: bool = False
    """True if a load continues after ``lasts_seconds`` until the dataset is complete."""
    tick_seconds: float | None = None
    """If set: each worker begins at most one write in each interval of this length."""
    wait: bool = False
    """True if the prepared client waits for ``begin``."""
    record: Path | None = None
    """If set, the file for a record of each operation."""


@dataclass(frozen=True)
class QueryRequest:
    """A run of the query specifications in one file, timed or for their answers."""

    queries: Path
    workers: int = 1
    warmup: int = 0
    timeout_seconds: float = 30.0
    lasts_seconds: float | None = None
    """If set: queries begin for so long, again with the first after the last."""
    answers: int | None = None
    """If set, emit one untimed ``answer`` event for each of the first N queries of each type, and their digests."""
    also: tuple[int, ...] = ()
    """With ``answers``, ids of queries that are asked only for the digests of their answers."""
    rate: float = 0.0
    """Queries per second of an open loop; 0 for a closed loop."""
    arrivals: str = "constant"
    record: Path | None = None


Flag = Setting | Path | timedelta | None
"""Value of a flag; None or False leaves the flag out."""


@dataclass(frozen=True)
class Operations:
    """Operations of a workload in its own terms, which each kind of client does in its own way."""

    verb: str
    """Command of benchload that does them."""
    flags: Mapping[str, Flag]
    """Flag of that command → value. A worker in Python gets the same ones."""
    dataset: tuple[str, ...] = ()
    """Flags of the dataset."""
    worker: str = ""
    """Module whose function ``serve`` does them in a worker in Python; empty if none does."""
    record: Path | None = None
    """If set, the file for a record of each operation."""


class Client(Protocol):
    """Puts load on a system and reports events; one process at a time."""

    @property
    def shares_process(self) -> bool:
        """True if client and system are the same process, as for embedded systems.

        Their costs cannot be separated then, and both have the same ``processes()``.
        """
        ...

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load a whole dataset; yield events as they happen."""
        ...

    def query(self, request: QueryRequest) -> Iterator[Event]:
        """Run a query set, timed or for its answers; yield events as they happen."""
        ...

    def perform(self, operations: Operations) -> Iterator[Event]:
        """Do operations of a workload; yield events as they happen."""
        ...

    def processes(self) -> list[int]:
        """Return the current process ids of the client."""
        ...

    def cancel(self) -> None:
        """Stop the running operation, from another thread; its iterator then ends or raises TrialFailed."""
        ...


@runtime_checkable
class SeveralDatabases(Protocol):
    """The additional call of a driver that supports a place with several databases."""

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Return rows and non-null values per table of one of the databases."""
        ...


class Driver(Protocol):
    """One system in one trial; the engine calls the methods in this order, and each may raise TrialFailed."""

    watched_seconds: float
    """Part of the last ``settle`` that only watched an idle system, which does not count as settling."""

    def configure(self) -> dict[str, str]:
        """Write configuration files; return them as file name → text.

        Their digest identifies the configuration, so the returned texts have placeholders for the ports and folders
        that differ between trials.
        """
        ...

    def start(self) -> None:
        """Start the server without waiting until it is ready; called again after ``stop`` for a cold start."""
        ...

    def ready(self) -> bool:
        """Return whether it answers; raise TrialFailed with the end of its log if it has died."""
        ...

    def prepare(self) -> None:
        """Create the databases; raise TrialFailed if one already holds data."""
        ...

    def settle(self) -> None:
        """Return when all written data is flushed and compaction is done; the docstring states the rule."""
        ...

    def size(self) -> dict[str, int]:
        """Return the bytes on disk by part, such as ``{"data": n, "wal": n}``."""
        ...

    def version(self) -> str:
        """Return the version that the running system reports."""
        ...

    def count(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table, as the system counts them."""
        ...

    def client(self, benchload: Path) -> Client:
        """Return the client that loads and queries this system."""
        ...

    def processes(self) -> list[int]:
        """Return the current process tree of the server; empty for an external server."""
        ...

    def stop(self) -> None:
        """Stop the server, then kill it; never raise if a process is gone."""
        ...


def driver(name: str, place: Place, experiment: str = "") -> Driver:
    """Return the driver of this name for the runs of an experiment; raise RequestError if there is none.

    An experiment may replace a driver of Benchbook by its own; its class is then a subclass.
    """
    found = plugin.own(experiment, "driver").get(name) or driver_class(name)
    return cast("Driver", found(place))


def driver_class(name: str) -> type[Any]:
    """Return the class of a driver, of ``benchbook.systems.<name>`` or of an experiment; raise RequestError."""
    if name in _built_in():
        return cast("type[Any]", importlib.import_module(f"benchbook.systems.{name}").driver)
    if name not in names():
        raise unknown("driver", name, names())
    found = _added()[name]
    methods = {one for one in vars(Driver) if not one.startswith("_")}
    if not isinstance(found, type) or (missing := sorted(one for one in methods if not hasattr(found, one))):
        lacks = f"lacks {', '.join(missing)}" if isinstance(found, type) else "is not a class"
        raise RequestError(
            f'The driver "{name}", {_place_of(found)}, {lacks}.',
            "docs/adding-a-system.md lists what a driver has; a subclass of Server has most of it.",
        )
    return found


def _place_of(found: object) -> str:
    """Return the file and line of a class, for an error."""
    try:
        file = inspect.getsourcefile(found)  # type: ignore[arg-type]
        return f"{file}:{inspect.getsourcelines(found)[1]}"  # type: ignore[arg-type]
    except (TypeError, OSError):
        return f"{found!r}"


def runs_in_containers(name: str) -> bool:
    """Return whether an engine can run the images of a driver's systems."""
    return runs_from_images(name) and bool(getattr(driver_class(name), "in_containers", False))


def runs_from_images(name: str) -> bool:
    """Return whether a driver starts all its programs through its place, which may be in an image."""
    return name in names() and bool(getattr(driver_class(name), "in_images", False))


def server_users(name: str) -> tuple[str, ...]:
    """Return the users as whom a driver runs its server if the harness is root; empty if that may be root."""
    return tuple(getattr(driver_class(name), "users", ())) if name in names() else ()


def packages(name: str) -> tuple[str, ...]:
    """Return the packages of Benchbook's extras that a driver needs."""
    return tuple(getattr(driver_class(name), "packages", ())) if name in names() else ()


def url_schemes(name: str) -> tuple[str, ...]:
    """Return the schemes of the URLs of external servers that a driver accepts."""
    found = driver_class(name) if name in names() else None
    return tuple(getattr(found, "url_schemes", ("http", "https")))


def names() -> list[str]:
    """Return the names of all drivers, of this package and of experiments."""
    return sorted({*_built_in(), *_added()})


def _added() -> dict[str, Any]:
    return _added_by(checkout.layers())


@functools.cache
def _added_by(_layers: tuple[Path, ...]) -> dict[str, Any]:
    return plugin.every("driver", _built_in())


@functools.cache
def _built_in() -> list[str]:
    """Return the names of the modules of this package that set ``driver``.

    The modules are read, not imported, because importing all of them takes long.
    """
    from benchbook import systems as package

    folder = Path(package.__path__[0])
    lines = {file.stem: file.read_text(encoding="utf-8").splitlines() for file in folder.glob("*.py")}
    return [name for name, text in lines.items() if any(line.startswith("driver = ") for line in text)]
