"""Several clients that load at once, each a process with a separate database, presented as one client.

Intervals and the summary hold sums, and histograms are merged. An interval that not every client filled has ``"whole":
false``, so that the steady rate excludes the time after a client has ended. Events of the type ``client-interval``
keep the intervals of each client. The summary has the duration of the slowest client, and its ``clients`` are the
individual summaries.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event
from benchbook.measure.rate import per_second
from benchbook.record.lines import numbered
from benchbook.systems.driver import Client, LoadRequest, Operations, Place, QueryRequest

SUMS = ("operations", "rows", "values", "bytes", "errors")
SUMMARY_SUMS = (
    "operations", "errors", "rows", "values", "rows_refused", "rows_unsent", "bytes", "wire_bytes", "retries",
    "client_cpu_ns", "generator_stall_ns", "record_stall_ns", "drained_operations", "drained_rows",
)  # fmt: skip
EVEN = 0.05
"""Maximum relative difference in length of intervals that count as the same second."""

BARRIER_SECONDS = 0.2
"""Time between the preparation of all clients and their start: longer than a message to any of them takes."""

_Item = tuple[int, Event | BaseException | None]


def one_per_database(place: Place, make: Callable[[str, Path], Client]) -> Client:
    """Return the client of a trial: ``make(database, log)`` for each of the place's databases."""
    if len(place.databases) == 1:
        return make(place.databases[0], place.logs / "benchload.log")
    clients = [make(name, place.logs / f"benchload-{name}.log") for name in place.databases]
    return SeveralClients(clients, place.databases)


class SeveralClients:
    """Loads through all clients at once; queries go through the first."""

    shares_process = False

    def __init__(self, clients: Sequence[Client], databases: Sequence[str]) -> None:
        self._clients = clients
        self._databases = databases

    def load(self, request: LoadRequest) -> Iterator[Event]:
        """Load the whole dataset through every client; if one fails, end the others and raise its error."""
        barrier = all(hasattr(client, "begin") for client in self._clients)
        record = request.record
        streams = [
            client.load(replace(request, wait=barrier, record=record and numbered(record, place)))
            for place, client in enumerate(self._clients)
        ]
        # A prepared client sends its first event, and all begin together after that. Read it in this thread, because
        # the thread that starts a process must outlive it.
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
        return self._clients[0].query(request)

    def perform(self, operations: Operations) -> Iterator[Event]:
        return self._clients[0].perform(operations)

    def processes(self) -> list[int]:
        return [pid for client in self._clients for pid in client.processes()]

    def cancel(self) -> None:
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
    """Merges several streams of events into one."""

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
        """Store an event; yield the intervals that it completes."""
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
        """Do not expect more intervals from a client."""
        self._active.discard(place)
        yield from self._complete()

    def end(self) -> Iterator[Event]:
        """Yield the merged histograms, errors and summary."""
        for events in self._histograms.values():
            yield _histogram(events)
        yield from self._errors.values()
        if len(self._summaries) < len(self._databases):
            missing = [name for place, name in enumerate(self._databases) if place not in self._summaries]
            raise TrialFailed(f"The client of {', '.join(missing)} ended without a summary.")
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
        for name in ("duration_ns", "window_ns"):
            merged[name] = max(int(one.get(name) or 0) for one in summaries)
        for name in ("operations", "rows"):
            merged[f"{name}_per_second"] = merged[name] * per_second(merged, name)
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
