"""Estimate a ratio from paired trials: a robust mean, a moderated variance, Student's t interval.

A comparison is a sample of log ratios, one per block, so a slowdown of a whole block cancels. Every comparison of
Benchbook (pages, claims, ``bench compare``) uses this one model, whatever its number of trials:

1. Location: Huber's M-estimate. Every trial counts, and none counts for more than 1.345 standard deviations. A rare
   stall moves the mean of the logarithms and widens its interval two- to threefold; it hardly moves this estimate.
   Reports list stalls separately, as outliers.
2. Variance: moderated, that is, pulled towards the variance of the other comparisons of the same metric, as far as
   those variances agree (Smyth 2004). With three trials per cell this is most of what is known about the spread.
3. Interval: Student's t with a small-sample correction. ``benchmarks/power.py`` simulates its coverage.

``Fit.with_noise`` adds the variance between equal setups, which A/A runs measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST = 3
"""Trials below which there is no interval, and no verdict."""
FEW = 10
"""Trials below which a note says that they are few."""
ALPHA = 0.05
HUBER = 1.345
"""Standard deviations at which a trial's influence is limited; 95 % efficient with normal errors (Huber 1964)."""
FEWEST_ROBUST = 5
"""Trials below which a comparison without others has the plain mean and standard deviation: the median absolute
deviation of four values is too uncertain to limit any of them by (simulated coverage 92 %)."""
OWN_SCALE = 4
"""Degrees of freedom of the common scale, against a comparison's own, where Huber's limit is set."""
LARGE = 200
"""Trials from which arrays are faster; their sums are exact but for the last digits."""
WORST = 10.0
"""Limit of a log ratio. A rate of zero has no logarithm: it counts as this much worse, and is never dropped."""
_NORMAL = 1.4826
"""The standard deviation of normal errors over their median absolute deviation."""
_TINY = 1e-9


def log_ratio(above: float, below: float) -> float:
    """Return the logarithm of a ratio of two values of at least zero, limited to ``WORST``.

    >>> log_ratio(2.0, 1.0) == math.log(2), log_ratio(0.0, 5.0), log_ratio(0.0, 0.0)
    (True, -10.0, 0.0)
    """
    if above == below:
        return 0.0
    if above <= 0 or below <= 0:
        return WORST if below <= 0 else -WORST
    return max(-WORST, min(WORST, math.log(above) - math.log(below)))


@dataclass(frozen=True)
class Noise:
    """The variation of ratios of equal setups around 1 that their own trials do not explain."""

    variance: float
    """Variance of log ratios between A/A comparisons; 0 if their trials explain how much they differ."""
    comparisons: int
    """Number of A/A comparisons."""
    runs: tuple[str, ...] = ()
    varying: int = 0
    """Comparisons whose trials vary."""
    apart: int = 0
    """Comparisons whose 95 % interval does not contain 1."""

    @property
    def factor(self) -> float:
        """The factor within which 95 % of ratios of equal setups lie, apart from the noise of their trials."""
        return math.exp(1.96 * math.sqrt(self.variance))


