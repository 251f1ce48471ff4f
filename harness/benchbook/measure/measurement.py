"""Measurements: numbers of phases, with unit and direction from the table of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchbook.declare.metric import describe
from benchbook.declare.workload import Direction

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
