"""The system driver protocol: every database or store runs through these calls."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from benchbook.declare.experiment import Limits
from benchbook.errors import unknown
from benchbook.measure.measurement import Event
from benchbook.process import launch, spawn
from benchbook.process.launch import CALL_SECONDS, Launch, Program, Started

# What a system driver is: the one protocol every database or store is run through.
#
# A driver configures, starts and stops one server (or embedded process) for one trial. It never times
# anything: the engine in ``benchbook.run`` does. One system family is one module in this package that
# offers a function ``driver(place) -> Driver``; ``systems/<name>.toml`` names the module as ``driver``.

DATABASE = "benchbook"
"""Name of the first database; queries ask this one."""

Setting = str | int | float | bool


@dataclass(frozen=True)
class Place:
    """Where and how a driver runs its system in one trial. Folders exist when it is handed over."""

    program: Program
    arm: str
    settings: dict[str, Setting]
    """The arm's settings: differences from the system's default configuration."""
    data: Path
    """Data folder, on the storage under test."""
    config: Path
    """Folder for configuration files; kept with the trial."""
    logs: Path
    """Folder for the server's own output; kept with the trial."""
    host: str = "127.0.0.1"
    databases: tuple[str, ...] = (DATABASE,)
    """Names of the databases that are made: one for each client that loads at once."""
    limits: Limits = field(default_factory=Limits)
    """What its processes may use. Processes that ``process.start`` starts are limited without a driver's doing;
    only a driver that has others start them (a container) must ask for it there."""
    processes: Path | None = None
    """Folder where started processes are registered (``systems/leftovers.py``), so that the next start can
    end what a killed harness left; None registers nothing."""
    launch: Launch | None = None
    """How programs are started; None: as processes of this machine."""

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """Start a server of the system; raise TrialFailed when it cannot be."""
        if self.launch is not None:
            return self.launch.start(command, name=name, log=log, cwd=cwd, environment=environment)
        return spawn.start(
            command, name=name, log=log, cwd=cwd, environment=environment, registry=self.processes
        )

    def call(
        self, command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the system to its end; raise OSError or TimeoutExpired as ``subprocess.run``."""
        return (self.launch or launch).call(command, timeout_seconds)


@dataclass(frozen=True)
class TableCount:
    """Rows of a table (measurement) and non-null values per field, as the running system counts them."""

    rows: int
    fields: dict[str, int] = field(default_factory=dict)
    exact: bool = True
    """Whether ``rows`` are counted; False where the system can only tell the values of the fullest field."""


@dataclass(frozen=True)
class DatasetRequest:
    """A dataset as benchload is asked for it."""

    generator: str
    flags: tuple[str, ...]
    """Flags after ``benchload <verb> <generator>``: ``--seed 1 --scale 10 …``."""
    tables: dict[str, TableCount]
    """Rows and values expected per table, from the dataset's digest."""


@dataclass(frozen=True)
class LoadRequest:
    """A load of a whole dataset into an empty database."""

    dataset: DatasetRequest
    workers: int
    batch_rows: int
    gzip: bool = False
    timeout_seconds: float = 30.0
    retries: int = 5
    """How often a write is sent again that the server could not do then."""
    keep_going: bool = False
    """Whether the load goes on after a write that was refused."""
    append: bool = False
    """Whether the database may hold data already."""
    lasts_seconds: float | None = None
    """When set: the load ends after so long, wherever it is."""
    wait: bool = False
    """Whether the client, when all is prepared, waits until it is let begin."""
    record: Path | None = None
    """When set: the file in which each operation is kept as a record of its own."""


@dataclass(frozen=True)
class QueryRequest:
    """A file of query specifications to be run, timed or for their answers."""

    queries: Path
    workers: int = 1
    warmup: int = 0
    timeout_seconds: float = 30.0
    answers: int | None = None
    """When set: do not time, but emit one ``answer`` event for the first N queries of each type."""
    record: Path | None = None


@dataclass(frozen=True)
class BlobRequest:
    """Operations on the objects of a blob dataset."""

    flags: tuple[str, ...]
    """Flags of the dataset: ``--seed=1 --count=100 --size=1KiB``."""
    do: str
    """``put``, ``get``, ``delete``, ``mixed``, or ``check``: read everything back, untimed."""
    kept: Path
    """File in which the client keeps which objects the store has to have, and under which names."""
    workers: int = 1
    batch: int = 1
    operations: int = 0
    """0 for one an object."""
    mix: str | None = None
    rate: float = 0.0
    """Operations a second of an open loop; 0 for a closed one."""
    arrivals: str = "constant"
    timeout_seconds: float = 30.0
    record: Path | None = None


@runtime_checkable
class Blobs(Protocol):
    """What a client can do whose system takes objects."""

    def blob(self, request: BlobRequest) -> Iterator[Event]:
        """Do operations on objects, yielding events as they happen."""
        ...


class Client(Protocol):
    """What puts load on a system and reports events; one process at a time."""

    @property
    def shares_process(self) -> bool:
        """Whether it runs inside the system's own process, as embedded systems make it.

        Costs of client and server cannot be told apart then, and ``processes()`` of both are the same.
        """
        ...

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load a whole dataset, yielding events as they happen."""
        ...

    def query(self, request: QueryRequest) -> Iterator[Event]:
        """Run a query set, timed or for its answers, yielding events as they happen."""
        ...

    def processes(self) -> list[int]:
        """Process ids whose CPU and memory are the client's own, now."""
        ...

    def cancel(self) -> None:
        """End what runs now, from another thread; the iterator then ends or raises TrialFailed."""
        ...


@runtime_checkable
class SeveralDatabases(Protocol):
    """What a driver can do besides when ``Place.databases`` has more than one name."""

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Rows and non-null values per table of one of the databases."""
        ...


class Driver(Protocol):
    """One system in one trial, called in this order; every call may raise TrialFailed."""

    watched_seconds: float
    """How long the last ``settle`` only watched a system that was at rest; it is no part of settling."""

    def configure(self) -> dict[str, str]:
        """Write configuration files; return them as file name → text.

        Their digest identifies the configuration, so what differs from trial to trial (ports, folders)
        stands there as a placeholder.
        """
        ...

    def start(self) -> None:
        """Start the server, without waiting until it is ready."""
        ...

    def ready(self) -> bool:
        """Say whether it answers now; raise TrialFailed with its last words when it has died."""
        ...

    def prepare(self) -> None:
        """Create the database and tables; raise TrialFailed when the database already holds data."""
        ...

    def settle(self) -> None:
        """Return when all written data is flushed and compaction is done."""
        ...

    def size(self) -> dict[str, int]:
        """Bytes on disk by part, such as ``{"data": n, "wal": n}``."""
        ...

    def version(self) -> str:
        """Return the version that the running system states."""
        ...

    def count(self) -> dict[str, TableCount]:
        """Rows and non-null values per table, as counted by the system itself."""
        ...

    def client(self, benchload: Path) -> Client:
        """Return the client that loads and queries this system."""
        ...

    def processes(self) -> list[int]:
        """Process ids of the server's process tree, now; empty for a server elsewhere."""
        ...

    def stop(self) -> None:
        """Stop it in the ordinary way, then by force; never raises for a process already gone."""
        ...


# Find a driver by the name that ``systems/<name>.toml`` gives as ``driver``.


def driver(name: str, place: Place) -> Driver:
    """Return the driver ``benchbook.systems.<name>``; raise RequestError when there is none."""
    if name not in names():
        raise unknown("driver", name, names())
    make = importlib.import_module(f"benchbook.systems.{name}").driver
    return cast("Callable[[Place], Driver]", make)(place)


def in_containers(name: str) -> bool:
    """Say whether a driver starts its programs through its place, so that they also run in containers."""
    module = importlib.import_module(f"benchbook.systems.{name}") if name in names() else None
    return bool(getattr(module, "IN_CONTAINERS", False))


def url_schemes(name: str) -> tuple[str, ...]:
    """Return the schemes of the URLs by which a driver takes a server that runs already."""
    module = importlib.import_module(f"benchbook.systems.{name}") if name in names() else None
    return tuple(getattr(module, "URL_SCHEMES", ("http", "https")))


def names() -> list[str]:
    """Return the names of all drivers: the modules of this package that offer ``driver(place)``.

    Read from the source instead of by importing, so that listing them stays instant.
    """
    from benchbook import systems as package

    found = []
    for module in pkgutil.iter_modules(package.__path__):
        spec = importlib.util.find_spec(f"benchbook.systems.{module.name}")
        if module.name != "driver" and spec is not None and spec.origin is not None:
            with Path(spec.origin).open(encoding="utf-8") as source:
                if any(line.startswith("def driver(") for line in source):
                    found.append(module.name)
    return sorted(found)
