"""The client of every server: one benchload process per load or query set."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.host.texts import parse_json, shortened
from benchbook.measure.measurement import Event
from benchbook.process import launch, spawn
from benchbook.process.remote import RemoteRunning
from benchbook.systems.driver import Flag, LoadRequest, Operations, QueryRequest

SCHEMA = 1
"""Version of the events that the harness reads (docs/benchload-events.md)."""
NUMBERS = (
    "start_ns", "duration_ns", "operations", "rows", "values", "bytes", "errors", "count", "client_cpu_ns",
)  # fmt: skip
"""Keys that hold a number or null in COUNTED events; in an answer, ``rows`` is the list of rows."""
COUNTED = ("interval", "summary", "histogram", "error")


class BenchloadClient:
    """Runs benchload against one server and yields its events."""

    def __init__(
        self,
        benchload: Path,
        *,
        target: str,
        url: Callable[[], str],
        database: str,
        log: Path,
        registry: Path | None = None,
        environment: Callable[[], Mapping[str, str]] = dict,
        own_flags: Mapping[str, Sequence[str]] | None = None,
        shares_process: bool = False,
    ) -> None:
        """Describe the server.

        ``environment`` returns secrets, which must not be in a command line; ``own_flags`` are the flags that this
        system adds to commands of workloads. The functions are called for each process, because a driver chooses
        its ports after it has created its client.
        """
        self._environment = environment
        self.own_flags: dict[str, Sequence[str]] = dict(own_flags or {})
        self.shares_process = shares_process
        self._benchload = benchload
        self._target, self._url, self._database = target, url, database
        self._log = log
        self._registry = registry
        self._running: spawn.Running | RemoteRunning | None = None
        self._cancelled = False

    def load(self, request: LoadRequest) -> Iterator[Event]:
        dataset = request.dataset
        own = dataset.load_command
        command: list[str | Path] = [self._benchload, *([own] if own else ["load", dataset.generator])]
        command += [*dataset.flags, *self._where()]
        command += ["--workers", str(request.workers), "--batch-rows", str(request.batch_rows)]
        command += ["--gzip"] if request.gzip and not own else []
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += [] if own else _refused(request)
        command += _lasting(request)
        command += ["--wait"] if request.wait and not own else []
        command += recorded(request.record)
        return self._events(command, own or "load")

    def query(self, request: QueryRequest) -> Iterator[Event]:
        command: list[str | Path] = [self._benchload, "query", *self._where(), "--queries", request.queries]
        command += ["--workers", str(request.workers), "--warmup", str(request.warmup)]
        if request.answers is not None:
            command += ["--answers", "--limit", str(request.answers)]
            command += ["--also", ",".join(map(str, request.also))] if request.also else []
        command += [*lasting(request.lasts_seconds), *_arriving(request)]
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += recorded(request.record)
        return self._events(command, "query")

    def perform(self, operations: Operations) -> Iterator[Event]:
        command: list[str | Path] = [self._benchload, operations.verb, *operations.dataset, *self._where()]
        command += [*as_flags(operations.flags), *self.own_flags.get(operations.verb, ())]
        command += recorded(operations.record)
        return self._events(command, operations.verb)

    def begin(self, at: float) -> None:
        """Release a waiting load at a time of the clock."""
        if self._running is not None:
            self._running.release(at)

    def processes(self) -> list[int]:
        running = self._running
        return running.tree() if running is not None else []

    def cancel(self) -> None:
        self._cancelled = True
        running = self._running
        if running is not None:
            running.kill()

    def _events(self, command: Sequence[str | Path], verb: str) -> Iterator[Event]:
        self._cancelled = False
        machines, environment = launch.client_machines(), self._environment()
        running: spawn.Running | RemoteRunning = (
            spawn.start(
                command, name=f"benchload {verb}", log=self._log, registry=self._registry, pipes=True,
                environment=environment,
            )
            if machines is None
            else machines.start(command, self._log, environment)
        )  # fmt: skip
        self._running = running
        # The server's error explains more than the broken connection that follows it.
        last_error, by_server = "", False
        try:
            for event in events(running.lines(), f"benchload {verb}"):
                if event["type"] == "error" and (event.get("kind") == "server" or not by_server):
                    last_error = str(event.get("message", ""))
                    by_server = event.get("kind") == "server"
                yield event
            running.wait_ending(spawn.GRACE_SECONDS)
            ending = running.ending()
            if ending != "exited with code 0":
                raise TrialFailed(
                    self._failure(verb, ending or "did not end", last_error), f"The log is {self._log}."
                )
        finally:
            self._running = None
            # Ends the process if the caller abandons the generator.
            running.stop(grace_seconds=0.0, first=signal.SIGKILL)

    def _where(self) -> list[str]:
        return ["--target", self._target, "--url", self._url(), "--database", self._database]

    def _failure(self, verb: str, ending: str, last_error: str) -> str:
        if self._cancelled:
            return f"benchload {verb} was cancelled."
        return f"benchload {verb} {ending}: {last_error or spawn.log_end(self._log)}"


def recorded(operations: Path | None) -> list[str | Path]:
    """Return the flag that makes benchload record each operation; empty without a file."""
    return ["--record-operations", operations] if operations else []


def lasting(seconds: float | None) -> list[str | Path]:
    """Return the flag that makes operations begin for a time; none without one."""
    return ["--duration", f"{seconds:g}s"] if seconds else []


def as_flags(flags: Mapping[str, Flag]) -> list[str]:
    """Return flags as benchload takes them.

    >>> as_flags({"do": "get", "duration": timedelta(seconds=1.5), "mix": None, "undecoded": True})
    ['--do=get', '--duration=1.5s', '--undecoded']
    """
    written = []
    for name, value in flags.items():
        if value is True:
            written.append(f"--{name}")
        elif value is not None and value is not False:
            shown = f"{value.total_seconds():g}s" if isinstance(value, timedelta) else value
            written.append(f"--{name}={shown}")
    return written


def _arriving(request: QueryRequest) -> list[str | Path]:
    """Return the flags of an open loop; none for a closed one."""
    return ["--rate", f"{request.rate:g}", "--arrivals", request.arrivals] if request.rate else []


def _refused(request: LoadRequest) -> list[str | Path]:
    """Return the flags that say what follows a refused write, and whether there may be data."""
    flags: list[str | Path] = ["--retries", str(request.retries)]
    flags += ["--keep-going"] if request.keep_going else []
    return [*flags, *(["--append"] if request.append else [])]


def _lasting(request: LoadRequest) -> list[str | Path]:
    """Return the flags that pace and end a load."""
    paced = ["--tick", f"{request.tick_seconds:g}s"] if request.tick_seconds else []
    return [*lasting(request.lasts_seconds), *(["--whole"] if request.whole else []), *paced]


def events(lines: Iterable[bytes], who: str) -> Iterator[Event]:
    """Yield the events of a stream of JSON lines; raise TrialFailed for an invalid line."""
    for line in lines:
        if not line.strip():
            continue
        try:
            event = parse_json(line)
        except (ValueError, RecursionError) as error:
            raise TrialFailed(f"{who} wrote a line that is not JSON: {line[:200]!r}.") from error
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise TrialFailed(
                f"{who} wrote a line of JSON without the key `type`, which each event must have: {line[:200]!r}."
            )
        counted = NUMBERS if event["type"] in COUNTED else ()
        odd = [key for key in counted if not isinstance(event.get(key, 0), int | float | None)]
        if odd:
            raise TrialFailed(f"{who} wrote {odd[0]} = {str(event[odd[0]])[:40]!r}, which is not a number.")
        if event.get("v") != SCHEMA:
            raise TrialFailed(
                f"{who} writes its output in version {event.get('v')!r}; this Benchbook reads version {SCHEMA}.",
                "Build benchload from this checkout: delete .bench/bin and run ./bench again.",
            )
        if isinstance(event.get("message"), str):
            event["message"] = shortened(event["message"])
        yield event
