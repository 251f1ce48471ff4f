"""A Python worker process that contains an embedded database, or the connections to one server, and its client.

The harness writes requests to the worker and reads events from it (``python -m benchbook.workers``).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import benchbook
from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event
from benchbook.process import spawn
from benchbook.process.wait import limited
from benchbook.storage.driver import allocated
from benchbook.systems.client import events
from benchbook.systems.driver import Flag, LoadRequest, Operations, Place, QueryRequest, TableCount
from benchbook.systems.server import Server

ASK_SECONDS = 1800.0
"""Time limit of a request outside measurements: settling and counting an embedded database of 100 GB take minutes."""


class PythonWorker:
    """One worker in one trial."""

    ask_seconds: ClassVar[float] = ASK_SECONDS

    def __init__(self, place: Place, name: str, title: str, python: Path | None = None) -> None:
        """``name`` is the name of its log; messages call its system ``title``.

        ``python`` is the interpreter of a separate environment; None means the one that runs Benchbook.
        """
        self.place = place
        self._python = python
        self._title = title
        self._log = place.logs / f"{name}.log"
        self.worker: spawn.Running | None = None

    def start(self) -> None:
        paths = [str(Path(benchbook.__file__).parent.parent)]
        paths += [] if self._python else [os.environ.get("PYTHONPATH", "")]
        self.worker = spawn.start(
            [self._python or sys.executable, "-m", "benchbook.workers"],
            name=f"the {self._title} worker",
            log=self._log,
            cwd=self.place.data,
            # Modules in the data folder must not be importable.
            environment={
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                "PYTHONSAFEPATH": "1",
                "PYTHONNOUSERSITE": "1",
            },
            registry=self.place.processes,
            pipes=True,
        )

    def processes(self) -> list[int]:
        """Return the worker and, during a load, the generator that feeds it."""
        return self.worker.tree() if self.worker is not None else []

    def stop(self) -> None:
        """Close the worker's stdin, so that it closes its database and ends; then kill it."""
        if self.worker is None:
            return
        stdin = self.worker.process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):  # it died with an unread request
                stdin.close()
        self.worker.stop(first=None)
        self.worker = None

    def ask(self, do: str, **more: Any) -> Event:
        """Send a request and return its reply; raise TrialFailed if the worker refuses it, dies or takes too long.

        Libraries of servers have no limit for a whole answer, and some have none for a read.
        """
        reply: Event = {}
        with limited(self.ask_seconds, self._kill) as over:
            try:
                for event in self.talk(do, **more):
                    reply = event
            except TrialFailed:
                if not over.is_set():
                    raise
        if over.is_set():
            raise TrialFailed(
                f"{self._title} did not {do} within {self.ask_seconds:g} s.", f"The log is {self._log}."
            )
        return reply

    def _kill(self) -> None:
        if self.worker is not None:
            self.worker.kill()

    def talk(self, do: str, **more: Any) -> Iterator[Event]:
        """Send a request and yield its events; the reply comes last."""
        if self.worker is None:
            raise TrialFailed(f"The {self._title} worker is not running.")
        stdin, stdout = self.worker.process.stdin, self.worker.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write((json.dumps({"do": do, **more}) + "\n").encode())
            stdin.flush()
        except OSError:
            self._died()
        replied = False
        try:
            for event in events(stdout, f"the {self._title} worker"):
                replied = event["type"] == "reply"
                if replied and not event["ok"]:
                    raise TrialFailed(
                        f"{self._title} cannot {do}: {event['message']}", f"The log is {self._log}."
                    )
                yield event
                if replied:
                    return
            self._died()
        finally:
            if not replied and self.worker is not None:
                # The caller abandoned the generator: remaining events would answer the next request.
                self.worker.kill()

    def count(self) -> dict[str, TableCount]:
        found = self.ask("count")["tables"]
        return {name: TableCount(int(one["rows"]), dict(one["fields"])) for name, one in found.items()}

    def _died(self) -> None:
        assert self.worker is not None
        self.worker.wait_ending(5.0)
        self.worker.check()
        raise TrialFailed(
            f"The process that runs {self._title} ended unexpectedly.", f"Its log may say why: {self._log}."
        )


