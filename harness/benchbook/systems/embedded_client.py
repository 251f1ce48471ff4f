"""The client in Python: a worker that is the embedded system itself, or that holds the connections of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.systems.bars import SQL_DEFECTS, BarsRequest
from benchbook.systems.driver import BlobRequest, Event, LoadRequest, QueryRequest
from benchbook.systems.python_worker import PythonWorker


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
