"""The phases of a trial between the start and the stop of its system."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import Phase
from benchbook.declare.toml import Setting
from benchbook.declare.workload import CommandOptions, LoadOptions, QueryOptions
from benchbook.errors import TrialFailed
from benchbook.measure import steady
from benchbook.measure.measurement import Event, Measurement
from benchbook.plan.plan import PlannedTrial, phase_options
from benchbook.record import lines
from benchbook.run import benchload
from benchbook.run.context import Context
from benchbook.run.findings import EventFile, Findings, Timeline, required_summary
from benchbook.run.workloads import blob, command, fio, kline, load, original, query
from benchbook.storage.local import Storage
from benchbook.systems.driver import Client, Driver, SeveralDatabases, TableCount


def done_at(planned: dict[str, Any], levels: dict[str, Setting]) -> bool:
    """Return whether a planned phase applies to a cell."""
    return Phase.model_validate(planned).done_at(levels)


class StorageWork:
    """Collects how much each counter of the storage grew in each phase; reading them counts as overhead."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._phase: str | None = None
        self._before: dict[str, float] = {}
        self._grown: dict[str, dict[str, float]] = {}

    def begins(self, phase: str) -> None:
        """Read the counters when a phase begins."""
        self._phase, self._before = phase, self._storage.counters()

    def ends(self) -> None:
        """Read the counters when a phase ends; a storage that died has none."""
        if self._phase is None:
            return
        grown = self._grown.setdefault(self._phase, {})
        for name, value in self._storage.counters().items():
            if name in self._before:
                grown[name] = grown.get(name, 0.0) + value - self._before[name]
        self._phase = None

    def of(self, metric: str) -> dict[str, float]:
        """Return the growth of one counter by phase."""
        return {phase: grown[metric] for phase, grown in self._grown.items() if metric in grown}

    def measurements(self) -> list[Measurement]:
        """Return the growth of every counter in every phase."""
        return [
            Measurement(phase, name, value)
            for phase, grown in self._grown.items()
            for name, value in grown.items()
        ]


