"""The cells of a run that a claim compares, and what the claim names that the run lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Pair
from benchbook.declare.claim import PHASE, Claim
from benchbook.declare.level import listed, natural, ordered, same, text

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sides:
    """The cells that are compared with each other."""

    levels: dict[str, str]
    """Levels that both sides have."""
    cells: tuple[Cell, ...]
    """``over`` and ``of``; or the cells along a factor, from its first level to its last."""

    @property
    def factors(self) -> list[str]:
        """The factors that they differ in."""
        first = self.cells[0].levels
        return [name for name in first if any(cell.levels.get(name) != first[name] for cell in self.cells)]

    def pairs(self, claim: Claim) -> list[tuple[Cell, Pair]]:
        """Return each cell with the phase and metric that a claim takes from it."""
        return [(self.cells[0], claim.below), *((cell, claim.pair) for cell in self.cells[1:])]

    def case(self, across: Collection[str] = ()) -> dict[str, str]:
        """Return the levels that name it: those of ``across``, or all that both sides have."""
        return {name: level for name, level in self.levels.items() if not across or name in across}


def differing(found: Sequence[Sides]) -> list[str]:
    """Return the factors that distinguish cells: those with several levels among them."""
    names = dict.fromkeys(name for side in found for name in side.levels)
    return [name for name in names if len({side.levels.get(name) for side in found}) > 1]


def sides(claim: Claim, cells: Sequence[Cell]) -> list[Sides]:
    """Return the cells to be compared, one entry for each combination of their other levels."""
    found = _along(claim, claim.along, cells) if claim.along is not None else _pairs(claim, cells)
    if claim.phases:
        found = [Sides({**side.levels, PHASE: phase}, side.cells) for phase in claim.phases for side in found]
    return sorted(found, key=lambda side: [natural(level) for level in side.levels.values()])


def _pairs(claim: Claim, cells: Sequence[Cell]) -> list[Sides]:
    groups: dict[Key, dict[str, Cell]] = {}
    for name, wanted in (("over", claim.over), ("of", claim.of)):
        for cell in _matching(claim, wanted, cells):
            groups.setdefault(_rest(cell, wanted), {})[name] = cell
    return [Sides(dict(key), (held["over"], held["of"])) for key, held in groups.items() if len(held) == 2]


def _along(claim: Claim, along: str, cells: Sequence[Cell]) -> list[Sides]:
    groups: dict[Key, dict[str, Cell]] = {}
    for cell in _matching(claim, claim.of, cells):
        if not skipped(cell) and along in cell.levels:
            groups.setdefault(_rest(cell, [along]), {})[cell.levels[along]] = cell
    return [
        Sides(dict(key), tuple(held[level] for level in ordered(list(held))))
        for key, held in groups.items()
        if len(held) > 1
    ]


def skipped(cell: Cell) -> bool:
    """Say whether the system was unavailable in every trial; a trend is followed over the levels that are left."""
    return not cell.ok and set(cell.statuses) == {"skipped"}


def elsewhere(claim: Claim, run: Run, found: Sequence[Sides]) -> list[Reason]:
    """Return where levels or settings of a run are not the published ones: "objects of 1 GiB instead of 4 GiB"."""
    said = []
    settings = _settings(claim, run)
    for name, wanted in claim.at.items():
        published = listed(wanted)
        levels = dict.fromkeys(
            cell.levels[name] for side in found for cell in side.cells if name in cell.levels
        )
        here = [*levels] or settings.get(name, [])
        other = [one for one in here if not any(same(one, there) for there in published)]
        if other and levels:
            said.append(because("levels-instead", factor=name, here=other, published=published))
        elif other:
            said.append(because("settings-instead", name=name, here=other, published=published))
    return said


def _settings(claim: Claim, run: Run) -> dict[str, list[str]]:
    """Return the options of a claim's phases, and the parameters of the dataset, as a run had them in every cell."""
    planned = run.facts("planned")
    phases = [one for one in planned.get("phases") or [] if one["name"] in (claim.phases or [claim.phase])]
    every = [
        *(one.get("options") or {} for one in phases),
        (planned.get("dataset") or {}).get("parameters") or {},
    ]
    found: dict[str, list[str]] = {}
    for name, value in (one for held in every for one in held.items()):
        if isinstance(value, str | int | float) and text(value) not in found.setdefault(name, []):
            found[name].append(text(value))
    return found


def absent(claim: Claim, run: Run) -> list[Reason]:
    """Return what the claim names and the run has no trial of that counts; empty where it has all."""
    found: list[Reason] = []
    for side in [claim.of] if claim.trend else [claim.of, claim.over]:
        cells = _matching(claim, side, run.cells)
        if not cells:
            found.append(_lacking(_wanted(claim, side), run))
        elif not any(_counts(claim, run, cell) for cell in cells):
            statuses = sorted({status for cell in cells for status in cell.statuses})
            why = next((cell.reason for cell in cells if cell.reason), None)
            # What both sides have in common is not said, but for the system.
            levels = {
                name: held for name, held in _wanted(claim, side).items() if name == "system" or name in side
            }
            found.append(because("no-valid-trial", levels=levels, statuses=statuses, why=why))
        found += _other_version(claim, cells)
    return list(dict.fromkeys(found))


def _counts(claim: Claim, run: Run, cell: Cell) -> bool:
    """Say whether any trial of a cell counts for the claim."""
    return bool(cell.ok) or bool(run.values(cell, claim.pair, claim.validity).by_block)


def _lacking(wanted: Mapping[str, list[str]], run: Run) -> Reason:
    """Name the levels that no cell of the run has; the combination, where each of them is there."""
    missing = {
        factor: levels
        for factor, levels in wanted.items()
        if not any(cell.matches({factor: levels}) for cell in run.cells)
    }
    return because("not-in-run", levels=dict(missing or wanted))


def _other_version(claim: Claim, cells: list[Cell]) -> list[Reason]:
    for cell in cells:
        asked = claim.versions.get(cell.system)
        wrong = [one for one in cell.versions if asked and not meets(one, asked)]
        if wrong:
            return [because("other-version", system=cell.system, stated=wrong[0], asked=asked)]
    return []


def meets(version: str, asked: str) -> bool:
    """Say whether a version is the one asked for: equal, a later part of it, or within ``>=``.

    >>> meets("8.0.26", "8.0"), meets("9.7.4", ">=8.0"), meets("5.7", ">=8.0"), meets("10.09", ">=10.9")
    (True, True, False, True)
    """
    if not asked.startswith(">="):
        return version == asked or version.startswith(f"{asked}.")
    held, least = (re.findall(r"(?a:0*(\d+))", one) for one in (version, asked))
    return [(len(part), part) for part in held] >= [(len(part), part) for part in least]


def _matching(claim: Claim, side: Mapping[str, object], cells: Sequence[Cell]) -> list[Cell]:
    wanted = _wanted(claim, side)
    return [cell for cell in cells if cell.matches(wanted)]


def _wanted(claim: Claim, side: Mapping[str, object]) -> dict[str, list[str]]:
    return {factor: listed(level) for factor, level in {**claim.where, **side}.items()}


def _rest(cell: Cell, without: Collection[str]) -> Key:
    return tuple((name, level) for name, level in cell.levels.items() if name not in without)
