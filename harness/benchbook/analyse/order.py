"""The position effect: whether a trial's place in its block moved its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_BLOCKS = 3

FEWEST_FREEDOM = 3
"""Degrees of freedom below which the spread of what is left says nothing: an interval would be luck."""


@dataclass(frozen=True)
class Placed:
    """The result of one trial and where it stood in the order."""

    block: int
    position: int
    cell: str
    value: float


@dataclass(frozen=True)
class PositionEffect:
    """By what factor a metric changes from one place in a block to the next; 1 is no effect."""

    factor: float | None
    low: float | None
    high: float | None
    trials: int
    reason: str | None = None
    """Why it cannot be told, in words; None where it can."""

    @property
    def present(self) -> bool | None:
        """Whether the interval excludes 1; None where it cannot be told."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= 1 <= self.high


def effect(trials: Sequence[Placed], confidence: float = 0.95) -> PositionEffect:
    """Estimate it by least squares: log value = cell + block + slope * position."""
    import numpy as np
    from scipy.special import stdtrit

    count = len(trials)
    if any(trial.value <= 0 or not math.isfinite(trial.value) for trial in trials):
        return PositionEffect(None, None, None, count, "a value is not above zero, so it has no logarithm")
    blocks = sorted({trial.block for trial in trials})
    cells = sorted({trial.cell for trial in trials})
    if len(blocks) < FEWEST_BLOCKS:
        return PositionEffect(
            None, None, None, count, f"{len(blocks)} blocks; at least {FEWEST_BLOCKS} are needed"
        )
    columns = [[float(trial.position) for trial in trials]]
    columns += [[float(trial.block == block) for trial in trials] for block in blocks]
    columns += [[float(trial.cell == cell) for trial in trials] for cell in cells[1:]]
    design = np.asarray(columns).T
    rest = design[:, 1:]
    rank = int(np.linalg.matrix_rank(design))
    if rank == int(np.linalg.matrix_rank(rest)):
        return PositionEffect(None, None, None, count, "every cell stood at one place in all blocks")
    freedom = count - rank
    if freedom < FEWEST_FREEDOM:
        return PositionEffect(None, None, None, count, "too few trials for the number of cells")
    logs = np.log([trial.value for trial in trials])
    # What position holds beyond cell and block carries the slope (Frisch and Waugh 1933).
    alone = design[:, 0] - rest @ np.linalg.lstsq(rest, design[:, 0], rcond=None)[0]
    slope = float(alone @ logs / (alone @ alone))
    left = logs - design @ np.linalg.lstsq(design, logs, rcond=None)[0]
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(
        float(left @ left) / freedom / float(alone @ alone)
    )
    return PositionEffect(math.exp(slope), math.exp(slope - half), math.exp(slope + half), count)
