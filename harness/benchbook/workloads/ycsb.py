"""The workload ``ycsb``: the core workloads of the Yahoo! Cloud Serving Benchmark (Cooper et al., SoCC 2010).

Every value follows from its record, field and version, so that each value that is read is checked; after writes, every
record is read back. ``benchload ycsb`` is the client of servers. ``serve`` is that of SQLite, in a worker in Python,
with the same keys, values and choices.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.dataset import Dataset
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import LATENCY, OPEN_LOOP
from benchbook.declare.toml import Positive
from benchbook.declare.workload import LoopOptions, Metric, Rate, Workload, refuse_two_ends
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency, open_loop
from benchbook.measure.rate import to_last_answer
from benchbook.plan.plan import PlannedTrial

if TYPE_CHECKING:
    import sqlite3

    from benchbook.run.ceiling import Alone
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps
    from benchbook.workers.engine import Engine
    from benchbook.workers.recorder import Emit, Operations, Recorder

CORE: dict[str, tuple[dict[str, float], str]] = {
    "load": ({"insert": 1.0}, "uniform"),
    "check": ({"read": 1.0}, "uniform"),
    "a": ({"read": 0.5, "update": 0.5}, "zipfian"),
    "b": ({"read": 0.95, "update": 0.05}, "zipfian"),
    "c": ({"read": 1.0}, "zipfian"),
    "d": ({"insert": 0.05, "read": 0.95}, "latest"),
    "e": ({"insert": 0.05, "scan": 0.95}, "zipfian"),
    "f": ({"read": 0.5, "rmw": 0.5}, "zipfian"),
}
"""What is done → share of each kind of operation, and how records are chosen."""
WRITES = ("load", "a", "b", "d", "e", "f")
KINDS = {
    "insert": "inserts",
    "read": "reads",
    "update": "updates",
    "scan": "scans",
    "rmw": "read-modify-writes",
}
"""Kind of operation → its plural in titles; ``rmw`` reads a record and then updates it."""
OWN = "own"


class YcsbOptions(LoopOptions):
    """Options of the workload ``ycsb``: load the records, then do the operations of a core workload."""

    do: Literal["load", "a", "b", "c", "d", "e", "f"]
    """``load``: insert all records, into an empty system. Or a core workload: ``a`` half updates, ``b`` 5 % updates,
    ``c`` only reads, ``d`` reads of the latest records, ``e`` short scans, ``f`` read-modify-writes."""
    records: Positive = 1000
    """Records that ``load`` inserts; the same in all phases."""
    fields: Annotated[int, Field(ge=1, le=1000)] = 10
    """Fields of a record; the same in all phases."""
    field_bytes: Annotated[int, Field(ge=20, le=1 << 20)] = 100
    """Bytes of a field; the same in all phases."""
    operations: Annotated[int, Field(ge=0)] = 0
    """Operations; 0 for one per record."""
    duration: Duration | None = None
    """For how long operations begin, in place of a number of them; ``load`` ends with its records."""
    distribution: Literal["own", "zipfian", "latest", "uniform"] = "own"
    """How records are chosen; ``own``: as the core workload says."""
    scan_longest: Annotated[int, Field(ge=1, le=100_000)] = 100
    """Most records of a scan."""
    workers: Positive = 1
    """Operations in flight."""
    timeout: Duration = "30s"
    """Longest time for one operation."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        refuse_two_ends("operations", self.operations or None, self.duration)
        return self


CHECK_WORKERS = 4
"""Operations in flight while records are read back, which is not timed."""


def flags(options: YcsbOptions, do: str) -> dict[str, Any]:
    """Return the flags of ``benchload ycsb`` that describe records and operations."""
    lasts = None if options.duration is None or do in ("load", "check") else options.duration
    return {
        "do": do,
        "records": options.records,
        "operations": None if do in ("load", "check") else options.operations or None,
        "duration": lasts and timedelta(seconds=seconds(lasts)),
        "fields": options.fields,
        "field-bytes": options.field_bytes,
        "distribution": options.distribution,
        "scan-longest": options.scan_longest,
        "timeout": timedelta(seconds=seconds(options.timeout)),
    }


