"""Embedded databases: a worker process holds the database and is its own client."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchbook
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event
from benchbook.process import spawn
from benchbook.storage.driver import allocated
from benchbook.systems.client import SQL_DEFECTS, BarsRequest, events
from benchbook.systems.driver import BlobRequest, LoadRequest, Place, QueryRequest, TableCount

# A worker process of ours that holds one database, or the connections of one server: requests in, events out.


class PythonWorker:
    """One worker (``python -m benchbook.embedded``) in one trial."""

    def __init__(self, place: Place, name: str, title: str) -> None:
        """``name`` is that of its log, ``title`` what messages call its system."""
        self._place = place
        self._title = title
        self._log = place.logs / f"{name}.log"
        self.worker: spawn.Running | None = None

    def start(self) -> None:
        """Start the worker."""
        paths = [str(Path(benchbook.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        self.worker = spawn.start(
            [sys.executable, "-m", "benchbook.embedded"],
            name=f"the {self._title} worker",
            log=self._log,
            cwd=self._place.data,
            # The data folder is no place to import from.
            environment={"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"},
            registry=self._place.processes,
            pipes=True,
        )

    def processes(self) -> list[int]:
        """Return the worker and, during a load, the generator that feeds it."""
        return self.worker.tree() if self.worker is not None else []

    def stop(self) -> None:
        """Close the worker's stdin, at which it closes what is open and ends; then by force."""
        if self.worker is None:
            return
        stdin = self.worker.process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):  # it died with a request unread
                stdin.close()
        self.worker.stop(first=None)
        self.worker = None

    def ask(self, do: str, **more: Any) -> Event:
        """Send a request and return its reply; raise TrialFailed when it is refused or the worker dies."""
        reply: Event = {}
        for event in self.talk(do, **more):
            reply = event
        return reply

    def talk(self, do: str, **more: Any) -> Iterator[Event]:
        """Send a request and yield everything up to its reply, which comes last."""
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
                        f"{self._title} cannot {do}: {event['message']}", f"Its log is {self._log}."
                    )
                yield event
                if replied:
                    return
            self._died()
        finally:
            if not replied and self.worker is not None:
                # Somebody stopped listening half-way: what is still to come would answer the next request.
                self.worker.kill()

    def _died(self) -> None:
        assert self.worker is not None
        self.worker.wait_ending(5.0)
        self.worker.check()
        raise TrialFailed(f"The {self._title} worker closed its output.", f"Its log is {self._log}.")


# The client in Python: a worker that is the embedded system itself, or that holds the connections of a server.


class EmbeddedClient:
    """Loads and queries through the worker, which of an embedded system *is* its process."""

    published_defects = SQL_DEFECTS

    def __init__(
        self,
        driver: PythonWorker,
        benchload: Path,
        *,
        shares_process: bool = True,
        program: str = "the engine's own Python binding",
    ) -> None:
        self._driver = driver
        self._benchload = benchload
        self.shares_process = shares_process
        self.program = program
        self._busy = False
        self._cancelled = False

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load the dataset with one writer; more is refused, for there is one worker."""
        _one_worker(request.workers)
        dataset = request.dataset
        command = [str(self._benchload), "generate", dataset.generator, *dataset.flags]
        rows = sum(table.rows for table in dataset.tables.values())
        command += ["--format", "arrow", "--batch-rows", str(request.batch_rows)]
        return self._events(
            "load",
            command=command,
            batch_rows=request.batch_rows,
            rows=rows,
            operations=_path(request.record),
            timeout_seconds=request.timeout_seconds,
        )

    def query(self, request: QueryRequest) -> Iterator[Event]:
        """Run the query set, timed or for its answers."""
        _one_worker(request.workers)
        return self._events(
            "query",
            queries=str(request.queries),
            warmup=request.warmup,
            answers=request.answers,
            operations=_path(request.record),
            timeout_seconds=request.timeout_seconds,
        )

    def bars(self, request: BarsRequest) -> Iterator[Event]:
        """Read bars, timed or to be checked; every read in flight is a thread with a connection of its own."""
        return self._events(
            "bars",
            requests=str(request.requests),
            in_flight=request.in_flight,
            seconds=request.seconds,
            warmup=request.warmup,
            answers=request.answers,
            operations=_path(request.record),
        )

    def blob(self, request: BlobRequest) -> Iterator[Event]:
        """Put, get and delete objects, or read all of them back; every operation in flight is a thread."""
        if request.rate:
            raise TrialFailed(
                "Objects of an embedded system are put and got in a closed loop.", "Set rate to 0."
            )
        given = dict(flag.removeprefix("--").split("=", 1) for flag in request.flags)
        mix = dict(part.split("=") for part in request.mix.split(",")) if request.mix else {request.do: 1}
        asked = {
            "command": [str(self._benchload), "generate", "blob", *(
                f"--{name}={value}" for name, value in given.items() if name != "count"
            )],
            "seed": int(given["seed"]), "count": int(given["count"]), "do": request.do, "kept": str(request.kept),
            "workers": request.workers, "batch": request.batch, "operations": request.operations,
            "mix": {kind: float(part) for kind, part in mix.items()}, "timeout_seconds": request.timeout_seconds,
        }  # fmt: skip
        return self._events("blob", asked=asked, operations=_path(request.record))

    def processes(self) -> list[int]:
        """Return the worker's, which of an embedded system are the driver's too."""
        return self._driver.processes()

    def cancel(self) -> None:
        """Kill the worker when it is at work: nothing gentler ends every engine's statement at once."""
        worker = self._driver.worker
        if self._busy and worker is not None:
            self._cancelled = True
            worker.kill()

    def _events(self, do: str, **more: Any) -> Iterator[Event]:
        self._busy = True
        try:
            for event in self._driver.talk(do, **more):
                if event["type"] != "reply":
                    yield event
        except TrialFailed as error:
            if self._cancelled:
                raise TrialFailed(f"The {do} was cancelled.") from error
            raise
        finally:
            self._busy = False


