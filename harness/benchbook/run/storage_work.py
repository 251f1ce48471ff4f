"""What the storage did in each phase: its counters at both ends, read in time that belongs to no phase."""

from __future__ import annotations

from benchbook.storage.driver import Storage
from benchbook.workloads.measurement import Measurement


class StorageWork:
    """Collects what grew during each phase."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._phase: str | None = None
        self._before: dict[str, float] = {}
        self._grown: dict[str, dict[str, float]] = {}

    def begins(self, phase: str) -> None:
        """Read the counters when a phase begins."""
        self._phase, self._before = phase, self._storage.counters()

    def ends(self) -> None:
        """Read them when it ends; a storage that died in between has none to read."""
        if self._phase is None:
            return
        grown = self._grown.setdefault(self._phase, {})
        for name, value in self._storage.counters().items():
            if name in self._before:
                grown[name] = grown.get(name, 0.0) + value - self._before[name]
        self._phase = None

    def of(self, metric: str) -> dict[str, float]:
        """Return how much one counter grew in each phase."""
        return {phase: grown[metric] for phase, grown in self._grown.items() if metric in grown}

    def measurements(self) -> list[Measurement]:
        """Return every counter of every phase."""
        return [
            Measurement(phase, name, value, "B" if name.endswith("_bytes") else "1", "none")
            for phase, grown in self._grown.items()
            for name, value in grown.items()
        ]
