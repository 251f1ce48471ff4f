"""Whether trials had the cold caches that their phase asked for."""

from __future__ import annotations

import polars as pl

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell

OPTION, COLD = "cache", "cold"
"""The option of a phase, or the factor, that asks for a state of the caches; and the state that is checked."""


def not_cold(run: Run, cell: Cell, phase: str) -> Reason | None:
    """Return that trials of a cell did not have the cold caches that a phase asked for; None if they had."""
    planned = run.facts("planned").get("phases") or []
    options = next((one.get("options") or {} for one in planned if one["name"] == phase), {})
    if cell.levels.get(OPTION, options.get(OPTION)) != COLD or OPTION not in options:
        return None
    states = run.ok.filter(pl.col("cell") == cell.name)["cache_state"].to_list()
    warmer = sum(state != COLD for state in states)
    return (
        because("not-cold", number=warmer, of=len(states), setup=cell.label, phase=phase) if warmer else None
    )
