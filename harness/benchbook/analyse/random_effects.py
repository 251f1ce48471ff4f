"""Combine the log ratios of several machines by a random-effects model that is sound for few of them.

The log ratio of a machine is that of all machines on average, plus what is particular to the machine (variance
tau^2), plus the error of its trials. Machines are few, so every step is one for few studies:

1. tau^2 is Paule and Mandel's estimate (1982): the weighted squares then are what they are expected to be. Veroniki et
   al. (2016) recommend it.
2. The interval is Hartung and Knapp's (2001) and Sidik and Jonkman's (2002): Student's t with k - 1 degrees of freedom.
   As Röver, Knapp and Friede (2015) recommend, the variance is never below the one that tau^2 and the errors give, so
   machines that agree by chance do not narrow it. DerSimonian and Laird's interval is too narrow for few studies
   (IntHout, Ioannidis and Borm 2014).
3. The prediction interval for a new machine is that of Higgins, Thompson and Spiegelhalter (2009): Student's t with
   k - 2 degrees of freedom. It needs three machines.
4. I^2 is Higgins and Thompson's (2002): the share of the variation that the errors do not explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse.model import ALPHA, Fit

FEWEST = 2
"""Machines below which there is no summary."""
FEWEST_PREDICTED = 3
"""Machines below which nothing is predicted for a new one."""
SMALLEST_ERROR = 1e-3
"""The least error of a log ratio. Without it, a difference of 0.01 % would count where trials do not vary (bytes)."""


@dataclass(frozen=True)
class Summary:
    """The mean over several machines, and how much they differ."""

    fit: Fit
    """The mean log ratio over machines; ``spread`` is tau, and ``trials`` counts machines."""
    i_squared: float
    """The share of the variation between machines that the errors of their trials do not explain, from 0 to 1."""

    @property
    def machines(self) -> int:
        """The number of machines."""
        return self.fit.trials

    def prediction(self, alpha: float = ALPHA) -> tuple[float, float] | None:
        """Return the interval for the log ratio of a new machine; None for fewer than three machines."""
        if self.machines < FEWEST_PREDICTED:
            return None
        made = self.fit
        spread = math.hypot(made.spread, made.error)
        return Fit(made.centre, spread, self.machines - 2, made.trials, made.spread).interval(alpha)


def summary(fits: Sequence[Fit]) -> Summary | None:
    """Return the summary of the fits of several machines; None for fewer than two.

    >>> summary([Fit(0.7, 0.1, 9, 10, 0.3)]) is None
    True
    """
    if len(fits) < FEWEST:
        return None
    ordered = sorted(fits, key=lambda one: (one.centre, one.error))  # sums then do not depend on the order
    values = [one.centre for one in ordered]
    variances = [max(one.error, SMALLEST_ERROR) ** 2 for one in ordered]
    tau_squared = paule_mandel(values, variances)
    centre, error = pooled(values, variances, tau_squared)
    freedom = len(values) - 1
    squares = _squares(values, variances, 0.0)
    # Rounding alone makes equal values differ.
    beyond = max(0.0, (squares - freedom) / squares) if squares > freedom else 0.0
    return Summary(Fit(centre, error, freedom, len(values), math.sqrt(tau_squared)), beyond)


def paule_mandel(values: Sequence[float], variances: Sequence[float]) -> float:
    """Return the variance between machines at which the weighted squares are k - 1; 0 if they are fewer without it."""
    from scipy.optimize import brentq

    freedom = len(values) - 1
    if _squares(values, variances, 0.0) <= freedom:
        return 0.0
    mean = math.fsum(values) / len(values)
    largest = math.fsum((value - mean) ** 2 for value in values) / freedom
    return float(brentq(lambda tau: _squares(values, variances, tau) - freedom, 0.0, largest, xtol=1e-15))


def pooled(values: Sequence[float], variances: Sequence[float], tau_squared: float) -> tuple[float, float]:
    """Return the weighted mean and its standard error by Hartung, Knapp, Sidik and Jonkman, modified (see above)."""
    weights = [1 / (variance + tau_squared) for variance in variances]
    factor = _squares(values, variances, tau_squared) / (len(values) - 1)
    return _mean(values, weights), math.sqrt(max(1.0, factor) / math.fsum(weights))


def _squares(values: Sequence[float], variances: Sequence[float], tau_squared: float) -> float:
    """Return the weighted squares of the distances from the mean: Cochran's Q if ``tau_squared`` is 0."""
    weights = [1 / (variance + tau_squared) for variance in variances]
    mean = _mean(values, weights)
    return math.fsum(weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True))


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return total / math.fsum(weights)
