"""Intervals over trials: Student's t on logarithms, Welch's t for two runs, outlier marks, Holm's correction."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 0.05


# Holm's correction: many tests at once, and at most 5 % chance that any of them cries wolf (Holm 1979).


def adjusted(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted so that comparing each with alpha keeps the family's error below alpha.

    >>> adjusted([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=lambda place: values[place])
    found = [1.0] * len(values)
    reached = 0.0
    for rank, place in enumerate(order):
        reached = max(reached, min(1.0, (len(values) - rank) * values[place]))
        found[place] = reached
    return found


# Outliers are marked and kept: a slow trial is a finding, not dirt.

THRESHOLD = 3.5
"""Modified z-score from which a value is marked (Iglewicz and Hoaglin 1993)."""


def mad(values: Sequence[float], threshold: float = THRESHOLD) -> list[bool]:
    """Mark values far from the median in units of the median absolute deviation; fewer than 3: none.

    Where more than half of the values are equal that deviation is 0, and the mean one is used.

    >>> mad([1.0, 1.1, 0.9, 1.0, 9.0])
    [False, False, False, False, True]
    """
    if len(values) < 3:
        return [False] * len(values)
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    scale = 1.4826 * median(distances) or 1.2533 * sum(distances) / len(distances)
    if scale == 0:
        return [False] * len(values)
    return [distance / scale > threshold for distance in distances]


# Intervals over trials: Student's t on logarithms, because rates and times vary by factors.
#
# Simulated coverage of its 95 % interval is 0.95 at 3, 5 and 10 trials. That of the percentile bootstrap is
# about 0.75, 0.84 and 0.90 there and 0.93 at 20 trials, from which on alone it is used, and with the quantiles
# widened as Hesterberg (2015, "What Teachers Should Know About the Bootstrap", 5.3.1) says, which makes it 0.95.
# From 500 trials on the two agree to a few hundredths of their width; the bootstrap would only take memory and time.

FEWEST = 3
"""Trials below which there is no interval, and no verdict."""
BOOTSTRAP_FROM = 20
"""Trials from which the percentile bootstrap is honest enough to be used."""
BOOTSTRAP_BELOW = 500
"""Trials from which Student's t says the same, whatever the noise, at once."""
FEW = 10
"""Trials below which a note says that they are few."""
_RESAMPLES = 10_000
_SEED = 20_100_601
"""Fixed, so that the same trials give the same interval."""


@dataclass(frozen=True)
class Interval:
    """A geometric mean with its interval, in the unit of the values."""

    value: float | None
    """None where there are no trials, or a value is not above zero."""
    low: float | None
    high: float | None
    trials: int
    method: str
    """``student-t on logs`` or ``none``."""
    confidence: float = 0.95
    reason: str | None = None
    """Why there is no interval, in words; None where there is one."""


def mean_log(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the geometric mean of one group of trials with its interval.

    >>> mean_log([1.0, 1.0, 1.0]).value
    1.0
    >>> mean_log([1.0, 2.0]).reason
    '2 trials; an interval needs at least 3'
    """
    reason = refusal(values)
    if reason is not None and (not values or min(values) <= 0 or not all(map(math.isfinite, values))):
        return Interval(None, None, None, len(values), "none", confidence, reason)
    import numpy as np

    logs = np.log(np.asarray(values, dtype=float))
    centre = math.exp(logs.mean())
    if reason is not None:
        return Interval(centre, None, None, len(values), "none", confidence, reason)
    low, high = student_t(logs, confidence)
    return Interval(centre, math.exp(low), math.exp(high), len(values), "student-t on logs", confidence)


def refusal(values: Sequence[float], what: str = "trials") -> str | None:
    """Say why no interval can be made of these values, or None where one can."""
    if not values:
        return f"no {what}"
    if not all(math.isfinite(value) for value in values):
        return "a value is not a number"
    if min(values) <= 0:
        return "a value is not above zero, so it has no logarithm"
    if len(values) < FEWEST:
        counted = what if len(values) > 1 else what.removesuffix("s")
        return f"{len(values)} {counted}; an interval needs at least {FEWEST}"
    return None


def student_t(values: Sequence[float] | NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Return the interval of the mean of two or more values."""
    import numpy as np

    low, high = student_t_rows(np.asarray([values], dtype=float), confidence)
    return float(low[0]), float(high[0])


def student_t_rows(
    values: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of the mean of each row: the same arithmetic for one group or for many."""
    from scipy.special import stdtrit

    count = values.shape[1]
    half = stdtrit(count - 1, 0.5 + confidence / 2) * values.std(axis=1, ddof=1) / math.sqrt(count)
    centre = values.mean(axis=1)
    return centre - half, centre + half


def bootstrap(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the expanded percentile bootstrap interval of the mean; the same values give the same interval."""
    import numpy as np

    tail = expanded_tail(len(values), confidence)
    low, high = np.quantile(_resampled(tuple(values)), [tail, 1 - tail])
    return float(low), float(high)


def expanded_tail(count: int, confidence: float) -> float:
    """Return the share of resampled means of ``count`` values to leave out on either side.

    Their percentiles alone are too narrow, by the divisor n of their variance and by normal tails.
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-math.sqrt(count / (count - 1)) * stdtrit(count - 1, 0.5 + confidence / 2)))


def mean_interval(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of the mean of at least two values, by the method that their number calls for."""
    return bootstrap(values, confidence) if resampled(len(values)) else student_t(values, confidence)


def resampled(count: int) -> bool:
    """Say whether the interval of so many values is the bootstrap's."""
    return BOOTSTRAP_FROM <= count < BOOTSTRAP_BELOW


def above(values: Sequence[float], bound: float) -> float:
    """Return how surely the mean lies above ``bound``, as a p-value: 1 is not at all.

    It is the smallest alpha for which the interval at confidence 1 - alpha lies wholly above ``bound``, so
    above(values, bound) <= 0.05 says the same as the 95 % interval of ``mean_interval``.
    """
    return _beyond(values, bound, 1)


def below(values: Sequence[float], bound: float) -> float:
    """Return how surely the mean lies below ``bound``, as ``above``."""
    return _beyond(values, bound, -1)


def _beyond(values: Sequence[float], bound: float, sign: int) -> float:
    from scipy.special import ndtri, stdtr

    count = len(values)
    centre = math.fsum(values) / count
    spread = math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (count - 1) / count)
    if spread < 1e-12 * max(1.0, abs(centre)):  # values equal but for their last digits
        return 0.0 if sign * (centre - bound) > 0 else 1.0
    t = sign * (centre - bound) / spread
    if resampled(count):
        share = float((sign * (_resampled(tuple(values)) - bound) <= 0).mean())
        if 20 / _RESAMPLES <= share <= 1 - 20 / _RESAMPLES:  # farther out there are too few to count
            t = -float(ndtri(share)) * math.sqrt((count - 1) / count)
    return min(1.0, 2 * float(stdtr(count - 1, -t)))


@functools.lru_cache(maxsize=16)
def _resampled(values: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the means of resamples of ``values``."""
    import numpy as np

    means: NDArray[np.float64] = np.asarray(values, dtype=float)[_chosen(len(values))].mean(axis=1)
    return means


@functools.lru_cache(maxsize=4)
def _chosen(count: int) -> NDArray[np.int64]:
    import numpy as np

    return np.random.default_rng(_SEED).integers(0, count, (_RESAMPLES, count))


# The ratio of two groups of trials that share no blocks: Welch's t on logarithms, for two runs.
