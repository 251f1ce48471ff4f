"""A substitute for a system that a run has not: shown in its place, and never judged (rule 15 of docs/methods.md)."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.analyse.observed import Observed
from benchbook.declare.claim import Claim
from benchbook.declare.level import listed
from benchbook.declare.model import Setting


def stand_ins(claim: Claim, run: Observed) -> dict[str, str]:
    """Return system that the claim names and the run has not → its substitute that the run has."""
    there = {cell.system for cell in run.cells if cell.ok}
    return {
        named: other for named, other in claim.substitutes.items() if named not in there and other in there
    }


def instead(claim: Claim, chosen: Mapping[str, str]) -> Claim:
    """Return the claim about the substitutes."""

    def side(levels: Mapping[str, Setting]) -> dict[str, Setting]:
        return {
            name: chosen.get(str(level), level) if name == "system" else level
            for name, level in levels.items()
        }

    where = dict(claim.where)
    if "system" in where:
        where["system"] = [chosen.get(level, level) for level in listed(where["system"])]
    return claim.model_copy(update={"of": side(claim.of), "over": side(claim.over), "where": where})