@dataclass
class Steps:
    """Drives a running system through the phases of the plan, in order."""

    context: Context
    planned: PlannedTrial
    dataset: Dataset
    digest: dict[str, Any]
    timeline: Timeline
    findings: Findings
    driver: Driver
    client: Client
    events: EventFile
    folder: Path
    """The trial's folder, in which commands leave their output."""
    storage: Storage
    data: Path
    """The data folder, on the storage."""
    restart: Callable[[], None]
    """Starts the system again after its driver has stopped it, and waits until it answers."""

    def all(self) -> None:
        """Do every phase; raise TrialFailed if one does not finish."""
        with self.timeline.phase("prepare"):
            self.driver.prepare()
        for phase in self.context.plan.phases:
            if not done_at(phase, self.planned.levels):
                continue
            options = phase_options(phase, self.planned.levels)
            WORKLOADS[phase["workload"]](self, phase["name"], options)
            # Data may have stayed in the page cache, so a dead storage may have gone unnoticed.
            self.storage.check()
        self._answers()

    def operations(self, phase: str) -> Path | None:
        """Return the file for the single operations of a phase, or None if the run does not keep them."""
        return lines.operations_file(self.folder, phase) if self.context.plan.record_operations else None

    def load(self, phase: str, options: LoadOptions) -> None:
        """Load the dataset, let the system settle, compare what it stores with what it acknowledged."""
        asked = benchload.request(self.dataset, self.digest)
        asked_for = load.request(options, asked, read_later=self._is_read_after(phase))
        request = replace(asked_for, record=self.operations(phase))
        with self.timeline.phase(phase, "load"):
            taken = self.events.take(phase, self.client.load(request))
        self.findings.keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        _refuse_unexpected(phase, options, taken.errors)
        with self.timeline.phase("settle") as settle:
            self.driver.settle()
        settle_seconds = settle.duration_seconds - self.driver.watched_seconds
        with self.timeline.phase("check"):
            share = self._found(options, summary)
            values = int(summary["values"]) or load.sent(options, summary, self.digest, "values")
            self.findings.size(self.driver.size(), int(summary["rows"]), values)
        sent_bytes = load.sent(options, summary, self.digest, "bytes")
        if options.duration is not None:
            self.findings.data_bytes = sent_bytes
        self.findings.measurements += load.measurements(
            phase, summary, settle_seconds, sent_bytes, share, window=request.whole
        )
        self.findings.measurements += steady.measurements(
            phase, taken.intervals, share, in_flight=options.clients * options.workers,
            by_time=options.duration is not None and not request.whole,
        )  # fmt: skip
        self.findings.measurements += load.latencies(phase, taken.histograms)
        self.findings.client_cpu(phase, summary)
        if options.duration is not None:
            self.findings.leave_out_amounts(phase)

    def _is_read_after(self, load_phase: str) -> bool:
        """Return whether a phase after ``load_phase`` asks for the dataset."""
        names = [phase["name"] for phase in self.context.plan.phases]
        later = self.context.plan.phases[names.index(load_phase) + 1 :]
        return any(phase["workload"] in READING and done_at(phase, self.planned.levels) for phase in later)

    def _found(self, options: LoadOptions, summary: Event) -> float:
        """Compare the content of every database with what was acknowledged; return the share that is stored."""
        names = load.databases(options.clients)
        not_required = getattr(self.driver, "not_required", ())
        acknowledged = stored = 0
        alone = options.model_copy(update={"clients": 1})
        for database, client in zip(names, summary.get("clients") or [summary], strict=True):
            values = int(client["values"]) or load.sent(alone, client, self.digest, "values")
            counted, refusal = self._counted(database, required=database not in not_required)
            found, what = sum(number for one in counted.values() for number in one.fields.values()), "values"
            if client.get("rows_refused") and all(one.exact for one in counted.values()):
                # For a batch refused in part, benchload knows which rows were accepted, not their values.
                values, found, what = int(client["rows"]), sum(one.rows for one in counted.values()), "rows"
            acknowledged, stored = acknowledged + values, stored + min(found, values)
            if database in not_required:
                self.findings.note_found(database, values, found, refusal)
            elif client.get("rows_refused"):
                self.findings.check_acknowledged(database, values, found, what)
            elif options.duration is not None:
                where = database if len(names) > 1 else None
                self.findings.check_written(self.digest, counted, int(client["rows"]), values, where)
            else:
                self.findings.check_counts(self.digest, counted, database if len(names) > 1 else None)
        return stored / acknowledged if acknowledged else 1.0

    def _counted(self, database: str, *, required: bool) -> tuple[dict[str, TableCount], str]:
        """Return the content of a database, and the system's refusal to count it if that is permitted."""
        try:
            if isinstance(self.driver, SeveralDatabases):
                return self.driver.count_in(database), ""
            return self.driver.count(), ""
        except TrialFailed as refused:
            if required:
                raise
            return {}, str(refused)  # that the database is unreadable is a result

    def query(self, phase: str, options: QueryOptions) -> None:
        """Run the queries of one type."""
        file = self.context.queries(self.dataset, options)
        self.findings.cache_states[phase] = make_cold(self) if options.cache == COLD else WARM
        request = replace(query.request(options, file), record=self.operations(phase))
        with self.timeline.phase(phase, "query"):
            taken = self.events.take(phase, self.client.query(request))
        self.findings.keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        self.findings.measurements += query.measurements(phase, summary, taken.histograms)
        self.findings.client_cpu(phase, summary)
        cached = self.storage.cached_bytes()
        if cached is not None:
            self.findings.measurements.append(Measurement(phase, "data_cached_bytes", float(cached)))
        if data := self.storage.bytes():  # 0 for a server elsewhere
            self.findings.measurements.append(Measurement(phase, "data_bytes", float(data)))

    def command(self, phase: str, options: CommandOptions) -> None:
        """Time a tool's command; its input file is removed afterwards."""
        rows = int(self.digest["rows"])
        with tempfile.TemporaryDirectory(dir=self.context.scratch) as folder:
            places = command.places(self.context.benchload, self.driver, self.dataset, Path(folder), options)
            text = command.command(options, places)
            with self.timeline.phase("input"):
                command.prepare(
                    self.context.benchload, self.dataset, self.digest, Path(places["input"]), options
                )
            counted = {"rows": rows, "nothing": None}.get(options.counts)
            if options.counts == "lines":
                with self.timeline.phase("count"):
                    counted = command.lines(text)
            before = command.received(self.driver) if options.received else 0
            with self.timeline.phase(phase, "command"):
                timed = command.run(
                    text, options, f"{phase} {options.tool}", self.folder, self.context.results / "processes"
                )
        if options.received:
            expected = rows * (options.runs + options.warmup)
            self.findings.check(
                "rows", f"rows received in {phase}", expected, command.received(self.driver) - before
            )
        self.findings.measurements += command.measurements(phase, timed, counted)

    def _answers(self) -> None:
        """Store the answers to the first queries of each type, outside the timed period."""
        with self.timeline.phase("answers"):
            for phase in self.context.plan.phases:
                options = phase_options(phase, self.planned.levels)
                if isinstance(options, QueryOptions) and done_at(phase, self.planned.levels):
                    file = self.context.queries(self.dataset, options)
                    asked = query.answers_request(options, file)
                    taken = self.events.take("answers", self.client.query(asked))
                    self.findings.keep_errors("answers", taken.errors)
                    kept = min(query.ANSWERS, options.different)
                    self.findings.check("answers", f"answers kept of {options.type}", kept, taken.answers)


