"""Store the events of a client during a phase, and record the timeline of a trial."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event


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

    def as_dict(self) -> dict[str, Any]:
        """Return the phase in the form that ``trial.json`` stores."""
        return dict(vars(self))


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


class EventFile:
    """The files for the events of a trial: ``events.jsonl``, and ``answers.jsonl`` for answers."""

    def __init__(
        self,
        folder: Path,
        rate: Callable[[float, str], None],
        broken: Callable[[str, list[Event]], None] = lambda _phase, _errors: None,
    ) -> None:
        """Open the files of a trial; ``broken`` receives the errors of a phase whose client failed."""
        self._events: IO[str] = (folder / "events.jsonl").open("a", encoding="utf-8")
        self._answers: IO[str] = (folder / "answers.jsonl").open("a", encoding="utf-8")
        self._rate = rate
        self._broken = broken

    def take(self, phase: str, events: Iterator[Event]) -> PhaseEvents:
        """Write every event of a phase to its file and return them; errors that the client raises pass through."""
        taken = PhaseEvents()
        try:
            self._take(phase, events, taken)
        except BaseException:
            self._broken(phase, taken.errors)  # keep a failed client's messages in the record
            raise
        return taken

    def _take(self, phase: str, events: Iterator[Event], taken: PhaseEvents) -> None:
        for event in events:
            self._write(phase, event)
            kind = event.get("type")
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


def required_summary(taken: PhaseEvents, phase: str) -> dict[str, Any]:
    """Return the summary of a phase; raise TrialFailed if the client ended without one."""
    if taken.summary is None:
        message = f": {taken.errors[-1].get('message')}" if taken.errors else "."
        raise TrialFailed(f"{phase}: the client ended without a summary{message}")
    return taken.summary