@dataclass(frozen=True)
class Fit:
    """The location of a sample of logarithms, and how well it is known."""

    centre: float
    error: float
    """Standard error of ``centre``."""
    freedom: float
    """Degrees of freedom of ``error``."""
    trials: int
    spread: float
    """Standard deviation of one trial's log ratio, moderated and robust."""

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the two-sided interval at confidence 1 - ``alpha``."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.freedom, 1 - alpha / 2)) * self.error if self.error else 0.0
        return self.centre - half, self.centre + half

    def above(self, bound: float) -> float:
        """Return the one-sided p-value of the hypothesis that the location is at most ``bound``."""
        return self._beyond(self.centre - bound)

    def below(self, bound: float) -> float:
        """Return the one-sided p-value of the hypothesis that the location is at least ``bound``."""
        return self._beyond(bound - self.centre)

    def _beyond(self, distance: float) -> float:
        from scipy.special import stdtr

        if not self.error:
            return 0.0 if distance > 0 else 1.0
        return float(stdtr(self.freedom, -distance / self.error))

    def inverse(self) -> Fit:
        """Return the fit of the inverse ratio."""
        return replace(self, centre=-self.centre)

    def minus(self, other: Fit) -> Fit:
        """Return the fit of the difference from another sample without common blocks (Welch)."""
        ours, theirs = self.error**2, other.error**2
        both = ours + theirs
        freedom = both**2 / (ours**2 / self.freedom + theirs**2 / other.freedom) if both else self.freedom
        return Fit(
            self.centre - other.centre, math.sqrt(both), freedom, min(self.trials, other.trials),
            math.hypot(self.spread, other.spread) / math.sqrt(2),
        )  # fmt: skip

    def with_noise(self, noise: Noise | None) -> Fit:
        """Return the fit with the noise between equal setups in its error (Satterthwaite's degrees of freedom)."""
        if noise is None or not noise.variance:
            return self
        own = self.error**2
        both = own + noise.variance
        freedom = both**2 / (own**2 / self.freedom + noise.variance**2 / max(noise.comparisons, 1))
        return replace(self, error=math.sqrt(both), freedom=freedom)


@dataclass(frozen=True)
class Prior:
    """The spread of log ratios in the other comparisons of a metric."""

    scale: float
    """Robust standard deviation of their trials."""
    variance: float
    freedom: float
    """Degrees of freedom that ``variance`` counts for; infinite where their variances agree."""
    total: float
    """Degrees of freedom of all comparisons together, the most that a moderated variance can have."""


def fit(sample: Sequence[float] | NDArray[np.float64], prior: Prior | None = None) -> Fit | None:
    """Return the fit of a sample of logarithms; None for fewer than ``FEWEST`` values.

    >>> one = fit([0.69, 0.71, 0.68, 0.70])
    >>> round(one.centre, 2), one.trials
    (0.69, 4)
    >>> fit([1.0, 2.0]) is None
    True
    """
    count = len(sample)
    if count < FEWEST:
        return None
    centre, variance = _huber(sample, prior.scale if prior else None)
    freedom = count - 1.0
    if prior is None and count < FEWEST_ROBUST:
        return Fit(centre, math.sqrt(variance / count), freedom, count, math.sqrt(variance))
    if prior is not None:
        freedom, own = min(prior.freedom + freedom, max(prior.total, freedom)), freedom
        if math.isinf(prior.freedom):
            variance = prior.variance
        else:
            variance = (prior.freedom * prior.variance + own * variance) / (prior.freedom + own)
    # The variance of an M-estimate is too small in small samples: n - 1 in place of n corrects it (simulated).
    return Fit(centre, math.sqrt(variance / (count - 1)), freedom, count, math.sqrt(variance))


def prior(samples: Sequence[Sequence[float]]) -> Prior | None:
    """Return what several comparisons of one metric show about their spread; None for fewer than two.

    None also where most of them do not vary at all, such as shares of refused rows: the few that do show nothing about
    the others.
    """
    from scipy.special import digamma, polygamma

    used = [sample for sample in samples if len(sample) >= FEWEST]
    if len(used) < 2:
        return None
    scale = _NORMAL * _median([distance for sample in used for distance in _distances(sample)])
    held = [(_huber(sample, scale)[1], len(sample) - 1.0) for sample in used]
    held = [(variance, freedom) for variance, freedom in held if variance > 0]
    if len(held) < 2 or 2 * len(held) < len(used):
        return None
    total = sum(freedom for _, freedom in held)
    logs = [
        math.log(variance) - float(digamma(freedom / 2)) + math.log(freedom / 2) for variance, freedom in held
    ]
    mean = sum(logs) / len(logs)
    excess = sum((one - mean) ** 2 for one in logs) / (len(logs) - 1)
    excess -= sum(float(polygamma(1, freedom / 2)) for _, freedom in held) / len(held)
    if excess <= 0:  # the variances differ no more than samples of one variance do
        pooled = sum(variance * freedom for variance, freedom in held) / total
        return Prior(scale, pooled, math.inf, total)
    freedom = 2 * _inverse_trigamma(excess)
    common = math.exp(mean + float(digamma(freedom / 2)) - math.log(freedom / 2))
    return Prior(scale, common, freedom, total)


