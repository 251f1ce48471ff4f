"""Factors whose level a publication does not state: what it claims is judged at several levels, or not at all.

A claim that holds at each of them holds whatever was meant, and one that is contradicted at each is contradicted
whatever was meant. Where it holds at one and not at another, what was left out decides, and no rerun can judge it.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.analyse import judgement, same_work
from benchbook.analyse.judged_cell import JudgedCell
from benchbook.analyse.judgement import Word
from benchbook.declare.claim import Claim

FEWEST_LEVELS = 2
HOLDS = ("reproduced", "direction only")


def spanned(claim: Claim, cells: Sequence[JudgedCell]) -> bool:
    """Say whether a run has several levels of everything that the publication leaves open."""
    return bool(claim.unstated) and all(
        len(_levels(cells, factor)) >= FEWEST_LEVELS for factor in claim.unstated
    )


def note(claim: Claim, cells: Sequence[JudgedCell]) -> list[str]:
    """Say at which levels the claim was judged, and why at these."""
    if not spanned(claim, cells):
        return []
    found = [f"{factor} {' and '.join(_levels(cells, factor))}" for factor in claim.unstated]
    return [f"judged at {', '.join(found)}, for none is stated"]


def deciding(claim: Claim, cells: Sequence[JudgedCell]) -> tuple[Word, str] | None:
    """Return what is left of the verdict where the levels disagree, and why; None where they do not.

    Underspecified where it holds at one level and is contradicted at another; inconclusive where it is contradicted
    at one and nothing can be said at another.
    """
    for factor in claim.unstated:
        by_level: dict[Word, list[str]] = {}
        for level in _levels(cells, factor):
            here = [cell.verdict for cell in cells if cell.sides.levels[factor] == level]
            by_level.setdefault(judgement.joint(here, claim.in_cells), []).append(f"{factor} {level}")
        if "contradicted" not in by_level or len(by_level) == 1:
            continue
        said = ", ".join(f"{word} at {same_work.some(levels)}" for word, levels in by_level.items())
        if any(word in by_level for word in HOLDS):
            return "underspecified", f"what it leaves out decides: {said}"
        return "inconclusive", f"{said}: which of them was meant is not stated"
    return None


def _levels(cells: Sequence[JudgedCell], factor: str) -> list[str]:
    """Return the levels of a factor, sizes and numbers in their order."""
    found = {cell.sides.levels[factor] for cell in cells if factor in cell.sides.levels}
    return sorted(found, key=lambda level: (len(level), level))
