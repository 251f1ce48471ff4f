"""The timeline of a trial: which part of its time was a phase, and which was the harness's own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class PhaseTime:
    """One phase as it happened; times in seconds of the monotonic clock."""

    phase: str
    workload: str | None
    position: int
    started_seconds: float
    """Since the trial began."""
    duration_seconds: float
    timed: bool
    """Whether its operations are measured; starting, settling and checking are not."""

    def as_dict(self) -> dict[str, Any]:
        """Return the phase as ``trial.json`` holds it."""
        return dict(vars(self))


class Timeline:
    """Collects the phases of one trial. Whatever lies between phases is harness overhead."""

    def __init__(
        self, begins: Callable[[str], None] = lambda _: None, ends: Callable[[], None] = lambda: None
    ) -> None:
        """Begin a trial; ``begins`` and ``ends`` are told of phases, in time that counts as overhead."""
        self._begun = time.monotonic()
        self._begins = begins
        self._ends = ends
        self.phases: list[PhaseTime] = []

    @contextmanager
    def phase(self, name: str, workload: str | None = None) -> Iterator[PhaseTime]:
        """Time a phase; its time is kept also when it raises."""
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
        """Return the seconds that phases of this name took together."""
        return sum(entry.duration_seconds for entry in self.phases if entry.phase == name)

    def overhead_seconds(self) -> float:
        """Return the seconds until now that belong to no phase."""
        return self.seconds() - sum(entry.duration_seconds for entry in self.phases)