READING = ("query", "kline")
"""Workloads that ask for the dataset which a load has written."""

WORKLOADS: dict[str, Callable[[Steps, str, Any], None]] = {
    "load": Steps.load,
    "query": Steps.query,
    "command": Steps.command,
    "kline": kline.run,
    "fio": fio.fio,
    "inch": load.inch,
    "stress": load.stress,
    "original": original.original,
    "blob": blob.run,
}
"""Workload → function that carries out a phase. Modules of ``workloads`` provide ``(steps, phase, options)``."""


def _refuse_unexpected(phase: str, options: LoadOptions, errors: list[Event]) -> None:
    """Raise TrialFailed for a refusal that the experiment does not expect."""
    for event in errors:
        if options.expects and not load.expected(options, event):
            raise TrialFailed(
                f"{phase}: the system refused {event.get('operations')} writes for a reason that the experiment does "
                f"not expect: {event.get('message')}",
                f"The phase's option `expects` allows only: {', '.join(options.expects)}. If this refusal is part of"
                " the test, add a part of its message there.",
            )


WARM, COLD, LUKEWARM = "warm", "cold", "lukewarm"
"""Cache states of a phase; lukewarm if cold was requested but not reached.

Two checks follow a cold start: the storage reports whether some of the data is still in memory, and a system that
answers without reading one byte was not cold.
"""

DROP_CACHES = "drop caches"
"""Phase in which the system stops and starts again; what it reads then counts as read by the queries."""


def make_cold(steps: Steps) -> str:
    """Stop the system, drop all caches, start it again; return the cache state that was reached."""
    program = steps.context.program(str(steps.planned.levels["system"]))
    if program.url is not None:
        return LUKEWARM  # Benchbook can neither stop a server elsewhere nor drop its machine's cache
    with steps.timeline.phase(DROP_CACHES):
        steps.driver.stop()
        dropped = steps.storage.drop_caches()
        steps.restart()
    return COLD if dropped else LUKEWARM


OWN_READ_COUNTERS = ("server_read_bytes", "storage_bucket_read_bytes")
"""Counters of bytes that the system read from storage: its processes, and from a bucket."""
READ_COUNTERS = (*OWN_READ_COUNTERS, "device_read_bytes")
"""Counters of bytes that came from storage, also for other programs on the device."""


def confirmed(states: Mapping[str, str], measured: Iterable[Measurement]) -> dict[str, str]:
    """Return the states that the bytes read confirm: cold becomes lukewarm if nothing was read since the stop.

    If no reads were counted (a system elsewhere, no telemetry), the storage's check decides.

    >>> read = Measurement("q", "server_read_bytes", 0.0)
    >>> confirmed({"q": "cold", "r": "cold"}, [read])
    {'q': 'lukewarm', 'r': 'cold'}
    """
    counted: dict[str, float] = {}
    for one in measured:
        if one.metric in READ_COUNTERS:
            counted[one.phase] = counted.get(one.phase, 0.0) + one.value
    restarted = counted.get(DROP_CACHES, 0.0)
    return {
        phase: LUKEWARM if state == COLD and counted.get(phase, 1.0) + restarted == 0 else state
        for phase, state in states.items()
    }


def unread(measured: Iterable[Measurement]) -> list[Measurement]:
    """Return how many bytes of the data a phase left unread on the storage, where its reads and the data are known.

    The reads of the server and those from the bucket are the same bytes at two places, so the larger number counts.

    >>> data = Measurement("q", "data_bytes", 100.0)
    >>> [one.value for one in unread([data, Measurement("q", "server_read_bytes", 5.0)])]
    [95.0]
    """
    numbers = {(one.phase, one.metric): one.value for one in measured}
    found = []
    for (phase, metric), data in numbers.items():
        reads = [numbers[phase, counter] for counter in OWN_READ_COUNTERS if (phase, counter) in numbers]
        if metric == "data_bytes" and reads:
            found.append(Measurement(phase, "data_unread_bytes", max(data - max(reads), 0.0)))
    return found


def trial_state(states: Mapping[str, str]) -> str:
    """Return the cache state of a trial: cold only if all phases that requested it were cold.

    >>> trial_state({"first": "cold", "second": "lukewarm"})
    'lukewarm'
    """
    asked = {state for state in states.values() if state != WARM}
    if not asked:
        return WARM
    return LUKEWARM if LUKEWARM in asked else COLD
