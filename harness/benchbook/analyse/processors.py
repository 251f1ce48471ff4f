"""Estimate a ratio over several runs and processors: its mean, and what to expect on another processor.

The interval of a run holds for another run on its processor. On another processor the ratio itself is another one, and
more trials do not show by how much. The levels above the run are therefore estimated like this:

1. Noise between equal setups is part of every run, and is never tested away. A/A runs of the processor estimate it.
   Their estimate is pulled towards ``EQUAL``, the more so the less precise they are.
2. The runs of one processor are pooled, each with its own variance.
3. The variance between processors, tau^2, has a prior: a scaled inverse chi^2 distribution, learned for each class of
   metric from all published runs (``priors``). Few processors show little about tau^2, so most of it is the prior's.
4. Intervals are Student's t. The degrees of freedom come from all variances (Satterthwaite).

``random_effects`` is the classical method, which has no prior and needs three processors to predict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchbook.analyse.model import Fit, Noise

EQUAL = 0.02
"""Standard deviation of log ratios of equal setups, beside what their trials explain, before any A/A run."""
FREEDOM = 3.0
"""Degrees of freedom that ``EQUAL`` counts for."""


@dataclass(frozen=True)
class Between:
    """The prior of the standard deviation between processors, for one class of metric."""

    scale: float
    """Its typical size, as a log ratio."""
    freedom: float = FREEDOM
    """Degrees of freedom that it counts for."""


@dataclass(frozen=True)
class Estimate:
    """A ratio over runs and processors, on logarithms."""

    mean: Fit
    """The mean over processors. ``trials`` counts processors, and ``spread`` is the deviation between them."""
    another: Fit
    """The ratio of another processor, without the noise of the trials that would measure it."""
    runs: int

    @property
    def processors(self) -> int:
        """The number of processors."""
        return self.mean.trials


def equal(itself: Sequence[Fit]) -> Noise:
    """Return the noise between equal setups of a processor, from its A/A comparisons; there may be none.

    >>> math.sqrt(equal([]).variance) == EQUAL
    True
    """
    variance, freedom = EQUAL**2, FREEDOM
    if itself:
        excess = math.fsum(one.centre**2 - one.error**2 for one in itself) / len(itself)
        error = math.fsum(one.error**2 for one in itself) / len(itself)
        variance, freedom = _mixed(Between(EQUAL), excess, error, len(itself))
    return Noise(variance, max(1, round(freedom)))


def pooled(fits: Sequence[Fit]) -> Fit:
    """Return the estimate from several runs on one processor: their mean, weighted by precision.

    >>> both = pooled([Fit(0.1, 0.1, 9, 10, 0.3), Fit(0.3, 0.1, 9, 10, 0.3)])
    >>> round(both.centre, 3), round(both.error, 3), both.freedom, both.trials
    (0.2, 0.071, 18.0, 20)
    """
    if len(fits) == 1:
        return fits[0]
    shares, variance = _shares([one.error**2 for one in fits])
    parts = [(share**2 * one.error**2, one.freedom) for share, one in zip(shares, fits, strict=True)]
    spread = math.sqrt(math.fsum(one.spread**2 for one in fits) / len(fits))
    return Fit(
        _weighted(shares, fits), math.sqrt(variance), _freedom(parts), sum(one.trials for one in fits), spread
    )  # fmt: skip


def estimate(by_processor: Iterable[Sequence[Fit]], prior: Between) -> Estimate:
    """Return the estimate from the runs of each processor; each fit includes the noise between equal setups.

    >>> one = estimate([[Fit(0.7, 0.05, 9, 10, 0.15)]], Between(0.1))
    >>> alone = Fit(0.7, 0.05, 9, 10, 0.15).with_noise(Noise(0.1**2, 3))
    >>> [round(one.mean.error - alone.error, 9), round(one.mean.freedom - alone.freedom, 9)]
    [0.0, 0.0]
    """
    groups = list(by_processor)
    fits = [pooled(group) for group in groups]
    tau_squared, freedom = between(fits, prior)
    shares, variance = _shares([one.error**2 + tau_squared for one in fits])
    centre = _weighted(shares, fits)
    errors = [(share**2 * one.error**2, one.freedom) for share, one in zip(shares, fits, strict=True)]
    own = tau_squared * math.fsum(share**2 for share in shares)

    def made(of_processors: float) -> Fit:
        parts = [*errors, (of_processors, freedom)]
        total = variance + of_processors - own
        return Fit(centre, math.sqrt(total), _freedom(parts), len(fits), math.sqrt(tau_squared))

    return Estimate(made(own), made(own + tau_squared), sum(map(len, groups)))


def between(fits: Sequence[Fit], prior: Between) -> tuple[float, float]:
    """Return the variance between processors, and the degrees of freedom that it has."""
    if len(fits) < 2:
        return prior.scale**2, prior.freedom
    centre = math.fsum(one.centre for one in fits) / len(fits)
    error = math.fsum(one.error**2 for one in fits) / len(fits)
    apart = math.fsum((one.centre - centre) ** 2 for one in fits) / (len(fits) - 1)
    return _mixed(prior, apart - error, error, len(fits) - 1)


def _mixed(prior: Between, excess: float, error: float, freedom: int) -> tuple[float, float]:
    """Return the mean of a prior variance and a measured one that has an error, and its degrees of freedom.

    The measured one counts less than its degrees of freedom say: as the square of its share in all that varies.
    """
    expected = prior.scale**2
    weight = freedom * (expected / (expected + error)) ** 2
    total = prior.freedom + weight
    return (prior.freedom * expected + weight * max(0.0, excess)) / total, total


def _shares(variances: Sequence[float]) -> tuple[list[float], float]:
    """Return the weight of each value, and the variance of the weighted mean."""
    if not all(variances):  # what does not vary is known
        known = sum(not one for one in variances)
        return [0.0 if one else 1 / known for one in variances], 0.0
    total = math.fsum(1 / one for one in variances)
    return [1 / one / total for one in variances], 1 / total


def _weighted(shares: Sequence[float], fits: Sequence[Fit]) -> float:
    return math.fsum(share * one.centre for share, one in zip(shares, fits, strict=True))


def _freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of independent variances, each with its own."""
    total = math.fsum(variance for variance, _ in parts)
    if not total:
        return min(freedom for _, freedom in parts)
    return total**2 / math.fsum(variance**2 / freedom for variance, freedom in parts)