class WorkerClient:
    """Loads and queries through a worker; an embedded system and its client are the same process."""

    def __init__(
        self,
        worker: PythonWorker,
        benchload: Path,
        *,
        shares_process: bool = True,
        program: str = "the engine's own Python binding",
    ) -> None:
        self._worker = worker
        self._benchload = benchload
        self.shares_process = shares_process
        self.program = program
        self._busy = False
        self._cancelled = False

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load the dataset with one writer; refuse more, because there is one worker."""
        _one_worker(request.workers)
        if request.tick_seconds:
            raise TrialFailed(
                "The option `tick` is set, but an embedded system writes as fast as it can.",
                "Remove the option tick, or leave the embedded system out.",
            )
        dataset = request.dataset
        command = [str(self._benchload), "generate", dataset.generator, *dataset.flags]
        rows = sum(table.rows for table in dataset.tables.values())
        command += ["--format", "arrow", "--batch-rows", str(request.batch_rows)]
        command += ["--endless"] if request.lasts_seconds else []
        return self._events(
            "load",
            command=command,
            file=_path(dataset.file),
            batch_rows=request.batch_rows,
            rows=rows,
            lasts_seconds=request.lasts_seconds,
            whole=request.whole,
            operations=_path(request.record),
            timeout_seconds=request.timeout_seconds,
        )

    def query(self, request: QueryRequest) -> Iterator[Event]:
        _one_worker(request.workers)
        _closed_loop(request.rate)
        return self._events(
            "query",
            queries=str(request.queries),
            warmup=request.warmup,
            lasts_seconds=request.lasts_seconds,
            answers=request.answers,
            also=request.also,
            operations=_path(request.record),
            timeout_seconds=request.timeout_seconds,
        )

    def perform(self, operations: Operations) -> Iterator[Event]:
        """Do operations through the module of the workload; threads of the worker have those in flight."""
        if not operations.worker:
            raise TrialFailed(
                f"A client in Python has no operations of {operations.verb}.",
                "Leave this system out of the experiment.",
            )
        _closed_loop(float(str(operations.flags.get("rate") or 0)))
        asked = {name: _plain(value) for name, value in operations.flags.items()}
        return self._events(
            "perform",
            module=operations.worker,
            asked={**asked, "dataset": list(operations.dataset), "benchload": str(self._benchload)},
            operations=_path(operations.record),
        )

    def processes(self) -> list[int]:
        return self._worker.processes()

    def cancel(self) -> None:
        """Kill the worker if it is busy: nothing else stops a statement of every engine at once."""
        worker = self._worker.worker
        if self._busy and worker is not None:
            self._cancelled = True
            worker.kill()

    def _events(self, do: str, **more: Any) -> Iterator[Event]:
        self._busy = True
        try:
            for event in self._worker.talk(do, **more):
                if event["type"] != "reply":
                    yield event
        except TrialFailed as error:
            if self._cancelled:
                raise TrialFailed(f"The {do} was cancelled.") from error
            raise
        finally:
            self._busy = False


def _plain(value: Flag) -> Setting | None:
    """Return the value of a flag for JSON: a length of time is a number of seconds."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, Path) else value


def _path(file: Path | None) -> str | None:
    return str(file) if file else None


def _closed_loop(rate: float) -> None:
    """Refuse an open loop: clients in Python answer one operation after the other."""
    if rate:
        raise TrialFailed(
            "The option `rate` is above 0, but an embedded system runs only in a closed loop, without a rate.",
            "Remove the option rate, or leave the embedded system out.",
        )


IN_PYTHON = ("load", "query")
"""Workloads that a client in Python does with one worker."""


