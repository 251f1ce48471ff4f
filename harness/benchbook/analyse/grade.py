"""Grades: how strong the evidence of a run is, and what a verdict means beside its word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchbook.analyse import limits, scaled
from benchbook.analyse.judgement import DECIDED, Word
from benchbook.analyse.model import FEW
from benchbook.analyse.run import Run

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement

Weakness = Literal["few trials", "short phases", "scaled down"]


@dataclass(frozen=True)
class Strength:
    """How strong the evidence of a run is."""

    weak: tuple[Weakness, ...]
    cores: int | None
    fewest: int
    """Trials that count, of the setup with the fewest."""
    most: int
    median_seconds: float | None
    """Median length of a phase."""

    @property
    def grade(self) -> Literal["confirmatory", "exploratory"]:
        """Exploratory if anything weakens it."""
        return "exploratory" if self.weak else "confirmatory"


def strength(run: Run, phase: str | None = None) -> Strength:
    """Return how strong the evidence of a run is, by its trials, the length of a phase, and its machine."""
    cpu = run.facts("host").get("cpu") or {}
    counts = [cell.ok for cell in run.cells if cell.ok] or [0]
    middle, shortest = run.lasted(phase)
    weak: list[Weakness] = ["few trials"] if min(counts) < FEW else []
    weak += ["short phases"] if not shortest or shortest < limits.BRIEF_SECONDS else []
    weak += ["scaled down"] if scaled.of_run(run) else []
    cores = cpu.get("usable_cores", cpu.get("logical_cores"))
    return Strength(tuple(weak), cores or None, min(counts), max(counts), middle)


class Reading(NamedTuple):
    """A verdict as readers get it."""

    code: Word | Literal["depends", "direction uncertain"]
    factor: str | None = None
    """The factor that the verdict depends on."""
    here: bool = False
    """True if it rests on runs of one processor, so that it holds there."""


def reading(one: Judgement) -> Reading:
    """Return the verdict, or what it is in particular.

    Opposite results at levels that the publication leaves open name the factor, and another size says if not even its
    direction is certain. A verdict on a ratio says if it is only known of one processor.
    """
    here = one.verdict in DECIDED and one.scope != "processors" and one.test != "agree"
    why = one.reasons[0] if one.reasons else None
    if one.verdict == "underspecified" and why is not None and why.code == "depends":
        return Reading("depends", why.facts["factor"])
    if one.verdict == "different size" and not direction_holds(one):
        return Reading("direction uncertain", here=here)
    return Reading(one.verdict, here=here)


def direction_holds(one: Judgement) -> bool:
    """Return whether the interval of every case lies on the published side of 1."""
    return all(_on_side(cell.low, cell.high, cell.expected.value) for cell in one.cells)


def _on_side(low: float | None, high: float | None, published: float) -> bool:
    if published == 1:
        return False
    return (low or 0.0) > 1 if published > 1 else (high or math.inf) < 1
