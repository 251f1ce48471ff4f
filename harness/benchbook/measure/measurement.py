"""A measurement: one number of one phase, with its unit and the direction that is better."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Event = dict[str, Any]
"""One line of benchload's output (docs/benchload-events.md)."""
Direction = Literal["higher", "lower", "none"]


@dataclass(frozen=True)
class Measurement:
    """One number. ``unit`` is SI or ``B`` (bytes); a count or a fraction has the unit ``1``."""

    phase: str
    metric: str
    value: float
    unit: str
    direction: Direction

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``trial.json`` holds it."""
        return asdict(self)
