"""The client of every server: benchload processes that load, query and inspect it."""

from __future__ import annotations

import json
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event
from benchbook.process import launch, spawn
from benchbook.process.remote import RemoteRunning
from benchbook.record.lines import numbered
from benchbook.systems.driver import BlobRequest, Client, LoadRequest, Place, QueryRequest

# Reads of bars: what a client is asked for, and the client that benchload is.

Defect = Literal["one-stock", "three-bars", "undecoded"]
"""What a published reader did: asked for the first stock always; asked for a minute before and after the bar of
a short read; took any answer for a good one."""

SQL_DEFECTS: frozenset[Defect] = frozenset({"one-stock", "three-bars"})
"""Of the published reader of MySQL, and of SQL databases that have none."""


@dataclass(frozen=True)
class BarsRequest:
    """Requests of one file, to be read."""

    requests: Path
    """File that ``benchload bars-requests`` wrote."""
    flags: tuple[str, ...]
    """The dataset's flags."""
    in_flight: int
    seconds: float
    warmup: int = 0
    undecoded: bool = False
    timeout_seconds: float = 30.0
    answers: int | None = None
    """When set: do not time, but hold the first N answers against the dataset."""
    record: Path | None = None
    """When set: the file in which each read is kept as a record of its own."""


@runtime_checkable
class BarsClient(Protocol):
    """What a client can do besides when its system keeps bars."""

    published_defects: frozenset[Defect]
    program: str
    """Name of the client's program and library, for the report."""

    def bars(self, request: BarsRequest) -> Iterator[Event]:
        """Read bars, timed or to be checked, yielding events as they happen."""
        ...


