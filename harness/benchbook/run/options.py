"""The options of a phase in one cell: the plan's, with the factors that are options of its workload."""

from __future__ import annotations

from typing import Any

from benchbook.declare.experiment import Phase
from benchbook.declare.model import Setting
from benchbook.declare.workload import Options


def done_at(planned: dict[str, Any], levels: dict[str, Setting]) -> bool:
    """Say whether a planned phase is done in a cell."""
    return Phase.model_validate(planned).done_at(levels)


def phase_options(planned: dict[str, Any], levels: dict[str, Setting]) -> Options:
    """Return the checked options of a planned phase under a cell's levels."""
    phase = Phase.model_validate(planned)
    replaced = {name: level for name, level in levels.items() if phase.accepts(name)}
    return phase.typed({**phase.options, **replaced})