def run(steps: Steps, phase: str, options: YcsbOptions) -> None:
    """Do the operations; after writes, let the system settle and read every record back."""
    from benchbook.run.findings import required_summary
    from benchbook.systems.driver import Operations

    kept = steps.context.scratch / f"{steps.planned.index:04d}.ycsb"

    def operations(do: str, record: Path | None = None, **more: Any) -> Operations:
        return Operations("ycsb", {**flags(options, do), **more, "kept": kept}, (), __name__, record)

    timed = operations(
        options.do, steps.operations(phase), workers=options.workers, rate=options.rate or None,
        arrivals=options.arrivals if options.rate else None,
    )  # fmt: skip
    with steps.timeline.phase(phase, workload.name):
        taken = steps.events.take(phase, steps.client.perform(timed))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    steps.findings.measurements += measurements(phase, summary, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    if options.do not in WRITES:
        return
    with steps.timeline.phase("settle"):
        steps.driver.settle()
    with steps.timeline.phase("check"):
        held = int(kept.read_text())
        found = steps.events.take("check", steps.client.perform(operations("check", workers=CHECK_WORKERS)))
        read = required_summary(found, "check")
        steps.findings.check("rows", f"records read back after {phase}", held, int(read["operations"]))
        if options.do == "load":
            steps.findings.check("rows", f"records acknowledged in {phase}", options.records, held)
            steps.findings.size(steps.driver.size(), held, held * options.fields)


def measurements(phase: str, summary: Event, histograms: list[Event]) -> list[Measurement]:
    """Return the metrics of a phase; latency is that of all operations, and the tail also that of each kind."""
    rate = to_last_answer(summary)
    found = [
        Measurement(phase, "operations_per_second", float(summary["operations"]) * rate),
        Measurement(phase, "operations", float(summary["operations"])),
        Measurement(phase, "records_per_second", float(summary["rows"]) * rate),
        Measurement(phase, "errors", float(summary.get("errors") or 0)),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
        *open_loop(phase, summary),
        *latency(phase, histograms),
    ]
    for kind in KINDS:
        own = latency(phase, [one for one in histograms if one.get("operation") == kind])
        found += [
            Measurement(phase, f"{kind}_latency_p99", one.value) for one in own if one.metric == "latency_p99"
        ]
    return found


def alone(context: Context, _: Dataset) -> list[Alone]:
    """Return the operations of each phase, on a store inside benchload."""
    from benchbook.run.ceiling import Alone, of_phases
    from benchbook.systems.client import as_flags

    def of(_dataset: Dataset, _trial: PlannedTrial, options: YcsbOptions) -> Alone:
        asked = {
            **flags(options, options.do),
            "duration": None,
            "operations": None,
            "workers": options.workers,
        }
        return Alone(
            ("ycsb", *as_flags(asked), "--target=null"), served=False, about={"workers": options.workers}
        )

    return of_phases(context, workload.name, of)


workload = Workload(
    name="ycsb",
    options=YcsbOptions,
    run=run,
    metrics=(
        Metric("records_per_second", "1/s", "higher", "Records per second", "records"),
        *(
            Metric(f"{kind}_latency_p99", "s", "lower", f"99th percentile of latency of {plural}")
            for kind, plural in KINDS.items()
        ),
        "operations_per_second",
        "operations",
        "errors",
        "retries",
        *OPEN_LOOP,
        *LATENCY,
    ),
    compared=("operations_per_second", "latency_p99"),
    rate=Rate("operations_per_second", "operations_per_second", "operations_per_second"),
    alone=alone,
    own_data=True,
)


# The records and their choice, as in benchload's package ycsb.


def fnv(number: int) -> int:
    """Return YCSB's FNV hash of a number.

    >>> fnv(0), fnv(1)
    (6284781860667377211, 8517097267634966620)
    """
    hashed = 0xCBF29CE484222325
    for octet in number.to_bytes(8, "little"):
        hashed = ((hashed ^ octet) * 1099511628211) & (1 << 64) - 1
    return abs(hashed - (1 << 64) if hashed >> 63 else hashed)


class Values:
    """The values of one record's fields.

    A value is its version, a dot, and the digits of the key's digest from a place on that follows from field and
    version. So a value of another record, field or version is found, at the cost of one digest for each record.
    """

    def __init__(self, key: str, size: int) -> None:
        digits = hashlib.sha256(key.encode()).hexdigest()
        self._digits, self._size = digits * (2 + size // len(digits)), size

    def of(self, place: int, version: int) -> str:
        """Return the value of a field in a version.

        >>> Values("user1", 24).of(0, 10)
        'a.3d96f6d178cabfce900a04'
        """
        head, start = f"{version:x}.", (place + 11 * version) % 64
        return head + self._digits[start : start + self._size - len(head)]

    def valid(self, found: tuple[str, ...]) -> bool:
        """Return whether each value is one that was written to its field."""
        try:
            return all(
                text == self.of(place, int(text.partition(".")[0], 16)) for place, text in enumerate(found)
            )
        except ValueError:
            return False


SKEW, ITEMS, ZETA = 0.99, 10_000_000_000, 26.46902820178302
"""YCSB's constants: the skew, and the ranks that it draws before it scatters them, with their zeta."""


class Zipfian:
    """Ranks from 0, of which few are frequent (Gray et al., SIGMOD 1994)."""

    def __init__(self, items: int = 0, zeta: float = 0.0) -> None:
        self._items, self._zeta = items, zeta

    def next(self, items: int, at: float) -> int:
        """Return the rank, among ``items``, of a number from 0 to 1."""
        self._zeta += sum(1 / rank**SKEW for rank in range(self._items + 1, items + 1))
        self._items = items
        scaled = at * self._zeta
        if scaled < 1 or items < 2:
            return 0
        if scaled < 1 + 0.5**SKEW:
            return 1
        eta = (1 - (2 / items) ** (1 - SKEW)) / (1 - (1 + 0.5**SKEW) / self._zeta)
        return min(int(items * (eta * at - eta + 1) ** (1 / (1 - SKEW))), items - 1)


def choices(distribution: str, space: int, held: Callable[[], int], draw: random.Random) -> Iterator[int]:
    """Yield numbers of records below ``held()``; zipfian choices fall among ``space`` numbers."""
    scattered, latest = Zipfian(ITEMS, ZETA), Zipfian()
    while True:
        known = held()
        if distribution == "zipfian":
            number = fnv(scattered.next(ITEMS, draw.random())) % space
            if number < known:
                yield number
        elif distribution == "latest":
            yield known - 1 - latest.next(known, draw.random())
        else:
            yield draw.randrange(known)


# The client of SQLite.


@dataclass
class Shared:
    """What all threads share; hold the lock to use it."""

    recorders: dict[str, Recorder]
    left: Iterator[int]
    """Numbers of the operations that are still to be done."""
    next_insert: int
    held: int
    """Records below are in the store."""
    early: set[int] = field(default_factory=set)
    broken: Exception | None = None
    """Why a thread ended early."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def inserted(self, number: int) -> None:
        """Note that a record is in the store."""
        self.early.add(number)
        while self.held in self.early:
            self.early.remove(self.held)
            self.held += 1


@dataclass(frozen=True)
class Table:
    """The statements on a table of records over one connection."""

    connection: sqlite3.Connection
    fields: int

    def create(self) -> None:
        """Create the table; fail if there is one."""
        columns = ", ".join(f"field{place} TEXT NOT NULL" for place in range(self.fields))
        self.connection.execute(f"CREATE TABLE usertable (ycsb_key TEXT PRIMARY KEY, {columns})")

    def insert(self, key: str, values: list[str]) -> None:
        """Insert a record."""
        places = ", ".join("?" * (self.fields + 1))
        self.connection.execute(f"INSERT INTO usertable VALUES ({places})", (key, *values))  # noqa: S608 - only places

    def update(self, key: str, place: int, text: str) -> None:
        """Write one field; raise LookupError if there is no such record."""
        done = self.connection.execute(
            f"UPDATE usertable SET field{place} = ? WHERE ycsb_key = ?",  # noqa: S608 - a number
            (text, key),
        )
        if done.rowcount != 1:
            raise LookupError(f"a statement changed {done.rowcount} rows in place of one")

    def scan(self, key: str, count: int) -> list[tuple[str, ...]]:
        """Return records from a key on, in the order of keys."""
        text = "SELECT * FROM usertable WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT ?"
        return self.connection.execute(text, (key, count)).fetchall()

    def read(self, key: str) -> list[tuple[str, ...]]:
        """Return the record of a key."""
        return self.connection.execute("SELECT * FROM usertable WHERE ycsb_key = ?", (key,)).fetchall()


class Client(threading.Thread):
    """Does operations over one connection."""

    def __init__(self, worker: int, table: Table, asked: Mapping[str, Any], shared: Shared) -> None:
        super().__init__()
        self._worker, self._table, self._asked, self._shared = worker, table, asked, shared
        self._draw = random.Random(worker)
        self._shares, own = CORE[asked["do"]]
        choice = own if asked["distribution"] == OWN else asked["distribution"]
        expected = int(asked.get("operations") or asked["records"])
        space = shared.held + int(2 * self._shares.get("insert", 0.0) * expected)
        self._chosen = choices(choice, space, lambda: shared.held, self._draw)

    def run(self) -> None:
        """Do operations until none is left; keep an error of this module for the caller."""
        try:
            self._work()
        except Exception as error:  # raised again by ``serve``
            self._shared.broken = error

    def _work(self) -> None:
        while (number := self._next()) is not None:
            kind = self._draw.choices(list(self._shares), list(self._shares.values()))[0]
            if kind == "insert":
                with self._shared.lock:
                    record = self._shared.next_insert
                    self._shared.next_insert += 1
            else:
                record = number if self._asked["do"] == "check" else next(self._chosen)
            self._operate(kind, record, number + 1)

    def _next(self) -> int | None:
        with self._shared.lock:
            over = any(recorder.over() for recorder in self._shared.recorders.values())
            return None if over else next(self._shared.left, None)

    def _operate(self, kind: str, record: int, version: int) -> None:
        key, fields, size = f"user{fnv(record)}", self._table.fields, int(self._asked["field-bytes"])
        count = 1 if kind != "scan" else self._draw.randint(1, int(self._asked["scan-longest"]))
        place = self._draw.randrange(fields)
        written = Values(key, size)
        values = [written.of(at, 0) for at in range(fields)] if kind == "insert" else []
        text = written.of(place, version) if kind in ("update", "rmw") else ""
        began_ns = time.perf_counter_ns()
        found: list[tuple[str, ...]] = []
        try:
            if kind == "insert":
                self._table.insert(key, values)
            if kind in ("read", "rmw"):
                found = self._table.read(key)
            if kind == "scan":
                found = self._table.scan(key, count)
            if kind in ("update", "rmw"):
                self._table.update(key, place, text)
        except Exception as failure:  # count any error of the engine, with its message
            self._failed(kind, "refused", str(failure), began_ns)
            return
        ended_ns = time.perf_counter_ns()
        if kind in ("read", "rmw", "scan") and (fault := _fault(key, found, count, size)):
            self._failed(kind, "answer", fault, began_ns)
            return
        sent = sum(map(len, values)) + len(text)
        read = sum(len(one) for row in found for one in row[1:])
        with self._shared.lock:
            if kind == "insert":
                self._shared.inserted(record)
            self._shared.recorders[kind].done(
                began_ns, ended_ns, rows=len(found) or 1, size=read + sent, worker=self._worker
            )

    def _failed(self, kind: str, how: str, message: str, began_ns: int) -> None:
        with self._shared.lock:
            self._shared.recorders[kind].failed(how, message, 1, began_ns=began_ns, worker=self._worker)


def _fault(key: str, found: list[tuple[str, ...]], count: int, size: int) -> str:
    """Return what is wrong with the answer to a read or scan; empty if nothing is."""
    if not found or found[0][0] != key:
        return "the store has no record of a key that it acknowledged"
    if len(found) > count:
        return f"a scan of {count} records returned {len(found)}"
    if any(one[0] >= other[0] for one, other in itertools.pairwise(found)):
        return "a scan returned keys out of order"
    if not all(Values(row[0], size).valid(row[1:]) for row in found):
        return "a field has a value that was never written to it"
    return ""


def serve(
    engine: Engine, asked: Mapping[str, Any], program: str, emit: Emit, record: Operations | None = None
) -> None:
    """Do the operations that a phase asks for in a worker in Python."""
    from benchbook.workers.engine import FailedError
    from benchbook.workers.recorder import Recorder, event, total

    connect = getattr(engine, "connect", None)
    if connect is None:
        raise ValueError(f"{program} keeps no records of ycsb; use SQLite")
    do, kept, lasts = str(asked["do"]), Path(asked["kept"]), asked.get("duration")
    held = 0 if do == "load" else int(kept.read_text())
    whole = held if do == "check" else int(asked.get("operations") or asked["records"])
    tables = [
        Table(connect(float(asked["timeout"])), int(asked["fields"])) for _ in range(int(asked["workers"]))
    ]
    if do == "load":
        tables[0].create()
    emit(
        event(
            "start", workload=f"ycsb-{do}", time_unix_ns=time.time_ns(), target=program.partition(" ")[0],
            workers=len(tables), rows=int(asked["records"]), loop="closed", program=program,
        )
    )  # fmt: skip
    recorders = {kind: Recorder(emit, kind, record, lasts) for kind in CORE[do][0]}
    shared = Shared(recorders, itertools.count() if lasts else iter(range(whole)), held, held)
    threads = [Client(worker, table, asked, shared) for worker, table in enumerate(tables)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if shared.broken is not None:
        raise shared.broken
    summary = total([recorder.stop() for recorder in recorders.values()])
    for table in tables:
        table.connection.close()
    kept.write_text(f"{shared.held}\n")
    emit(event("summary", **{**summary, "workload": f"ycsb-{do}"}))
    if summary["errors"]:
        raise FailedError(f"{summary['errors']} operations failed")
