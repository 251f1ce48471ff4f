"""The phases of a trial between the start and the stop of its system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.declare.experiment import Phase
from benchbook.declare.workload import Options, workload
from benchbook.measure.measurement import Measurement
from benchbook.plan.plan import PlannedTrial
from benchbook.process import network
from benchbook.record import lines
from benchbook.run.context import Context
from benchbook.run.findings import EventFile, Findings, Timeline
from benchbook.storage.local import Storage
from benchbook.systems.driver import Client, Driver


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


@dataclass(kw_only=True)
class Steps:
    """Drives a running system through the phases of the plan, in order."""

    context: Context
    planned: PlannedTrial
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

    def __post_init__(self) -> None:
        """Look up the trial's dataset and its digest."""
        self.dataset, self.digest = self.context.dataset(self.planned)
        self._instance: tuple[str, ...] = ()

    def all(self) -> None:
        """Do every phase; raise TrialFailed if one does not finish."""
        with self.timeline.phase("prepare"):
            self.driver.prepare()
        self._instance = self._running()
        for phase, options in self._done():
            workload(phase.workload).run(self, phase.name, options)
            # Data may have stayed in the page cache, so a dead storage may have gone unnoticed.
            self.storage.check()
        self._after()

    def operations(self, phase: str) -> Path | None:
        """Return the file for the single operations of a phase, or None if the run does not keep them."""
        return lines.operations_file(self.folder, phase) if self.context.plan.record_operations else None

    def warmth(self) -> str:
        """Return warm, or lukewarm if the system was started again since the trial's first phase.

        Benchbook may have done that for a cold phase, or a supervisor after a crash. What the system itself had in
        memory is lost then, though the page cache may not be.
        """
        return WARM if self._running() == self._instance else LUKEWARM

    def _running(self) -> tuple[str, ...]:
        return network.instance(str(getattr(self.driver, "url", "")), self.driver.processes())

    def _after(self) -> None:
        """Do the untimed work of the phases after the last one: store answers."""
        with self.timeline.phase("answers"):
            for phase, options in self._done():
                workload(phase.workload).after(self, phase.name, options)

    def _done(self) -> Iterator[tuple[Phase, Options]]:
        """Yield the planned phases that apply to the trial's cell, each with its options."""
        for phase in self.context.plan.phases:
            if phase.done_at(self.planned.levels):
                yield phase, phase.replaced(self.planned.levels)


WARM, COLD, LUKEWARM = "warm", "cold", "lukewarm"
"""Cache states of a phase; lukewarm if the requested one was not reached.

Two checks follow a cold start: the storage reports whether some of the data is still in memory, and a system that
answers without reading its data was not cold. A system that was started again is not warm.
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
    """Return the states that the bytes read confirm: cold becomes lukewarm if no data was read since the stop.

    Bytes read are also those of the system's program. So data has to be in the page cache afterwards too, where that is
    known. If no reads were counted (a system elsewhere, no telemetry), the storage's check decides.

    >>> read = Measurement("q", "server_read_bytes", 0.0)
    >>> confirmed({"q": "cold", "r": "cold"}, [read])
    {'q': 'lukewarm', 'r': 'cold'}
    """
    counted: dict[str, float] = {}
    absent = set()
    for one in measured:
        if one.metric == "data_cached_bytes" and not one.value:
            absent.add(one.phase)
        if one.metric in READ_COUNTERS:
            counted[one.phase] = counted.get(one.phase, 0.0) + one.value
    restarted = counted.get(DROP_CACHES, 0.0)
    nothing = {phase for phase in states if counted.get(phase, 1.0) + restarted == 0 or phase in absent}
    return {
        phase: LUKEWARM if state == COLD and phase in nothing else state for phase, state in states.items()
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


def trial_state(states: Mapping[str, str], asked: Collection[str] = ()) -> str:
    """Return the cache state of a trial: cold only if all phases that ``asked`` for it were cold.

    Where some asked, the others do not count: a warm phase after a cold one is lukewarm, because the system was started
    again for the cold one.

    >>> trial_state({"first": "cold", "second": "lukewarm"}, ["first"]), trial_state({"only": "lukewarm"})
    ('cold', 'lukewarm')
    """
    found = {state for phase, state in states.items() if not asked or phase in asked} - {WARM}
    if not found:
        return WARM
    return LUKEWARM if LUKEWARM in found else COLD