def _huber(sample: Sequence[float] | NDArray[np.float64], common: float | None) -> tuple[float, float]:
    """Return the location, and the variance of one value as the error of the location sees it."""
    count = len(sample)
    if count >= LARGE:
        return _huber_of_array(sample, common)
    sample = [*map(float, sample)]
    distances = _distances(sample)
    scale = _scale(_median(distances), count, common)
    centre = _median(sample)
    few = common is None and count < FEWEST_ROBUST
    if few or scale <= _TINY * distances[-1]:  # most values are equal
        mean = math.fsum(sample) / count
        return mean, math.fsum((value - mean) ** 2 for value in sample) / (count - 1)
    for _ in range(50):
        weights = [min(1.0, HUBER * scale / max(abs(value - centre), _TINY)) for value in sample]
        moved = math.fsum(map(float.__mul__, weights, sample)) / math.fsum(weights)
        if abs(moved - centre) < 1e-10 * scale:
            break
        centre = moved
    standard = [(value - centre) / scale for value in sample]
    inside = max(sum(abs(one) <= HUBER for one in standard) / count, 0.5)
    cut = math.fsum(max(-HUBER, min(HUBER, one)) ** 2 for one in standard)
    return centre, scale**2 * cut / (count - 1) / inside**2


def _scale(deviation: float, count: int, common: float | None) -> float:
    """Return the standard deviation of ``count`` values from their median absolute deviation and a common scale."""
    own = _NORMAL * deviation
    if common is None:
        return own
    return math.sqrt((OWN_SCALE * common**2 + (count - 1) * own**2) / (OWN_SCALE + count - 1))


def _huber_of_array(
    sample: Sequence[float] | NDArray[np.float64], common: float | None
) -> tuple[float, float]:
    """Return the same as ``_huber``, for many values."""
    import numpy as np

    values = np.asarray(sample, dtype=float)
    count, centre = len(values), float(np.median(values))
    distances = _distances(values)
    scale = _scale(float(np.median(distances)), count, common)
    if scale <= _TINY * distances[-1]:  # most values are equal
        return float(values.mean()), float(values.var(ddof=1))
    for _ in range(50):
        weights = np.minimum(1.0, HUBER * scale / np.maximum(np.abs(values - centre), _TINY))
        moved = float((weights * values).sum() / weights.sum())
        if abs(moved - centre) < 1e-10 * scale:
            break
        centre = moved
    standard = np.abs(values - centre) / scale
    inside = max(float((standard <= HUBER).mean()), 0.5)
    cut = float((np.minimum(standard, HUBER) ** 2).sum())
    return centre, scale**2 * cut / (count - 1) / inside**2


def _distances(sample: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """Return the distances to the median; of an odd number of values one is the median, and says nothing."""
    if len(sample) >= LARGE:
        import numpy as np

        values = np.asarray(sample, dtype=float)
        apart: list[float] = np.sort(np.abs(values - np.median(values)))[len(values) % 2 :].tolist()
        return apart
    few = [*map(float, sample)]
    middle = _median(few)
    return sorted(abs(value - middle) for value in few)[len(few) % 2 :]


def _median(values: Sequence[float]) -> float:
    import statistics

    return statistics.median(values)


def _inverse_trigamma(value: float) -> float:
    """Return the argument at which the trigamma function has a value, by Newton's method on its inverse."""
    from scipy.special import polygamma

    found = 0.5 + 1 / value
    for _ in range(50):
        here = float(polygamma(1, found))
        step = here * (1 - here / value) / float(polygamma(2, found))
        found += step
        if -step / found < 1e-8:
            break
    return found
