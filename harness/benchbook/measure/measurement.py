"""Measurements: numbers of phases, with unit and direction from the table of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.declare.metric import Direction, describe

Event = dict[str, Any]
"""One line of benchload's output (docs/benchload-events.md)."""


@dataclass(frozen=True)
class Measurement:
    """One number of one phase."""

    phase: str
    metric: str
    value: float

    @property
    def unit(self) -> str:
        """SI, ``B`` for bytes, ``1`` for a count or a fraction."""
        return describe(self.metric).unit

    @property
    def direction(self) -> Direction:
        """Which values are better: higher, lower or none."""
        return describe(self.metric).direction

    def as_dict(self) -> dict[str, Any]:
        """Return the measurement in the form of ``trial.json``."""
        return {**vars(self), "unit": self.unit, "direction": self.direction}


def per_second(summary: Event, name: str = "operations") -> float:
    """Return the factor that converts totals of a summary into rates, in 1/s.

    A workload with a duration has a window; rates exclude operations that ended after it.

    >>> 11 * per_second({"operations": 11, "drained_operations": 1, "window_ns": 2 * 10**9, "duration_ns": 3 * 10**9})
    5.0
    >>> 30 * per_second({"rows": 30, "duration_ns": 3 * 10**9}, "rows")
    10.0
    """
    seconds = float(summary.get("window_ns") or summary["duration_ns"]) / 1e9
    if seconds <= 0:
        return 0.0
    total, drained = float(summary[name]), float(summary.get(f"drained_{name}") or 0)
    return (1 - drained / total) / seconds if total > 0 else 1 / seconds
