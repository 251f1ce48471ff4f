"""The cells of a run as a reader meets them: which, in what order, under what label."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchbook.report import answer, theme
from benchbook.report.results import Run

Wanted = str | Sequence[str]
"""A level of a factor, or several of which one is meant."""
FLAG = " (answers differ)"
"""Behind the title of a system that answers otherwise than most do."""


@dataclass(frozen=True)
class Cell:
    """One combination of levels, with its label in charts and tables."""

    name: str
    system: str
    arm: str
    label: str
    planned: int
    """Trials that were recorded for it, whatever became of them."""
    ok: int
    """Trials of them that count."""
    titled: str
    """The title of its system, with the flag where its answers differ; it may hold commas, as a label does."""
    levels: tuple[tuple[str, str], ...] = ()
    """Its levels of the factors that vary in the run, the system's apart, in the order of the factors."""

    def short(self, shared: Mapping[str, str | Sequence[str]]) -> str:
        """Return the label without the levels that all cells drawn have, which are said above them."""
        said = {
            f"{factor.replace('_', ' ')} {level}"
            for factor, level in shared.items()
            if isinstance(level, str)
        }
        return ", ".join(part for part in self.label.split(", ") if part not in said)

    def at(self, levels: Mapping[str, Wanted]) -> bool:
        """Say whether it has these levels, of one factor one of several; a factor that it lacks tells nothing."""
        own = dict(part.split("=", 1) for part in self.name.split(",") if "=" in part)
        return all(
            factor not in own or own[factor] in ([wanted] if isinstance(wanted, str) else wanted)
            for factor, wanted in levels.items()
        )


def systems(run: Run) -> dict[str, dict[str, Any]]:
    """Return the declared systems of the run: name → title, version, durability and the rest."""
    declared = run.facts("declared").get("systems") or {}
    return {str(name): value if isinstance(value, dict) else {} for name, value in declared.items()}


def title(run: Run, system: str) -> str:
    """Return the title a system is called by in a report, else its name."""
    return str(systems(run).get(system, {}).get("title") or system)


def embedded(run: Run, system: str) -> bool:
    """Say whether a system shares the client's process."""
    stated = systems(run).get(system, {}).get("embedded")
    if stated is None:
        program = run.facts("programs").get(system) or {}
        return bool(program.get("source") == "python")
    return bool(stated)


def cells(run: Run) -> list[Cell]:
    """Return the cells of a run: by system in its stable order, then by name; worked out once a run.

    A label is the system's title and, where they vary in the run, its other levels. Where a system, in an arm, answers
    otherwise than most do, that stands right behind the title, so that charts which shorten a label show it too.
    """
    return list(_cells(run))


@functools.cache
def _cells(run: Run) -> tuple[Cell, ...]:
    trials = run.frame("trials").select("trial_id", "cell", "system", "arm", "status").to_dicts()
    levels: dict[str, dict[str, str]] = {}
    for trial_id, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        levels.setdefault(trial_id, {})[factor] = level
    factors = dict.fromkeys(factor for known in levels.values() for factor in known)
    varying = [
        factor
        for factor in factors
        if factor != "system" and len({known.get(factor) for known in levels.values()}) > 1
    ]
    flagged = answer.flagged(run)
    made: dict[str, Cell] = {}
    counts: dict[str, tuple[int, int]] = {}
    for trial in trials:
        planned, good = counts.get(trial["cell"], (0, 0))
        counts[trial["cell"]] = (planned + 1, good + (trial["status"] == "ok"))
    for trial in {trial["cell"]: trial for trial in trials}.values():
        known = levels.get(trial["trial_id"], {})
        others = tuple((factor, known[factor]) for factor in varying if factor in known)
        name, system = trial["cell"], trial["system"]
        titled = title(run, system) + (FLAG if (system, trial["arm"] or "") in flagged else "")
        made[name] = Cell(
            name=name,
            system=system,
            arm=trial["arm"] or "",
            label=_label(titled, others),
            planned=counts[name][0],
            ok=counts[name][1],
            titled=titled,
            levels=others,
        )
    order = sorted(
        made.values(), key=lambda cell: (theme.slot(cell.system), cell.system, _natural(cell.name))
    )
    return tuple(order)


def chosen(run: Run, only: Mapping[str, Wanted] | None = None) -> dict[str, Cell]:
    """Return name → cell of those that have the levels ``only``, else of all.

    Levels that all of the chosen have are left out of their labels.
    """
    if not only:
        return {cell.name: cell for cell in cells(run)}
    found = [cell for cell in cells(run) if cell.at(only)]
    alike = set.intersection(*(set(cell.levels) for cell in found)) if found else set()
    return {
        cell.name: replace(
            cell, label=_label(cell.titled, tuple(level for level in cell.levels if level not in alike))
        )
        for cell in found
    }


def _label(title: str, levels: tuple[tuple[str, str], ...]) -> str:
    return ", ".join([title, *(f"{factor.replace('_', ' ')} {level}" for factor, level in levels)])


def _natural(text: str) -> list[tuple[int, float, str]]:
    """Sort key under which batch_size=5000 comes after batch_size=500."""
    import re

    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(0, float(part), "") if number % 2 else (1, 0.0, part) for number, part in enumerate(parts)]
