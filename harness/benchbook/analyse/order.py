"""The position effect, and Little's law: checks of a whole run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The position effect: whether a trial's place in its block moved its result.

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
    numbers = {block: number for number, block in enumerate(blocks)}
    inside = np.asarray([numbers[trial.block] for trial in trials])
    columns = [[math.log(trial.value) for trial in trials], [float(trial.position) for trial in trials]]
    columns += [[float(trial.cell == cell) for trial in trials] for cell in cells[1:]]
    whole = np.asarray(columns).T
    # A block's own level is its mean: taking that off everything is the same as a column a block (Frisch and Waugh
    # 1933), and ten thousand trials cost as little as ten.
    sizes = np.bincount(inside, minlength=len(blocks))
    for place in range(whole.shape[1]):
        means = np.bincount(inside, weights=whole[:, place], minlength=len(blocks)) / sizes
        whole[:, place] -= means[inside]
    logs, design, rest = whole[:, 0], whole[:, 1:], whole[:, 2:]
    rank = len(blocks) + int(np.linalg.matrix_rank(design))
    if rank == len(blocks) + (int(np.linalg.matrix_rank(rest)) if rest.size else 0):
        return PositionEffect(None, None, None, count, "every cell stood at one place in all blocks")
    freedom = count - rank
    if freedom < FEWEST_FREEDOM:
        return PositionEffect(None, None, None, count, "too few trials for the number of cells")
    # What position holds beyond cell and block carries the slope.
    alone = design[:, 0] - _fitted(rest, design[:, 0])
    slope = float(alone @ logs / (alone @ alone))
    left = logs - _fitted(design, logs)
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(
        float(left @ left) / freedom / float(alone @ alone)
    )
    return PositionEffect(math.exp(slope), math.exp(slope - half), math.exp(slope + half), count)


def _fitted(design: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the columns of ``design`` hold of ``values``, by least squares."""
    import numpy as np

    if not design.size:
        return np.zeros_like(values)
    return np.asarray(design @ np.linalg.lstsq(design, values, rcond=None)[0])


# Little's law: operations in flight are the rate times the mean latency; where not, something is unsaid.

TOLERANCE = 0.1
"""Relative difference from which a mismatch is flagged."""


@dataclass(frozen=True)
class Little:
    """What Little's law says of one trial or one published row."""

    expected: float
    """Rate times mean latency, operations."""
    in_flight: float
    """Operations in flight as stated (workers times operations each)."""
    ok: bool

    @property
    def sentence(self) -> str:
        """Say it in words."""
        agreed = "agrees with" if self.ok else "does not agree with"
        in_flight = f"{self.in_flight:.3g} operations in flight"
        return f"rate times mean latency, {self.expected:.3g}, {agreed} {in_flight}"


def check(rate: float, latency: float, in_flight: float, tolerance: float = TOLERANCE) -> Little:
    """Check a rate (1/s) and a mean latency (s) against the operations in flight.

    >>> check(1000.0, 0.004, 4).ok
    True
    >>> check(1000.0, 0.001, 4).sentence
    'rate times mean latency, 1, does not agree with 4 operations in flight'
    """
    expected = rate * latency
    return Little(expected, in_flight, abs(expected - in_flight) <= tolerance * max(expected, in_flight))


def of_run(run: Run, metric: str = "rows_per_second") -> PositionEffect | None:
    """Return by what factor the load's result changes from one place in a block to the next."""
    loads = run.phases("load")
    if not loads:
        return None
    found = estimates(run, loads[0], metric)
    return effect(
        [
            Placed(point.block, point.position, estimate.cell.name, point.value)
            for estimate in found
            for point in estimate.points
        ]
    )