def refused(workload: str, options: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the option that an embedded system refuses in a phase, and what it allows; None if it accepts all."""
    if workload in IN_PYTHON and options.get("workers", 1) != 1:
        return "workers", "runs in one Python process and has one worker"
    for name in ("rate", "tick"):
        if options.get(name):
            return name, "starts each operation as soon as the last one has ended, without a rate"
    return None


def _one_worker(workers: int) -> None:
    if workers != 1:
        raise TrialFailed(
            f"This system runs in one Python process and has one worker, but workers is {workers}.",
            "Set workers = 1.",
        )


SETTINGS_FILE = "settings.json"


class EmbeddedDriver(PythonWorker):
    """One embedded engine in one trial."""

    engine: ClassVar[str]
    """Name of the engine's module in ``benchbook.workers``, without ``_engine``."""
    title: ClassVar[str]
    dialect: ClassVar[str] = ""
    """Dialect of questions in SQL about a dataset from a file; empty if the engine takes none."""
    shares_process = True
    watched_seconds = 0.0
    """A checkpoint returns when it is done, so ``settle`` has no watching time."""

    def __init__(self, place: Place) -> None:
        # Other programs, such as benchload for plain files, are no Python.
        python = place.program.path if place.program.source in ("python", "nix") else None
        super().__init__(place, self.engine, self.title, python)
        self._file = place.data / f"benchbook.{self.engine}"
        self._open = False

    def configure(self) -> dict[str, str]:
        """Write the arm's settings in the form that the engine gets."""
        content = {"engine": self.engine, "settings": self.place.settings}
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        (self.place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def ready(self) -> bool:
        """Open the database; raise TrialFailed with the engine's error if that fails."""
        if not self._open:
            self.ask("open", engine=self.engine, path=str(self._file), settings=self.place.settings)
            self._open = True
        elif self.worker is not None:
            self.worker.check()
        return True

    def prepare(self) -> None:
        """Refuse a database that holds tables; the first batches of a load create them."""
        if tables := self.ask("tables")["tables"]:
            raise TrialFailed(
                f"The database {self._file} already holds the tables {', '.join(tables)}.",
                "Remove that file, then resume the run.",
            )

    def settle(self) -> None:
        """Write all committed data to the database file."""
        self.ask("settle")

    def size(self) -> dict[str, int]:
        """Return the bytes of the database file (data), its log (wal) and the rest (other)."""
        parts = {"data": 0, "wal": 0, "other": 0}
        for path in self.place.data.iterdir():
            log = "wal" if path.name.startswith(self._file.name) else "other"
            part = "data" if path == self._file else log
            parts[part] += allocated(path) if path.is_dir() else path.lstat().st_blocks * 512
        return parts

    def version(self) -> str:
        """Return the version that the library reports."""
        return str(self.ask("version")["version"])

    def client(self, benchload: Path) -> WorkerClient:
        return WorkerClient(self, benchload)

    def stop(self) -> None:
        """Close the database and end the worker."""
        super().stop()
        self._open = False


class PythonServer(Server):
    """A server in one trial; a worker with the engine ``engine`` talks to it."""

    engine: ClassVar[str]
    title: ClassVar[str]
    library: ClassVar[str]
    """The client library, for the report."""
    refusal_seconds: ClassVar[float] = 60.0
    """Time that it may refuse every connection while it starts, although it listens."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._worker = PythonWorker(place, "client", f"{self.title} client")
        self._open = False
        self._refused_since: float | None = None

    def connection(self) -> dict[str, Setting]:
        """Return what the worker's engine needs to connect in addition to the URL."""
        return {}

    def answers(self) -> bool:
        """Return whether it accepts a connection; start the worker as soon as something listens."""
        if not self._listens():
            return False
        if self._worker.worker is None:
            self._worker.start()
        if not self._open:
            try:
                self._worker.ask("open", engine=self.engine, path=self.url, settings=self.connection())
            except TrialFailed as refusal:
                self._tolerate(refusal)
                return False
            self._open, self._refused_since = True, None
        return True

    def _listens(self) -> bool:
        parts = urlsplit(self.url)
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=1.0):
                return True
        except OSError:
            return False

    def _tolerate(self, refusal: TrialFailed) -> None:
        """Raise the refusal if waiting does not help: the worker has ended, or the server has refused for too long."""
        worker, now = self._worker.worker, time.monotonic()
        self._refused_since = self._refused_since or now
        late = now - self._refused_since > self.refusal_seconds
        if self.external or late or worker is None or worker.ending() is not None:
            raise refusal

    def version(self) -> str:
        return str(self._worker.ask("version")["version"])

    def prepare(self) -> None:
        """Refuse a server with tables; the first batch of a load creates them."""
        if found := self._worker.ask("tables")["tables"]:
            raise self.holds_data(", ".join(found))

    def settle(self) -> None:
        """Write all committed data to the tables' files."""
        self._worker.ask("settle")

    def count(self) -> dict[str, TableCount]:
        return self._worker.count()

    def client(self, benchload: Path) -> WorkerClient:
        program = f"Benchbook's worker in Python, {self.library}"
        return WorkerClient(self._worker, benchload, shares_process=False, program=program)

    def stop(self) -> None:
        """Close the connections, then stop the server."""
        self._worker.stop()
        self._open = False
        super().stop()
