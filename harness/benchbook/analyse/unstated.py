"""Factors whose level a publication does not state: what it claims is judged at several levels, or not at all.

A claim that holds at each of them holds whatever was meant. Where it holds at one and not at another, what was
left out decides, and no rerun can judge it.
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


def deciding(claim: Claim, cells: Sequence[JudgedCell]) -> str | None:
    """Return in words at which levels the claim holds and at which not; None where they do not differ in that."""
    for factor in claim.unstated:
        by_level: dict[Word, list[str]] = {}
        for level in _levels(cells, factor):
            here = [cell.verdict for cell in cells if cell.sides.levels[factor] == level]
            by_level.setdefault(judgement.joint(here, claim.in_cells), []).append(f"{factor} {level}")
        if "contradicted" in by_level and any(word in by_level for word in HOLDS):
            said = [f"{word} at {same_work.some(levels)}" for word, levels in by_level.items()]
            return f"what it leaves out decides: {', '.join(said)}"
    return None


def _levels(cells: Sequence[JudgedCell], factor: str) -> list[str]:
    """Return the levels of a factor, sizes and numbers in their order."""
    found = {cell.sides.levels[factor] for cell in cells if factor in cell.sides.levels}
    return sorted(found, key=lambda level: (len(level), level))
