"""Records the operations of one workload and emits its events, as benchload does.

The shapes are those of docs/benchload-events.md; nobody may tell from the events who wrote them.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchbook.embedded.latency import Latencies

SCHEMA = 1
INTERVAL_NS = 1_000_000_000

Emit = Callable[[dict[str, Any]], None]


@dataclass
class _While:
    """What happened in a while."""

    operations: int = 0
    rows: int = 0
    values: int = 0
    bytes: int = 0
    errors: int = 0
    latencies: Latencies = field(default_factory=Latencies)


class Recorder:
    """One workload: ``start`` when it is made, then operations, then ``finish``."""

    def __init__(self, emit: Emit, workload: str, operation: str, program: str, **start: Any) -> None:
        """Emit the first event; ``operation`` is what is timed (``write``, ``query``)."""
        self._emit, self._workload, self._operation = emit, workload, operation
        self._all, self._now, self._warm = _While(), _While(), Latencies()
        self._errors: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[tuple[str, str]] = Counter()
        self._index = 0
        self._told(
            "start",
            workload=workload,
            time_unix_ns=time.time_ns(),
            target=program,
            workers=1,
            **start,
            loop="closed",
            program=program,
        )
        self.begin()

    def begin(self) -> None:
        """Start the clock of the timed region: by itself at once, anew after a warm-up."""
        self._cpu_ns = cpu_ns()
        self._began_ns = self._interval_ns = time.perf_counter_ns()

    def warmed(self, latency_ns: int) -> None:
        """Record an operation of the warm-up, before ``begin``."""
        self._warm.add(latency_ns)

    def done(self, began_ns: int, ended_ns: int, *, rows: int = 0, values: int = 0, size: int = 0) -> None:
        """Record an operation that succeeded, by its times on ``time.perf_counter_ns``."""
        for span in (self._all, self._now):
            span.operations += 1
            span.rows += rows
            span.values += values
            span.bytes += size
            span.latencies.add(ended_ns - began_ns)
        self._turn(ended_ns)

    def failed(self, kind: str, message: str, rows: int = 0) -> None:
        """Record an operation that failed; its rows are refused."""
        self._all.errors += 1
        self._now.errors += 1
        self._errors[kind, message] += 1
        self._refused[kind, message] += rows
        self._turn(time.perf_counter_ns())

    def finish(self, generator_stall_ns: int = 0) -> None:
        """Emit the last interval, the histograms, the errors, and the summary, which is the last event.

        ``generator_stall_ns`` is how long the load waited for data.
        """
        ended_ns = time.perf_counter_ns()
        cpu = cpu_ns() - self._cpu_ns
        if self._now.operations or self._now.errors:
            self._interval(ended_ns)
        for operation, latencies in (("warmup", self._warm), (self._operation, self._all.latencies)):
            if latencies.count or operation != "warmup":
                self._histogram(operation, latencies)
        for (kind, message), operations in self._errors.most_common():
            rows = self._refused[kind, message]
            self._told("error", kind=kind, status=0, message=message, operations=operations, rows=rows)
        duration_ns = ended_ns - self._began_ns
        whole = self._all
        rate = 1e9 / duration_ns if duration_ns else 0.0
        self._told(
            "summary",
            workload=self._workload,
            duration_ns=duration_ns,
            operations=whole.operations,
            rows=whole.rows,
            values=whole.values,
            bytes=whole.bytes,
            wire_bytes=0,
            rows_refused=sum(self._refused.values()),
            rows_unsent=0,
            errors=whole.errors,
            retries=0,
            client_cpu_ns=cpu,
            generator_stall_ns=generator_stall_ns,
            bottleneck="generator" if generator_stall_ns * 2 > duration_ns else "target",
            saturated=False,
            offered_per_second=None,
            achieved_per_second=whole.operations * rate,
            rows_per_second=whole.rows * rate,
            operations_per_second=whole.operations * rate,
            digest=None,
        )

    def answer(self, identity: int, query_type: str, rows: list[list[int | float | str | None]]) -> None:
        """Emit the answer of one query."""
        columns = ["time_ns", "host", "value"]
        self._told("answer", id=identity, query_type=query_type, columns=columns, rows=rows)

    def _told(self, event: str, /, **content: Any) -> None:
        self._emit({"v": SCHEMA, "type": event, **content})

    def _histogram(self, operation: str, latencies: Latencies) -> None:
        self._told(
            "histogram",
            operation=operation,
            kind="service",
            unit="ns",
            count=latencies.count,
            min_ns=latencies.min_ns,
            mean_ns=latencies.mean_ns(),
            max_ns=latencies.max_ns,
            encoded=latencies.encoded(),
        )

    def _turn(self, now_ns: int) -> None:
        if now_ns - self._interval_ns >= INTERVAL_NS:
            self._interval(now_ns)

    def _interval(self, now_ns: int) -> None:
        now = self._now
        self._told(
            "interval",
            operation=self._operation,
            index=self._index,
            start_ns=self._interval_ns - self._began_ns,
            duration_ns=now_ns - self._interval_ns,
            operations=now.operations,
            rows=now.rows,
            values=now.values,
            bytes=now.bytes,
            errors=now.errors,
            histogram=now.latencies.encoded(),
        )
        self._index += 1
        self._now, self._interval_ns = _While(), now_ns


def cpu_ns() -> int:
    """Return the processor time of this process and its ended children (benchload's generator), in ns."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return int(sum(one.ru_utime + one.ru_stime for one in used) * 1e9)
