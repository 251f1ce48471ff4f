"""The client of every server system: one benchload process a load or a query set."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchbook.cluster.remote import RemoteRunning
from benchbook.errors import TrialFailed
from benchbook.systems import client_host, process
from benchbook.systems.driver import BlobRequest, Event, LoadRequest, QueryRequest

SCHEMA = 1
"""The version of the event schema that the harness understands (docs/benchload-events.md)."""


NUMBERS = (
    "start_ns", "duration_ns", "operations", "rows", "values", "bytes", "errors", "count", "client_cpu_ns",
)  # fmt: skip
"""Keys that hold a number, or null, in events that count; in an answer ``rows`` are the rows themselves."""
COUNTED = ("interval", "summary", "histogram", "error")


class BenchloadClient:
    """Runs ``benchload load`` and ``benchload query`` against one server and yields their events."""

    def __init__(
        self,
        benchload: Path,
        *,
        target: str,
        url: Callable[[], str],
        database: str,
        log: Path,
        registry: Path | None = None,
        environment: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None,
        sync: str | None = None,
        shares_process: bool = False,
    ) -> None:
        """Take where the server is; ``environment`` is for secrets, which must not stand in a command line."""
        self._environment = environment
        self._sync = sync
        """What the client asks a store of objects to have on the device when it acknowledges."""
        self.shares_process = shares_process
        self._benchload = benchload
        self._target, self._url, self._database = target, url, database
        self._log = log
        self._registry = registry
        self._running: process.Running | RemoteRunning | None = None
        self._cancelled = False

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load the whole dataset; raise TrialFailed when benchload does not come to a good end."""
        dataset = request.dataset
        command: list[str | Path] = [
            self._benchload,
            "load",
            dataset.generator,
            *dataset.flags,
            *self._where(),
        ]
        command += ["--workers", str(request.workers), "--batch-rows", str(request.batch_rows)]
        command += ["--gzip"] if request.gzip else []
        command += ["--timeout", f"{request.timeout_seconds:g}s", "--retries", str(request.retries)]
        command += ["--keep-going"] if request.keep_going else []
        command += ["--append"] if request.append else []
        command += ["--for", f"{request.lasts_seconds:g}s"] if request.lasts_seconds else []
        command += ["--wait"] if request.wait else []
        command += recorded(request.record)
        return self._events(command, "load")

    def query(self, request: QueryRequest) -> Iterator[Event]:
        """Run the query set, timed or for its answers."""
        command: list[str | Path] = [self._benchload, "query", *self._where(), "--queries", request.queries]
        command += ["--workers", str(request.workers), "--warmup", str(request.warmup)]
        if request.answers is not None:
            command += ["--answers", "--limit", str(request.answers)]
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += recorded(request.record)
        return self._events(command, "query")

    def blob(self, request: BlobRequest) -> Iterator[Event]:
        """Put, get and delete objects, or read all of them back."""
        command: list[str | Path] = [self._benchload, "blob", *request.flags, *self._where()]
        command += ["--do", request.do, "--kept", request.kept, "--workers", str(request.workers)]
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += ["--batch", str(request.batch)] if request.batch > 1 and request.do != "check" else []
        command += ["--operations", str(request.operations)] if request.operations else []
        command += ["--mix", request.mix] if request.mix else []
        command += ["--sync", self._sync] if self._sync else []
        if request.rate:
            command += ["--rate", f"{request.rate:g}", "--arrivals", request.arrivals]
        command += recorded(request.record)
        return self._events(command, "blob")

    def begin(self, at: float) -> None:
        """Let a load that waits begin at a moment of the clock."""
        if self._running is not None:
            self._running.release(at)

    def processes(self) -> list[int]:
        """Process ids of the benchload that runs now."""
        running = self._running
        return running.tree() if running is not None else []

    def cancel(self) -> None:
        """Kill the process group of what runs now."""
        self._cancelled = True
        running = self._running
        if running is not None:
            running.kill()

    def _events(self, command: Sequence[str | Path], verb: str) -> Iterator[Event]:
        self._cancelled = False
        elsewhere = client_host.current()
        around = self._environment() if callable(self._environment) else self._environment
        running: process.Running | RemoteRunning = (
            process.start(
                command, words=f"benchload {verb}", log=self._log, registry=self._registry, pipes=True,
                environment=around,
            )
            if elsewhere is None
            else elsewhere.start(command, self._log, around)
        )  # fmt: skip
        self._running = running
        # What the server said is worth more than that somebody hung up.
        last_error, by_server = "", False
        try:
            for event in events(running.lines(), f"benchload {verb}"):
                if event["type"] == "error" and (event.get("kind") == "server" or not by_server):
                    last_error = str(event.get("message", ""))
                    by_server = event.get("kind") == "server"
                yield event
            running.wait_ending(process.GRACE_SECONDS)
            ending = running.ending()
            if ending != "exited with code 0":
                raise TrialFailed(
                    self._words(verb, ending or "did not end", last_error), f"Its log is {self._log}."
                )
        finally:
            self._running = None
            # An ordinary end is over by now; a generator that is dropped half-way ends its process here.
            running.stop(grace_seconds=0.0, first=signal.SIGKILL)

    def _where(self) -> list[str]:
        # Asked for late: a driver chooses its ports when it is configured, after its client was made.
        return ["--target", self._target, "--url", self._url(), "--database", self._database]

    def _words(self, verb: str, ending: str, last_error: str) -> str:
        if self._cancelled:
            return f"benchload {verb} was cancelled."
        return f"benchload {verb} {ending}: {last_error or process.last_words(self._log)}"


def recorded(operations: Path | None) -> list[str | Path]:
    """Return the flag that has benchload keep single operations, where they are asked for."""
    return ["--record-operations", operations] if operations else []


def events(lines: Iterable[bytes], who: str) -> Iterator[Event]:
    """Yield the events of a stream of JSON lines; raise TrialFailed at a line that is none."""
    for line in lines:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except ValueError as error:
            raise TrialFailed(f"{who} wrote a line that is no JSON: {line[:200]!r}.") from error
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise TrialFailed(f"{who} wrote a line that is no event: {line[:200]!r}.")
        counted = NUMBERS if event["type"] in COUNTED else ()
        odd = [key for key in counted if not isinstance(event.get(key, 0), int | float | None)]
        if odd:
            raise TrialFailed(f"{who} wrote {odd[0]} = {str(event[odd[0]])[:40]!r}, which is no number.")
        if event.get("v") != SCHEMA:
            raise TrialFailed(
                f"{who} writes version {event.get('v')!r} of the events; this harness reads {SCHEMA}.",
                "Build benchload from this checkout: delete .bench and run ./bench again.",
            )
        yield event
