"""Records the operations of one kind (``write``, ``query``, ``warmup``) and emits what became of them.

The events are those of docs/benchload-events.md; nobody may tell from them who wrote them. They are emitted
between operations, so an operation longer than a second lengthens the interval it ends in.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchbook.embedded.latency import Latencies
from benchbook.embedded.operations import Operations

SCHEMA = 1
INTERVAL_NS = 1_000_000_000
DIFFERENT_FAILURES = 100
"""Failures told apart; more are counted together, so that ever new words fill no memory."""

Event = dict[str, Any]
Emit = Callable[[Event], None]


def event(kind: str, /, **content: Any) -> Event:
    """Return an event of this type."""
    return {"v": SCHEMA, "type": kind, **content}


@dataclass
class Counts:
    """What happened in a while."""

    operations: int = 0
    rows: int = 0
    values: int = 0
    bytes: int = 0
    errors: int = 0

    def add(self, other: Counts) -> None:
        """Add what happened in another while."""
        self.operations += other.operations
        self.rows += other.rows
        self.values += other.values
        self.bytes += other.bytes
        self.errors += other.errors


@dataclass
class Failure:
    """Failures of the same kind with the same words."""

    operations: int = 0
    rows: int = 0


@dataclass
class Recorder:
    """Operations of one kind, timed from the making of the recorder until ``stop``."""

    emit: Emit
    operation: str
    kept: Operations | None = None
    """Keeps each operation as a record of its own too."""
    total: Counts = field(default_factory=Counts)
    rows_refused: int = 0
    _now: Counts = field(default_factory=Counts)
    _all_latencies: Latencies = field(default_factory=Latencies)
    _latencies: Latencies = field(default_factory=Latencies)
    _failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    _index: int = 0

    def __post_init__(self) -> None:
        self._cpu_ns = cpu_ns()
        self._began_ns = self._last_ns = time.perf_counter_ns()
        if self.kept is not None:
            self.kept.begin(self._began_ns)

    def done(
        self, began_ns: int, ended_ns: int, *, rows: int = 0, values: int = 0, size: int = 0, worker: int = 0
    ) -> None:
        """Record an operation that succeeded, by its times on ``time.perf_counter_ns``."""
        self._now.add(Counts(1, rows, values, size))
        self._latencies.add(ended_ns - began_ns)
        self._all_latencies.add(ended_ns - began_ns)
        if self.kept is not None:
            self.kept.add(self.operation, began_ns, ended_ns, rows, worker=worker)
        if ended_ns - self._last_ns >= INTERVAL_NS:
            self._interval(ended_ns)

    def failed(
        self, kind: str, message: str, rows: int = 0, *, began_ns: int | None = None, worker: int = 0
    ) -> None:
        """Record an operation that failed now; ``rows`` were sent with it and are refused."""
        if self.kept is not None and began_ns is not None:
            self.kept.add(self.operation, began_ns, time.perf_counter_ns(), 0, kind, worker)
        self._now.errors += 1
        self.rows_refused += rows
        key = (kind, message)
        if key not in self._failures and len(self._failures) >= DIFFERENT_FAILURES:
            key = (kind, "(other words)")
        found = self._failures.setdefault(key, Failure())
        found.operations += 1
        found.rows += rows

    def stop(self) -> Event:
        """Emit the last interval, the histogram and the failures; return what the summary begins with."""
        ended_ns = time.perf_counter_ns()
        cpu = cpu_ns() - self._cpu_ns
        self._interval(ended_ns)
        latencies = self._all_latencies
        self.emit(
            event(
                "histogram",
                operation=self.operation,
                kind="service",
                unit="ns",
                count=latencies.count,
                min_ns=latencies.min_ns,
                mean_ns=latencies.mean_ns(),
                max_ns=latencies.max_ns,
                encoded=latencies.encoded(),
            )
        )
        by_number = sorted(self._failures.items(), key=lambda one: (-one[1].operations, one[0]))
        for (kind, message), one in by_number:
            self.emit(error(kind, message, one.operations, one.rows))
        return self._summary(ended_ns - self._began_ns, cpu)

    def _summary(self, duration_ns: int, cpu: int) -> Event:
        total, rate = self.total, 1e9 / duration_ns if duration_ns else 0.0
        return {
            "duration_ns": duration_ns,
            "operations": total.operations,
            "rows": total.rows,
            "values": total.values,
            "bytes": total.bytes,
            "wire_bytes": total.bytes,
            "rows_refused": self.rows_refused,
            "rows_unsent": 0,
            "errors": total.errors,
            "retries": 0,
            "client_cpu_ns": cpu,
            "generator_stall_ns": 0,
            "bottleneck": "server",
            "saturated": False,
            "offered_per_second": None,
            "achieved_per_second": total.operations * rate,
            "rows_per_second": total.rows * rate,
            "operations_per_second": total.operations * rate,
            "digest": None,
        }

    def _interval(self, now_ns: int) -> None:
        now = self._now
        self.total.add(now)
        self.emit(
            event(
                "interval",
                operation=self.operation,
                index=self._index,
                start_ns=self._last_ns - self._began_ns,
                duration_ns=now_ns - self._last_ns,
                operations=now.operations,
                rows=now.rows,
                values=now.values,
                bytes=now.bytes,
                errors=now.errors,
                histogram=self._latencies.encoded(),
            )
        )
        self._index += 1
        self._now, self._latencies, self._last_ns = Counts(), Latencies(), now_ns


def error(kind: str, message: str, operations: int = 1, rows: int = 0) -> Event:
    """Return an ``error`` event; an embedded engine has no status of HTTP."""
    return event("error", kind=kind, status=0, message=message, operations=operations, rows=rows)


def cpu_ns() -> int:
    """Return the processor time of this process and its ended children (benchload's generator), in ns."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return int(sum(one.ru_utime + one.ru_stime for one in used) * 1e9)
