"""How strong the evidence of a run is, and the two answers on a claim: does it hold, and how large is it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchbook.analyse import judgement, limits, scaled
from benchbook.analyse.judgement import Holds, Size
from benchbook.analyse.model import FEW, Fit
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
    """The two answers on a claim as readers get them."""

    holds: Holds
    size: Size | None = None
    factor: str | None = None
    """The factor that the answer depends on, of a claim that is not comparable for this reason."""
    here: bool = False
    """True if it rests on runs of one processor, so that it holds there."""


def reading(one: Judgement) -> Reading:
    """Return the two answers on a claim.

    Opposite results at levels that the publication leaves open name the factor. An answer that rests on a ratio says if
    it is only known of one processor.
    """
    seen = [(cell.evidence, cell.expected) for cell in one.cells]
    found = judgement.answer(one.verdict, seen, one.in_cells, one.missing)
    here = found.holds in judgement.SAID and one.scope != "processors" and one.test != "agree"
    why = one.reasons[0] if one.reasons else None
    depends = one.verdict == "underspecified" and why is not None and why.code == "depends"
    return Reading(*found, why.facts["factor"] if depends and why else None, here)


def apart(one: Judgement) -> list[Fit]:
    """Return the ratio on each processor if it is above the bound (often 1) on one and below it on another.

    Their 95 % intervals must not overlap. Empty if none is so, or for a claim with several cases.
    """
    over = one.by_case[0] if one.scope == "processors" and len(one.by_case) == 1 else None
    if over is None:
        return []
    expected, fits = one.cells[0].expected, sorted(over.by_processor, key=lambda fit: fit.centre)
    bound = math.log(expected.value) if expected.kind in ("at-least", "at-most") else 0.0
    overlap = fits[0].interval()[1] >= fits[-1].interval()[0]
    return [] if overlap or not fits[0].centre < bound < fits[-1].centre else fits