# The client of every server system: one benchload process a load or a query set.

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
        self._running: spawn.Running | RemoteRunning | None = None
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
        elsewhere = launch.client_machines()
        around = self._environment() if callable(self._environment) else self._environment
        running: spawn.Running | RemoteRunning = (
            spawn.start(
                command, name=f"benchload {verb}", log=self._log, registry=self._registry, pipes=True,
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
            running.wait_ending(spawn.GRACE_SECONDS)
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
        return f"benchload {verb} {ending}: {last_error or spawn.last_words(self._log)}"


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


class BenchloadBars(BenchloadClient):
    """Benchload, which loads and reads bars besides what it does for other datasets."""

    def __init__(
        self, *arguments: Any, defects: frozenset[Defect], through: str = "", program: str, **options: Any
    ) -> None:
        """``through`` is the address of a packed-day service that reads go through."""
        super().__init__(*arguments, **options)
        self.published_defects = defects
        self.through = through
        self.program = program

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load bars in whole days of a stock; any other dataset as every server."""
        if request.dataset.generator != "kline":
            return super().load(request)
        command: list[str | Path] = [self._benchload, "bars-load", *request.dataset.flags, *self._where()]
        command += ["--workers", str(request.workers), "--batch-rows", str(request.batch_rows)]
        command += ["--timeout", f"{request.timeout_seconds:g}s", *recorded(request.record)]
        return self._events(command, "bars-load")

    def bars(self, request: BarsRequest) -> Iterator[Event]:
        """Read bars, timed or to be checked."""
        command: list[str | Path] = [self._benchload, "bars-read", *request.flags, *self._where()]
        command += ["--requests", request.requests, "--in-flight", str(request.in_flight)]
        if request.answers is None:
            command += ["--duration", f"{request.seconds:g}s", "--warmup", str(request.warmup)]
        else:
            command += ["--answers", str(request.answers)]
        command += ["--timeout", f"{request.timeout_seconds:g}s"]
        command += ["--undecoded"] if request.undecoded else []
        command += ["--through", self.through] if self.through else []
        command += recorded(request.record)
        return self._events(command, "bars-read")


# Servers that only a client library can ask: benchload has one, and tells what it finds (``benchload inspect``).


# Several clients that load at once, each a process of its own into a database of its own.
#
# Their events come out as those of one client: intervals and the summary hold sums, histograms are merged. An
# interval that not every client wrote through has ``"whole": false``, so that a steady rate is never taken from
# the time in which some had ended. The intervals of each client are kept beside them as ``client-interval``. The
# summary's duration is that of the client that wrote longest, and its ``clients`` are the clients' own summaries.

SUMS = ("operations", "rows", "values", "bytes", "errors")
SUMMARY_SUMS = (
    "operations", "errors", "rows", "values", "rows_refused", "rows_unsent", "bytes", "wire_bytes", "retries",
    "client_cpu_ns", "generator_stall_ns", "record_stall_ns",
)  # fmt: skip
EVEN = 0.05
"""Intervals of two clients are of the same second when their lengths differ by less than this share."""

BARRIER_SECONDS = 0.2
"""From the moment that all clients are prepared until they begin: longer than a message takes to any of them."""

_Item = tuple[int, Event | BaseException | None]


def of_databases(place: Place, make: Callable[[str, Path], Client]) -> Client:
    """Return the client of a trial: ``make(database, log)``, or one for each of the place's databases."""
    if len(place.databases) == 1:
        return make(place.databases[0], place.logs / "benchload.log")
    clients = [make(name, place.logs / f"benchload-{name}.log") for name in place.databases]
    return SeveralClients(clients, place.databases)


class SeveralClients:
    """Loads through all of its clients at once; queries go through the first."""

    shares_process = False

    def __init__(self, clients: Sequence[Client], databases: Sequence[str]) -> None:
        self._clients = clients
        self._databases = databases

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load the whole dataset through every client; where one fails, end the others and raise its error."""
        barrier = all(hasattr(client, "begin") for client in self._clients)
        kept = request.record
        streams = [
            client.load(replace(request, wait=barrier, record=kept and numbered(kept, place)))
            for place, client in enumerate(self._clients)
        ]
        # The first event of each is taken here: processes must be started from a thread that lives on. It comes
        # when a client is prepared; all begin at one moment after that.
        firsts = [next(stream, None) for stream in streams]
        at = time.time() + BARRIER_SECONDS
        for client in self._clients if barrier else ():
            client.begin(at)  # type: ignore[attr-defined]
        items: queue.Queue[_Item] = queue.Queue()
        pumps = [
            threading.Thread(target=_pump, args=(place, stream, items), daemon=True)
            for place, stream in enumerate(streams)
        ]
        for pump in pumps:
            pump.start()
        merged = _Merged(self._databases)
        try:
            yield from merged.start([first for first in firsts if first is not None])
            ended = 0
            while ended < len(streams):
                place, item = items.get()
                if item is None:
                    ended += 1
                    yield from merged.ended(place)
                elif isinstance(item, BaseException):
                    raise item
                else:
                    yield from merged.take(place, item)
            yield from merged.end()
        finally:
            self.cancel()
            for pump in pumps:
                pump.join(timeout=10)

    def query(self, request: QueryRequest) -> Iterator[Event]:
        """Run the query set against the first database."""
        return self._clients[0].query(request)

    def processes(self) -> list[int]:
        """Process ids of all clients that run now."""
        return [pid for client in self._clients for pid in client.processes()]

    def cancel(self) -> None:
        """End whatever runs now."""
        for client in self._clients:
            client.cancel()


def _pump(place: int, stream: Iterator[Event], items: queue.Queue[_Item]) -> None:
    try:
        for event in stream:
            items.put((place, event))
    except BaseException as error:
        items.put((place, error))
    else:
        items.put((place, None))


class _Merged:
    """Makes one stream of events out of several."""

    def __init__(self, databases: Sequence[str]) -> None:
        self._databases = databases
        self._waiting: dict[int, dict[int, Event]] = {}
        self._active = set(range(len(databases)))
        self._histograms: dict[tuple[str, str], list[Event]] = {}
        self._errors: dict[tuple[Any, Any, Any], Event] = {}
        self._summaries: dict[int, Event] = {}

    def start(self, firsts: list[Event]) -> Iterator[Event]:
        """Merge the start events."""
        if firsts:
            yield {
                **firsts[0],
                **{name: sum(int(one.get(name) or 0) for one in firsts) for name in ("workers", "rows")},
                "clients": len(firsts),
            }

    def take(self, place: int, event: Event) -> Iterator[Event]:
        """Keep an event; yield the intervals that are complete by it."""
        kind = event.get("type")
        if kind == "interval":
            yield {**event, "type": "client-interval", "client": place}
            self._waiting.setdefault(int(event["index"]), {})[place] = event
            yield from self._complete()
        elif kind == "histogram":
            key = str(event.get("operation")), str(event.get("kind"))
            self._histograms.setdefault(key, []).append(event)
        elif kind == "error":
            self._keep_error(event)
        elif kind == "summary":
            self._summaries[place] = event
            yield from self.ended(place)

    def ended(self, place: int) -> Iterator[Event]:
        """Wait no longer for intervals of a client."""
        self._active.discard(place)
        yield from self._complete()

    def end(self) -> Iterator[Event]:
        """Yield the histograms, the errors and the summary of all."""
        for events in self._histograms.values():
            yield _histogram(events)
        yield from self._errors.values()
        if len(self._summaries) < len(self._databases):
            lacking = [name for place, name in enumerate(self._databases) if place not in self._summaries]
            raise TrialFailed(f"The client of {', '.join(lacking)} ended without a summary.")
        yield self._summary()

    def _complete(self) -> Iterator[Event]:
        for index in sorted(self._waiting):
            held = self._waiting[index]
            if self._active - held.keys():
                return
            del self._waiting[index]
            yield _interval([held[place] for place in sorted(held)], len(self._databases))

    def _keep_error(self, event: Event) -> None:
        key = event.get("kind"), event.get("status"), event.get("message")
        known = self._errors.get(key)
        if known is None:
            self._errors[key] = dict(event)
        else:
            for name in ("operations", "rows"):
                known[name] = int(known.get(name) or 0) + int(event.get(name) or 0)

    def _summary(self) -> Event:
        summaries = [self._summaries[place] for place in sorted(self._summaries)]
        merged = dict(summaries[0])
        for name in SUMMARY_SUMS:
            merged[name] = sum(int(one.get(name) or 0) for one in summaries)
        longest = max(int(one["duration_ns"]) for one in summaries)
        merged["duration_ns"] = longest
        for rate, total in (("operations_per_second", "operations"), ("rows_per_second", "rows")):
            merged[rate] = merged[total] / longest * 1e9 if longest else 0.0
        merged["achieved_per_second"] = merged["operations_per_second"]
        if any(one.get("bottleneck") == "generator" for one in summaries):
            merged["bottleneck"] = "generator"
        merged["clients"] = [
            {
                "database": name,
                **{key: one.get(key) for key in ("duration_ns", "rows", "values", "rows_refused")},
            }
            for name, one in zip(self._databases, summaries, strict=True)
        ]
        return merged


def _interval(parts: list[Event], clients: int) -> Event:
    from benchbook.measure import histogram

    longest = max(int(one["duration_ns"]) for one in parts)
    encoded = [str(one["histogram"]) for one in parts if one.get("histogram")]
    return {
        **parts[0],
        "start_ns": min(int(one["start_ns"]) for one in parts),
        "duration_ns": longest,
        **{name: sum(int(one.get(name) or 0) for one in parts) for name in SUMS},
        "histogram": histogram.merge(encoded).encode() if encoded else "",
        "whole": len(parts) == clients
        and all(int(one["duration_ns"]) >= (1 - EVEN) * longest for one in parts),
    }


def _histogram(events: list[Event]) -> Event:
    from benchbook.measure import histogram

    count = sum(int(one["count"]) for one in events)
    filled = [one for one in events if int(one["count"])]
    return {
        **events[0],
        "count": count,
        "min_ns": min((one["min_ns"] for one in filled), default=0),
        "max_ns": max((one["max_ns"] for one in filled), default=0),
        "mean_ns": sum(one["mean_ns"] * int(one["count"]) for one in filled) / count if count else 0,
        "encoded": histogram.merge(str(one["encoded"]) for one in events).encode(),
    }
