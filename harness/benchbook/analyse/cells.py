"""Cells of a run for reports: in a stable order, with a flag on systems whose answers differ."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchbook.analyse import same_work
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.level import natural

Wanted = str | Sequence[str]
"""A level of a factor, or a list of which a cell has one."""
FLAG = " (answers differ)"
"""Appended to the title of a system whose answers differ from those of most systems."""


def labelled(run: Run) -> list[Cell]:
    """Return the cells of a run, in the declared order of systems and then by name.

    If the answers of a system and arm differ from most, the title has the flag, so that charts which shorten labels
    show it too.
    """
    return list(_cells(run))


@functools.cache
def _cells(run: Run) -> tuple[Cell, ...]:
    flagged = same_work.of_run(run).flagged
    found = [
        replace(cell, title=cell.title + FLAG, flagged=True) if (cell.system, cell.arm) in flagged else cell
        for cell in run.cells
    ]
    order = {system: place for place, system in enumerate(run.systems)}
    return tuple(
        sorted(found, key=lambda cell: (order.get(cell.system, len(order)), cell.system, natural(cell.name)))
    )


def chosen(run: Run, only: Mapping[str, Wanted] | None = None) -> dict[str, Cell]:
    """Return name → cell of those with the levels ``only``; without ``only``, of all cells.

    Labels omit levels that all of the returned cells have.
    """
    if not only:
        return {cell.name: cell for cell in labelled(run)}
    found = [cell for cell in labelled(run) if cell.at(only)]
    alike = set.intersection(*(set(cell.varying) for cell in found)) if found else set()
    return {
        cell.name: replace(cell, varying=tuple(level for level in cell.varying if level not in alike))
        for cell in found
    }
