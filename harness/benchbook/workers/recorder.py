"""Record the operations of one kind, and emit their counts and latencies.

The events are those of docs/benchload-events.md and do not show who wrote them. They are emitted between operations,
so an operation longer than a second extends the interval in which it ends.
"""

from __future__ import annotations

import contextlib
import resource
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.measure.rate import per_second
from benchbook.workers.latencies import Latencies

if TYPE_CHECKING:
    import pyarrow as pa


BLOCK_OPERATIONS = 32_768
NUMBERS = ("worker", "intended_ns", "start_ns", "end_ns", "rows")
OK = "ok"


class _Block:
    """Preallocated memory for operations of one kind."""

    def __init__(self) -> None:
        self.numbers = tuple(array("q", bytes(8 * BLOCK_OPERATIONS)) for _ in NUMBERS)
        self.statuses = array("i", bytes(4 * BLOCK_OPERATIONS))
        self.count = 0
        self.operation = ""
        self.written: Future[None] | None = None


class Operations:
    """Writes single operations in the format of ``benchload --record-operations``; not thread-safe.

    Times go to preallocated memory, which a separate thread writes block by block. The file gets its name when it is
    complete, so a killed worker leaves none.
    """

    def __init__(self, path: Path) -> None:
        """Begin the file at ``path``."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        fields = [
            pa.field("operation", pa.string(), nullable=False),
            *(pa.field(name, pa.int64(), nullable=False) for name in NUMBERS),
            pa.field("status", pa.string(), nullable=False),
        ]
        self._schema = pa.schema(fields)
        self._writer = pq.ParquetWriter(self._part, self._schema)
        self._thread = ThreadPoolExecutor(1)
        self._blocks = [_Block(), _Block()]
        self._status_codes = {OK: 0}
        self._origin_ns: int | None = None

    def begin(self, now_ns: int) -> None:
        """Set the origin of all times, from ``time.perf_counter_ns``; only the first call counts."""
        if self._origin_ns is None:
            self._origin_ns = now_ns

    def add(
        self, operation: str, began_ns: int, ended_ns: int, rows: int, status: str = OK, worker: int = 0
    ) -> None:
        """Record one operation; in a closed loop its intended start is its start."""
        block = self._blocks[0]
        if block.count == BLOCK_OPERATIONS or (block.count and block.operation != operation):
            block = self._next()
        code = self._status_codes.setdefault(status, len(self._status_codes))
        place, start = block.count, began_ns - (self._origin_ns or 0)
        block.operation = operation
        workers, intended, starts, ends, counts = block.numbers
        workers[place], counts[place], block.statuses[place] = worker, rows, code
        intended[place] = starts[place] = start
        ends[place] = start + ended_ns - began_ns
        block.count = place + 1

    def close(self) -> None:
        """Write the last block and give the file its name."""
        try:
            self._next()
            for block in self._blocks:
                if block.written is not None:
                    block.written.result()
        finally:
            self._thread.shutdown()
            self._writer.close()
        self._part.rename(self._path)

    def _next(self) -> _Block:
        """Pass the full block to the writer, and return the other one as soon as it is free."""
        full, free = self._blocks
        if full.count:
            full.written = self._thread.submit(self._write, full, list(self._status_codes))
        if free.written is not None:
            free.written.result()
        self._blocks = [free, full]
        return free

    def _write(self, block: _Block, statuses: list[str]) -> None:
        import pyarrow as pa

        count = block.count
        columns: list[pa.Array] = [pa.repeat(block.operation, count)]
        for numbers in block.numbers:
            columns.append(pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(numbers)]))
        codes = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(block.statuses)])
        columns.append(pa.array(statuses).take(codes))
        self._writer.write_table(pa.table(columns, schema=self._schema))
        block.count = 0


@contextlib.contextmanager
def recording(path: str | None) -> Iterator[Operations | None]:
    """Yield a writer of single operations to the file at ``path``; None without a path."""
    if path is None:
        yield None
        return
    kept = Operations(Path(path))
    try:
        yield kept
    finally:
        kept.close()


SCHEMA = 1
INTERVAL_NS = 1_000_000_000
DIFFERENT_FAILURES = 100
"""Maximum number of distinct failures; more are counted together, so that changing messages cannot fill memory."""

Event = dict[str, Any]
Emit = Callable[[Event], None]


def event(kind: str, /, **content: Any) -> Event:
    """Return an event of this type."""
    return {"v": SCHEMA, "type": kind, **content}


@dataclass
class Counts:
    """Counts of one period."""

    operations: int = 0
    rows: int = 0
    values: int = 0
    bytes: int = 0
    errors: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of another period."""
        self.operations += other.operations
        self.rows += other.rows
        self.values += other.values
        self.bytes += other.bytes
        self.errors += other.errors


@dataclass
class Failure:
    """Number of failures of one kind with the same message."""

    operations: int = 0
    rows: int = 0