def _path(file: Path | None) -> str | None:
    return str(file) if file else None


def _one_worker(workers: int) -> None:
    if workers != 1:
        raise TrialFailed(
            f"Systems in Python are driven by one worker; {workers} were asked for.", "Set workers to 1."
        )


# What DuckDB and SQLite share: a worker process that holds the database and is its own client.
#
# Client and system are one process here: what the client costs cannot be told from what the system costs, no
# transport lies between them, and so they are never ranked against servers without saying what that costs.
# ``shares_process`` says it to the engine, and ``processes()`` of driver and client are the same tree.

SETTINGS_FILE = "settings.json"


class EmbeddedDriver(PythonWorker):
    """One embedded engine in one trial."""

    shares_process = True
    watched_seconds = 0.0
    """A checkpoint returns when it is done: nothing is only watched."""

    def __init__(self, place: Place, engine: str, title: str) -> None:
        super().__init__(place, engine, title)
        self._engine = engine
        self._file = place.data / f"benchbook.{engine}"
        self._open = False

    def configure(self) -> dict[str, str]:
        """Write the arm's settings as they are handed to the engine."""
        text = (
            json.dumps({"engine": self._engine, "settings": self._place.settings}, indent=1, sort_keys=True)
            + "\n"
        )
        (self._place.config / SETTINGS_FILE).write_text(text)
        return {SETTINGS_FILE: text}

    def ready(self) -> bool:
        """Open the database; raise TrialFailed with the engine's words when it cannot be."""
        if not self._open:
            self.ask("open", engine=self._engine, path=str(self._file), settings=self._place.settings)
            self._open = True
        elif self.worker is not None:
            self.worker.check()
        return True

    def prepare(self) -> None:
        """Refuse a database that already holds tables; the load creates them by its first batches."""
        tables = self.ask("tables")["tables"]
        if tables:
            raise TrialFailed(
                f"The database {self._file} already holds the tables {', '.join(tables)}.",
                "Remove that file, then resume the run.",
            )

    def settle(self) -> None:
        """Have everything that is committed written into the database file."""
        self.ask("settle")

    def size(self) -> dict[str, int]:
        """Return the bytes allocated to the database file (data), to its log (wal) and to anything else."""
        parts = {"data": 0, "wal": 0, "other": 0}
        for found in self._place.data.iterdir():
            part = (
                "data"
                if found == self._file
                else "wal"
                if found.name.startswith(self._file.name)
                else "other"
            )
            parts[part] += allocated(found) if found.is_dir() else found.lstat().st_blocks * 512
        return parts

    def version(self) -> str:
        """Return the version that the library states."""
        return str(self.ask("version")["version"])

    def count(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table."""
        found = self.ask("count")["tables"]
        return {name: TableCount(int(one["rows"]), dict(one["fields"])) for name, one in found.items()}

    def client(self, benchload: Path) -> EmbeddedClient:
        """Return the client, which is the worker itself fed by benchload's generator."""
        return EmbeddedClient(self, benchload)

    def stop(self) -> None:
        """Close the database, then the worker."""
        super().stop()
        self._open = False
