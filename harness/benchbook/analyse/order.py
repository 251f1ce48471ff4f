"""Checks of a whole run: the effect of a trial's position in its block, and Little's law."""

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


FEWEST_BLOCKS = 3

FEWEST_FREEDOM = 3
"""Degrees of freedom below which an interval would be unreliable."""


@dataclass(frozen=True)
class TrialResult:
    """The result of one trial and its place in the order."""

    block: int
    position: int
    cell: str
    value: float


@dataclass(frozen=True)
class PositionEffect:
    """The factor by which a metric changes from one position in a block to the next; 1 means no effect."""

    factor: float | None
    low: float | None
    high: float | None
    trials: int
    reason: str | None = None
    """Why the effect cannot be estimated; None if it can."""

    @property
    def present(self) -> bool | None:
        """True if the interval excludes 1; None if the effect cannot be estimated."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= 1 <= self.high


def position_effect(trials: Sequence[TrialResult], confidence: float = 0.95) -> PositionEffect:
    """Estimate the effect by least squares: log value = cell + block + slope * position."""
    import numpy as np
    from scipy.special import stdtrit

    count = len(trials)
    if any(trial.value <= 0 or not math.isfinite(trial.value) for trial in trials):
        return PositionEffect(None, None, None, count, "a value is not above zero, so it has no logarithm")
    blocks = sorted({trial.block for trial in trials})
    cells = sorted({trial.cell for trial in trials})
    if len(blocks) < FEWEST_BLOCKS:
        return PositionEffect(
            None, None, None, count, f"there are {len(blocks)} blocks; at least {FEWEST_BLOCKS} are needed"
        )
    numbers = {block: number for number, block in enumerate(blocks)}
    inside = np.asarray([numbers[trial.block] for trial in trials])
    columns = [[math.log(trial.value) for trial in trials], [float(trial.position) for trial in trials]]
    columns += [[float(trial.cell == cell) for trial in trials] for cell in cells[1:]]
    whole = np.asarray(columns).T
    # Subtracting block means is equivalent to one column per block (Frisch and Waugh 1933), and faster for thousands
    # of trials.
    sizes = np.bincount(inside, minlength=len(blocks))
    for place in range(whole.shape[1]):
        means = np.bincount(inside, weights=whole[:, place], minlength=len(blocks)) / sizes
        whole[:, place] -= means[inside]
    logs, design, rest = whole[:, 0], whole[:, 1:], whole[:, 2:]
    rank = len(blocks) + int(np.linalg.matrix_rank(design))
    if rank == len(blocks) + (int(np.linalg.matrix_rank(rest)) if rest.size else 0):
        return PositionEffect(None, None, None, count, "every cell had the same position in all blocks")
    freedom = count - rank
    if freedom < FEWEST_FREEDOM:
        return PositionEffect(None, None, None, count, "too few trials for the number of cells")
    # The part of position that cell and block do not explain determines the slope.
    alone = design[:, 0] - _fitted(rest, design[:, 0])
    slope = float(alone @ logs / (alone @ alone))
    left = logs - _fitted(design, logs)
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(
        float(left @ left) / freedom / float(alone @ alone)
    )
    return PositionEffect(math.exp(slope), math.exp(slope - half), math.exp(slope + half), count)


def _fitted(design: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least-squares fit of ``values`` by the columns of ``design``."""
    import numpy as np

    if not design.size:
        return np.zeros_like(values)
    return np.asarray(design @ np.linalg.lstsq(design, values, rcond=None)[0])


TOLERANCE = 0.1
"""Largest relative difference between the two sides of Little's law."""


@dataclass(frozen=True)
class LittlesLaw:
    """Little's law applied to a trial or a published row: operations in flight = rate x mean latency."""

    expected: float
    """Rate times mean latency, operations."""
    in_flight: float
    """Stated operations in flight (workers times operations of each)."""
    ok: bool
    """True if the two agree."""

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        agreed = "agrees with" if self.ok else "does not agree with"
        in_flight = f"{self.in_flight:.3g} operations in flight"
        return f"rate times mean latency, {self.expected:.3g}, {agreed} {in_flight}"


def littles_law(rate: float, latency: float, in_flight: float, tolerance: float = TOLERANCE) -> LittlesLaw:
    """Compare a rate (1/s) times a mean latency (s) with the operations in flight.

    >>> littles_law(1000.0, 0.004, 4).ok
    True
    >>> littles_law(1000.0, 0.001, 4).sentence
    'rate times mean latency, 1, does not agree with 4 operations in flight'
    """
    expected = rate * latency
    return LittlesLaw(expected, in_flight, agree(expected, in_flight, tolerance))


def agree(expected: float, in_flight: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether the two sides of Little's law agree."""
    return abs(expected - in_flight) <= tolerance * max(expected, in_flight)


def of_run(run: Run, metric: str = "rows_per_second") -> PositionEffect | None:
    """Return the effect of the position on the result of the first load; None if nothing is loaded."""
    loads = run.loads
    if not loads:
        return None
    found = estimates(run, loads[0], metric)
    return position_effect(
        [
            TrialResult(point.block, point.position, estimate.cell.name, point.value)
            for estimate in found
            for point in estimate.points
        ]
    )