@dataclass
class Recorder:
    """Operations of one kind, timed from the making of the recorder until ``stop``.

    With a window, operations that end after it are counted, but not in rates. An interval ends where it ends.
    """

    emit: Emit
    operation: str
    kept: Operations | None = None
    """If set, records each operation separately too."""
    window_seconds: float | None = None
    """For how long operations begin; None for no limit."""
    total: Counts = field(default_factory=Counts)
    rows_refused: int = 0
    _drained: Counts = field(default_factory=Counts)
    _now: Counts = field(default_factory=Counts)
    _all_latencies: Latencies = field(default_factory=Latencies)
    _latencies: Latencies = field(default_factory=Latencies)
    _failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    _index: int = 0

    def __post_init__(self) -> None:
        self._cpu_ns = cpu_ns()
        self._began_ns = self._last_ns = time.perf_counter_ns()
        self._window_ns = None if self.window_seconds is None else round(self.window_seconds * 1e9)
        if self.kept is not None:
            self.kept.begin(self._began_ns)

    def over(self) -> bool:
        """Return whether no operation begins any more."""
        return self._is_after_window(time.perf_counter_ns())

    def done(
        self, began_ns: int, ended_ns: int, *, rows: int = 0, values: int = 0, size: int = 0, worker: int = 0
    ) -> None:
        """Record an operation that succeeded, by its times on ``time.perf_counter_ns``."""
        self._end_window(ended_ns)
        if self._is_after_window(ended_ns):
            self._drained.add(Counts(1, rows))
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
        """Record an operation that failed now; its ``rows`` count as refused."""
        if self.kept is not None and began_ns is not None:
            self.kept.add(self.operation, began_ns, time.perf_counter_ns(), 0, kind, worker)
        self._end_window(time.perf_counter_ns())
        self._now.errors += 1
        self.rows_refused += rows
        key = (kind, message)
        if key not in self._failures and len(self._failures) >= DIFFERENT_FAILURES:
            key = (kind, "(other messages)")
        found = self._failures.setdefault(key, Failure())
        found.operations += 1
        found.rows += rows

    def stop(self, ended_ns: int | None = None) -> Event:
        """Emit the last interval, the histogram and the failures; return what the summary begins with.

        ``ended_ns`` is when the work ended, if that is not now.
        """
        ended_ns = ended_ns or time.perf_counter_ns()
        cpu = cpu_ns() - self._cpu_ns
        self._end_window(ended_ns)
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
        total, drained = self.total, self._drained
        counted_ns = duration_ns if self._window_ns is None else min(duration_ns, self._window_ns)
        rate = 1e9 / counted_ns if counted_ns else 0.0
        window = {} if self._window_ns is None else {"window_ns": counted_ns}
        window |= {"drained_operations": drained.operations} if drained.operations else {}
        window |= {"drained_rows": drained.rows} if drained.rows else {}
        return {
            "duration_ns": duration_ns,
            **window,
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
            "achieved_per_second": (total.operations - drained.operations) * rate,
            "rows_per_second": (total.rows - drained.rows) * rate,
            "operations_per_second": (total.operations - drained.operations) * rate,
            "digest": None,
        }

    def _is_after_window(self, now_ns: int) -> bool:
        return self._window_ns is not None and now_ns - self._began_ns > self._window_ns

    def _end_window(self, now_ns: int) -> None:
        """End an interval with the window, where that ended since the last interval and before ``now_ns``."""
        if self._window_ns is None or not self._is_after_window(now_ns):
            return
        ends_ns = self._began_ns + self._window_ns
        if self._last_ns < ends_ns:
            self._interval(ends_ns)

    def _interval(self, now_ns: int) -> None:
        now = self._now
        draining = self._window_ns is not None and self._last_ns - self._began_ns >= self._window_ns
        self.total.add(now)
        self.emit(
            event(
                "interval",
                operation=self.operation,
                index=self._index,
                start_ns=self._last_ns - self._began_ns,
                duration_ns=now_ns - self._last_ns,
                **({"drain": True} if draining else {}),
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
    """Return an ``error`` event; an embedded engine has no HTTP status."""
    return event("error", kind=kind, status=0, message=message, operations=operations, rows=rows)


def cpu_ns() -> int:
    """Return the processor time of this process and its ended children (benchload's generator), in ns."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return int(sum(one.ru_utime + one.ru_stime for one in used) * 1e9)


def total(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the summaries of recorders that ran at the same time."""
    merged = dict(summaries[0])
    for name in ("operations", "rows", "bytes", "wire_bytes", "rows_refused", "errors"):
        merged[name] = sum(one[name] for one in summaries)
    for name in ("duration_ns", "client_cpu_ns", *(("window_ns",) if "window_ns" in merged else ())):
        merged[name] = max(one[name] for one in summaries)
    for name in ("drained_operations", "drained_rows"):
        if drained := sum(one.get(name, 0) for one in summaries):
            merged[name] = drained
    for name in ("rows", "operations"):
        merged[f"{name}_per_second"] = merged[name] * per_second(merged, name)
    merged["achieved_per_second"] = merged["operations_per_second"]
    return merged
