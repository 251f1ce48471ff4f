"""What one trial yields: the timeline of its phases, the events of its clients, measurements, errors and checks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchbook.declare.dataset import Digested
from benchbook.errors import TrialFailed, TrialInvalid
from benchbook.host.texts import shortened
from benchbook.measure.answered import Seen, compared
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.sampler import OVERHEAD
from benchbook.record.check import Kind
from benchbook.record.foreign import LARGEST, SMALLEST
from benchbook.record.trial_record import Check, Failure, Phase
from benchbook.run.watchdog import Hang
from benchbook.systems.driver import TableCount


@dataclass
class PhaseTime:
    """One phase of a trial; times are seconds of the monotonic clock."""

    phase: str
    workload: str | None
    position: int
    started_seconds: float
    """Since the trial began."""
    duration_seconds: float
    timed: bool
    """True if its operations are measured; starting, settling and checking are not timed."""

    def as_dict(self) -> Phase:
        """Return the phase in the form that ``trial.json`` stores."""
        return Phase(
            phase=self.phase,
            workload=self.workload,
            position=self.position,
            started_seconds=self.started_seconds,
            duration_seconds=self.duration_seconds,
            timed=self.timed,
        )


class Timeline:
    """Collects the phases of one trial. Time outside phases is harness overhead."""

    def __init__(
        self, begins: Callable[[str], None] = lambda _: None, ends: Callable[[], None] = lambda: None
    ) -> None:
        """Begin a trial; ``begins`` and ``ends`` are called for each phase, in time that counts as overhead."""
        self._begun = time.monotonic()
        self._begins = begins
        self._ends = ends
        self.phases: list[PhaseTime] = []

    @contextmanager
    def phase(self, name: str, workload: str | None = None) -> Iterator[PhaseTime]:
        """Time a phase, also if it raises."""
        self._begins(name)
        started = time.monotonic()
        entry = PhaseTime(name, workload, len(self.phases), started - self._begun, 0.0, workload is not None)
        self.phases.append(entry)
        try:
            yield entry
        finally:
            entry.duration_seconds = time.monotonic() - started
            self._ends()

    def seconds(self) -> float:
        """Return the seconds since the trial began."""
        return time.monotonic() - self._begun

    def seconds_of(self, name: str) -> float:
        """Return the total seconds of phases with this name."""
        return sum(entry.duration_seconds for entry in self.phases if entry.phase == name)

    def overhead_seconds(self) -> float:
        """Return the seconds so far that belong to no phase."""
        return self.seconds() - sum(entry.duration_seconds for entry in self.phases)


@dataclass
class PhaseEvents:
    """The events of one phase, as far as measurements need them."""

    summary: Event | None = None
    histograms: list[Event] = field(default_factory=list)
    errors: list[Event] = field(default_factory=list)
    intervals: list[Event] = field(default_factory=list)
    """Without histograms, which are in the file."""
    answers: int = 0
    answered: list[Seen] = field(default_factory=list)
    """Digests of answers, which are compared and not kept in a file."""


class EventFile:
    """The files for the events of a trial: ``events.jsonl``, and ``answers.jsonl`` for answers."""

    def __init__(
        self,
        folder: Path,
        rate: Callable[[float, str], None],
        broken: Callable[[str, list[Event]], None] = lambda _phase, _errors: None,
        hang: Hang | None = None,
    ) -> None:
        """Open the files of a trial; ``broken`` receives the errors of a phase whose client failed.

        ``hang`` ends the trial if a client reports nothing for long.
        """
        self._hang = hang
        self._events: IO[str] = (folder / "events.jsonl").open("a", encoding="utf-8")
        self._answers: IO[str] = (folder / "answers.jsonl").open("a", encoding="utf-8")
        self._rate = rate
        self._broken = broken

    def take(self, phase: str, events: Iterator[Event]) -> PhaseEvents:
        """Write every event of a phase to its file and return them; errors that the client raises pass through."""
        taken = PhaseEvents()
        try:
            with self._hang.listening() if self._hang else contextlib.nullcontext():
                self._take(phase, events, taken)
        except BaseException:
            self._broken(phase, taken.errors)  # keep a failed client's messages in the record
            raise
        return taken

    def _take(self, phase: str, events: Iterator[Event], taken: PhaseEvents) -> None:
        for event in events:
            if self._hang:
                self._hang.heard()
            kind = event.get("type")
            if kind == "answered":
                taken.answered += event["answers"]
                continue
            self._write(phase, event)
            if kind == "interval":
                self._report_rate(event)
                taken.intervals.append({key: value for key, value in event.items() if key != "histogram"})
            elif kind == "summary":
                taken.summary = event
            elif kind == "histogram":
                taken.histograms.append(event)
            elif kind == "error":
                taken.errors.append(event)
            elif kind == "answer":
                taken.answers += 1

    def require_kept(self) -> None:
        """Raise TrialFailed if somebody removed a file of the trial, whose events are lost."""
        require_kept(self._events)
        require_kept(self._answers)

    def close(self) -> None:
        """Close both files."""
        self._events.close()
        self._answers.close()

    def _write(self, phase: str, event: Event) -> None:
        file = self._answers if event.get("type") == "answer" else self._events
        file.write(json.dumps({"phase": phase, **event}, separators=(",", ":")) + "\n")
        if event.get("type") == "interval":
            file.flush()  # once per second, so that readers see the progress and a crash loses little

    def _report_rate(self, event: Event) -> None:
        seconds = float(event.get("duration_ns") or 0) / 1e9
        if seconds > 0:
            rows = float(event.get("rows") or 0)
            if event.get("operation") == "write":
                self._rate(rows / seconds, "rows/s")
            else:
                self._rate(float(event.get("operations") or 0) / seconds, "queries/s")


def require_kept(file: IO[str]) -> None:
    """Raise TrialFailed if an open file was removed or replaced: what is written into it is lost."""
    try:
        kept = os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))  # noqa: PTH116 - not always a Path
    except OSError:
        kept = False
    if not kept:
        raise TrialFailed(
            f"{file.name} was removed while the trial ran.", "Leave the folders of a run alone."
        )


def required_summary(taken: PhaseEvents, phase: str) -> Event:
    """Return the summary of a phase; raise TrialFailed if the client ended without one."""
    if taken.summary is None:
        message = f": {taken.errors[-1].get('message')}" if taken.errors else "."
        raise TrialFailed(f"{phase}: the client ended without a summary{message}")
    return taken.summary


REFUSAL_CHARACTERS = 110
"""Length of a refusal in the name of a check; its end is kept because that names the cause."""


@dataclass
class Findings:
    """Collects the numbers of a trial as it runs, so that they are kept if a later phase fails."""

    measurements: list[Measurement] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    unmeasured: dict[str, str] = field(default_factory=dict)
    """Metric that this trial could not measure → why."""
    client_cores: int = os.cpu_count() or 1
    """Cores that the client may use."""
    data_bytes: int | None = None
    """Bytes that a load with a duration sent; None: those of the dataset."""
    cache_states: dict[str, str] = field(default_factory=dict)
    """Phase → warm, cold or lukewarm, for phases that request a cache state."""
    asked_cold: set[str] = field(default_factory=set)
    """Phases that asked for cold caches."""
    timed_answers: dict[str, list[Seen]] = field(default_factory=dict)
    """Phase → digests of the answers that were timed."""

    def keep_errors(self, phase: str, events: list[Event]) -> None:
        """Keep the error events of a phase, with the server's messages."""
        for event in events:
            self.errors.append(
                {
                    "phase": phase,
                    "kind": str(event.get("kind")),
                    "status": event.get("status"),
                    "message": shortened(str(event.get("message"))),
                    "operations": int(event.get("operations") or 0),
                    "rows": int(event.get("rows") or 0),
                }
            )

    def check(self, kind: Kind, name: str, expected: int, found: int) -> None:
        """Compare a number with its expected value."""
        self._checked(kind, name, expected, found, ok=expected == found)

    def _checked(self, kind: Kind, name: str, expected: int, found: int, *, ok: bool) -> None:
        self.checks.append({"kind": kind, "name": name, "expected": expected, "found": found, "ok": ok})

    def check_counts(
        self, digest: Digested, found: dict[str, TableCount], database: str | None = None
    ) -> None:
        """Compare the rows of every table and the values of every field with the dataset's digest."""
        where = f" of {database}" if database else ""
        for table, expected in digest["tables"].items():
            counted = found.get(table, TableCount(0))
            fullest = max(expected["fields"].values(), default=expected["rows"])
            if counted.exact or fullest == expected["rows"]:
                self.check("rows", f"rows in {table}{where}", expected["rows"], counted.rows)
            else:  # the system counts only values, and no field is complete
                self.check("rows", f"rows with the fullest field in {table}{where}", fullest, counted.rows)
            for name, values in expected["fields"].items():
                self.check("values", f"values in {table}.{name}{where}", values, counted.fields.get(name, 0))

    def check_written(
        self,
        digest: Digested,
        found: dict[str, TableCount],
        rows: int,
        values: int,
        database: str | None = None,
    ) -> None:
        """Compare what the system has after a load with a duration with what it acknowledged.

        Which tables the rows were of depends on when the load ended, so only their sums are known. A field that
        the dataset always fills has as many values as its table has rows.
        """
        where = f" of {database}" if database else ""
        if all(counted.exact for counted in found.values()):
            self.check("rows", f"rows acknowledged{where}", rows, sum(one.rows for one in found.values()))
        held = sum(number for one in found.values() for number in one.fields.values())
        self.check("values", f"values acknowledged{where}", values, held)
        for table, expected in digest["tables"].items():
            counted = found.get(table, TableCount(0))
            for name, number in expected["fields"].items():
                if number == expected["rows"]:
                    self.check(
                        "values",
                        f"values in {table}.{name}{where}",
                        counted.rows,
                        counted.fields.get(name, 0),
                    )

    def check_acknowledged(self, database: str, acknowledged: int, found: int, what: str = "values") -> None:
        """Check that the system has the rows (or values) that it acknowledged in a load with refusals.

        It may have more, because a refused write can be stored in part.
        """
        name = f"acknowledged {what} found in {database}, at least"
        self._checked("acknowledged", name, acknowledged, found, ok=found >= acknowledged)

    def note_found(self, database: str, acknowledged: int, found: int, refusal: str = "") -> None:
        """Record what can be read back from a database that its system may lose, with the end of a refusal.

        Paths differ between trials and are removed, so that trials with the same outcome have the same check.
        """
        name = f"values read back from {database}, not required"
        if refusal:
            name += f": {re.sub(r'/[^ ]*/', '', refusal)[-REFUSAL_CHARACTERS:].strip()}"
        self._checked("optional", name, acknowledged, found, ok=True)

    def note_out_of_objects(self, phase: str, seconds: float) -> None:
        """Record that a phase ended before its duration because no object was left; its rates are over its time."""
        name = f"objects left after {phase}, which ended before its duration of {seconds:g} s"
        self._checked("exhausted", name, 0, 0, ok=True)

    def check_timed_answers(self, phase: str, checked: list[Seen]) -> None:
        """Check that the answers while a phase was timed are those that the system gives untimed."""
        number, equal = compared(self.timed_answers.get(phase, ()), checked)
        if number:  # none were compared: the client of an experiment may write no digests
            self.check("timed", f"timed answers of {phase} that are as checked", number, equal)

    def note_listening(self, beyond: int) -> None:
        """Record the number of addresses, beyond loopback and the configured host, on which the system listens."""
        self._checked("listening", "addresses beyond loopback", 0, beyond, ok=True)

    def client_cpu(self, phase: str, summary: Event) -> None:
        """Add the CPU time that the client reports for the timed period, and its share of the client's cores.

        If its workers waited for the file of single operations or for generated rows, they sent fewer requests, so the
        waits are recorded too.
        """
        cpu, duration = float(summary.get("client_cpu_ns") or 0) / 1e9, float(summary["duration_ns"]) / 1e9
        fraction = cpu / duration / self.client_cores if duration > 0 else 0.0
        self.measurements.append(Measurement(phase, "client_cpu_seconds", cpu))
        self.measurements.append(Measurement(phase, "client_cpu_fraction", fraction))
        if stalled := float(summary.get("record_stall_ns") or 0) / 1e9:
            self.measurements.append(Measurement(phase, "record_stall_seconds", stalled))
        if stalled := float(summary.get("generator_stall_ns") or 0) / 1e9:
            self.measurements.append(Measurement(phase, "generator_stall_seconds", stalled))
        if summary.get("bottleneck") == "generator":
            self.measurements.append(Measurement(phase, "generator_bound", 1.0))

    def size(self, parts: Mapping[str, int], rows: int, values: int) -> None:
        """Replace the bytes on disk, in total and by part, and per row and value, after one more phase of writes."""
        whole = sum(parts.values())
        found = {
            "disk_bytes": float(whole),
            **{f"disk_{name}_bytes": float(size) for name, size in parts.items()},
        }
        found |= {"bytes_per_value": whole / values} if values else {}
        found |= {"bytes_per_row": whole / rows} if rows else {}
        kept = [one for one in self.measurements if one.phase != "trial" or one.metric not in found]
        self.measurements = kept + [Measurement("trial", metric, value) for metric, value in found.items()]

    def leave_out_amounts(self, phase: str) -> None:
        """Drop the times and sizes of a phase with a duration: they show how much was done, not how fast."""
        times, sizes = ("acknowledged_seconds", "settled_seconds"), re.compile(r"disk_(\w+_)?bytes")
        self.measurements = [
            one
            for one in self.measurements
            if not (one.phase == phase and one.metric in times) and not sizes.fullmatch(one.metric)
        ]
        self.unmeasured |= dict.fromkeys(
            (*(f"{name} of {phase}" for name in times), "disk_bytes"),
            "the phase runs for a fixed time, so a faster system does more work in it",
        )

    def leave_out_rates(self, phase: str, why: str) -> None:
        """Drop the rates of a phase in whose timed part nothing ended: they are unknown, not zero."""
        rates = [
            one
            for one in self.measurements
            if one.phase == phase and "_per_second" in one.metric and one.value == 0
        ]
        self.measurements = [one for one in self.measurements if one not in rates]
        self.unmeasured |= dict.fromkeys((f"{one.metric} of {phase}" for one in rates), why)

    def telemetry(self, summary: Mapping[str, Mapping[str, float | None]], *, server: bool) -> None:
        """Add telemetry by phase, except the client's CPU: its summary covers the timed period alone.

        ``server`` says whether the server runs on this machine. Elsewhere neither its processes nor its disk are
        visible, and each such metric is recorded as unmeasured.
        """
        for phase, numbers in summary.items():
            for metric, value in numbers.items():
                if phase == OVERHEAD or metric == "client_cpu_seconds":
                    continue
                if not server and metric.startswith(("server_", "device_")):
                    self.unmeasured[metric] = (
                        "the server was already running, where this harness cannot measure it"
                    )
                elif value is not None:
                    self.measurements.append(Measurement(phase, metric, float(value)))

    def leave_out_impossible(self) -> None:
        """Drop numbers that no quantity has, such as Infinity from a broken client; the record could not hold them."""
        odd = [one for one in self.measurements if one.value and not SMALLEST <= abs(one.value) <= LARGEST]
        self.measurements = [one for one in self.measurements if one not in odd]
        self.unmeasured |= {
            f"{one.metric} of {one.phase}": f"the value was {one.value}, which no quantity has" for one in odd
        }

    def require_whole(self) -> None:
        """Raise TrialInvalid if data or answers are incomplete: such a trial is not comparable."""
        wrong = [check for check in self.checks if not check["ok"]]
        if wrong:
            first = wrong[0]
            more = f", and {len(wrong) - 1} more checks differ." if len(wrong) > 1 else "."
            raise TrialInvalid(f"{first['name']}: expected {first['expected']}, found {first['found']}{more}")
