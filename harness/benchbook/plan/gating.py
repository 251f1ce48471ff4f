"""The design of a gate: which levels are base and head, the margin and the budget. It is in the plan of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Gate:
    """What a gate compares, and how long it may take."""

    factor: str
    """The factor whose levels are compared: ``system``, ``build``, or ``aa`` for one that is compared with itself."""
    base: tuple[str, ...]
    """Its level that is the base; several are builds of one source."""
    head: tuple[str, ...]
    margin: float
    """The largest loss that is tolerated, as a share."""
    budget_seconds: float
    """Time from the first trial on."""
    metrics: tuple[str, ...] = ()
    """Metrics that are judged; empty for the main one of each phase."""
    names: tuple[str, str] = ("base", "head")
    """Base and head as the user named them."""

    def stored(self) -> dict[str, Any]:
        """Return it as plan.json and run.json hold it."""
        return asdict(self)

    @staticmethod
    def parse(held: Mapping[str, Any]) -> Gate:
        """Return the gate that plan.json or run.json holds."""
        lists = ("base", "head", "metrics", "names")
        return Gate(**{**held, **{name: tuple(held[name]) for name in lists}})
