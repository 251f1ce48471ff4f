"""The cells of a run that a claim compares, and what the claim names that the run lacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchbook.analyse.run import Cell, Run
from benchbook.declare.claim import Claim
from benchbook.declare.level import listed, ordered

# The cells of a run that a claim compares, and what it names that the run has not.

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sides:
    """The cells that are compared with each other."""

    levels: dict[str, str]
    """What they have in common."""
    cells: tuple[Cell, ...]
    """``over`` and ``of``; or the cells along a factor, from its first level to its last."""

    @property
    def factors(self) -> list[str]:
        """The factors that they differ in."""
        first = self.cells[0].levels
        return [name for name in first if any(cell.levels.get(name) != first[name] for cell in self.cells)]

    def name(self, across: Collection[str] = ()) -> str:
        """Return the cell in words: the levels of ``across``, or all it has in common."""
        shown = [f"{name} {level}" for name, level in self.levels.items() if not across or name in across]
        return ", ".join(shown) or "its only cell"


def differing(found: Sequence[Sides]) -> list[str]:
    """Return the factors by which cells can be told from each other: those with several levels among them."""
    names = dict.fromkeys(name for side in found for name in side.levels)
    return [name for name in names if len({side.levels.get(name) for side in found}) > 1]


def sides(claim: Claim, run: Run) -> list[Sides]:
    """Return the cells to be compared, one entry for each combination of the other levels of the run."""
    return _along(claim, claim.along, run) if claim.along is not None else _pairs(claim, run)


def _pairs(claim: Claim, run: Run) -> list[Sides]:
    groups: dict[Key, dict[str, Cell]] = {}
    for name, wanted in (("over", claim.over), ("of", claim.of)):
        for cell in _matching(claim, wanted, run):
            if cell.ok:
                groups.setdefault(_rest(cell, wanted), {})[name] = cell
    return [Sides(dict(key), (held["over"], held["of"])) for key, held in groups.items() if len(held) == 2]


def _along(claim: Claim, along: str, run: Run) -> list[Sides]:
    groups: dict[Key, dict[str, Cell]] = {}
    for cell in _matching(claim, claim.of, run):
        if cell.ok and along in cell.levels:
            groups.setdefault(_rest(cell, [along]), {})[cell.levels[along]] = cell
    return [
        Sides(dict(key), tuple(held[level] for level in ordered(list(held))))
        for key, held in groups.items()
        if len(held) > 1
    ]


def absent(claim: Claim, run: Run) -> list[str]:
    """Return in words what the claim names and the run has no trial of that counts; empty where it has all."""
    found = []
    for side in [claim.of] if claim.trend else [claim.of, claim.over]:
        cells = _matching(claim, side, run)
        if not cells:
            found.append(_lacking(_wanted(claim, side), run))
        elif not any(cell.ok for cell in cells):
            statuses = " or ".join(sorted({status for cell in cells for status in cell.statuses}))
            why = next((cell.reason for cell in cells if cell.reason), "no reason was recorded")
            if (
                statuses == "skipped"
            ):  # where a system was looked for, and how to get it, stands with the gaps
                why = why.partition(": ")[0]
            wanted = _wanted(claim, side)
            # What both sides have in common is not said, but for the system.
            named = _words({name: wanted[name] for name in wanted if name == "system" or name in side})
            found.append(f"every trial of {named or 'it'} is {statuses} ({why.rstrip('.')})")
        found += _other_version(claim, cells)
    return list(dict.fromkeys(found))


def _lacking(wanted: Mapping[str, list[str]], run: Run) -> str:
    """Name the levels that no cell of the run has; the combination, where each of them is there."""
    missing = {
        factor: levels
        for factor, levels in wanted.items()
        if not any(cell.matches({factor: levels}) for cell in run.cells)
    }
    return f"{_words(missing or wanted)} is not in this run"


def _words(levels: Mapping[str, list[str]]) -> str:
    return ", ".join(
        " or ".join(allowed) if factor == "system" else f"{factor.replace('_', ' ')} {' or '.join(allowed)}"
        for factor, allowed in levels.items()
    )


def _other_version(claim: Claim, cells: list[Cell]) -> list[str]:
    for cell in cells:
        asked = claim.versions.get(cell.system)
        wrong = [one for one in cell.versions if asked and one != asked and not one.startswith(f"{asked}.")]
        if wrong:
            return [f"{cell.system} stated version {wrong[0]}, and the claim is about {asked}"]
    return []


def _matching(claim: Claim, side: Mapping[str, object], run: Run) -> list[Cell]:
    wanted = _wanted(claim, side)
    return [cell for cell in run.cells if cell.matches(wanted)]


def _wanted(claim: Claim, side: Mapping[str, object]) -> dict[str, list[str]]:
    return {factor: listed(level) for factor, level in {**claim.where, **side}.items()}


def _rest(cell: Cell, without: Collection[str]) -> Key:
    return tuple((name, level) for name, level in cell.levels.items() if name not in without)


# Factors whose level a publication does not state: what it claims is judged at several levels, or not at all.
#
# A claim that holds at each of them holds whatever was meant, and one that is contradicted at each is contradicted
# whatever was meant. Where it holds at one and not at another, what was left out decides, and no rerun can judge it.


# A substitute for a system that a run has not: shown in its place, and never judged (rule 15 of docs/methods.md).
