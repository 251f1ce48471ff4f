"""The ratio of two setups: paired by block within a run, unpaired between two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchbook.analyse.model import ALPHA, FEWEST, Fit, Noise, Prior, fit, log_ratio
from benchbook.analyse.reason import Reason, because

PAIRED = "robust mean (Huber) of the log ratios of each block; variance pooled over setups; Student's t"
UNPAIRED = "robust means (Huber) of the logs; variances pooled over setups; Welch's t"


@dataclass(frozen=True)
class Ratio:
    """A metric of A divided by that of B; a plain number."""

    value: float | None
    """Typical ratio of a block; None where no block has both."""
    low: float | None
    """Ends of its interval at ``confidence``; None where there is none."""
    high: float | None
    trials: int
    """Blocks with a value of both."""
    method: str = "none"
    reason: Reason | None = None
    """Why there is no interval; None where there is one."""
    fit: Fit | None = None
    """The estimate on logarithms, with the noise between equal setups; None without an interval."""
    confidence: float = 0.95

    def inverse(self) -> Ratio:
        """Return the ratio of B to A."""
        return replace(
            self,
            value=None if self.value is None else 1 / self.value,
            low=None if self.high is None else 1 / self.high,
            high=None if self.low is None else 1 / self.low,
            fit=self.fit and self.fit.inverse(),
        )

    def at(self, level: float) -> Ratio:
        """Return it with its interval at confidence 1 - ``level``."""
        if self.fit is None or level == ALPHA:
            return self
        low, high = map(math.exp, self.fit.interval(level))
        return replace(self, low=low, high=high, confidence=1 - level)

    @property
    def differs(self) -> float:
        """The two-sided p-value of the hypothesis that the ratio is 1; 1 without an interval."""
        return 1.0 if self.fit is None else min(1.0, 2 * min(self.fit.above(0.0), self.fit.below(0.0)))


def log_ratios(above: Mapping[int, float], below: Mapping[int, float]) -> dict[int, float]:
    """Return block → log ratio, for the blocks that have a value of both."""
    return {block: log_ratio(above[block], below[block]) for block in sorted(above.keys() & below.keys())}


def ratio(
    above: Mapping[int, float],
    below: Mapping[int, float],
    prior: Prior | None = None,
    noise: Noise | None = None,
    *,
    rates: bool = False,
) -> Ratio:
    """Return the ratio of two metrics with its interval, from block → value of each.

    Blocks that lack a value are left out. ``prior``: the spread of the run's other comparisons of the metric.
    ``noise``: the variance between equal setups. Only zeros on both sides are a ratio of 1, such as equal numbers of
    refused rows, but not of ``rates``: there, nothing ended in the time that was measured.

    >>> ratio({0: 2.0, 1: 4.0, 2: 6.0}, {0: 1.0, 1: 2.0, 2: 3.0}).value
    2.0
    >>> ratio({0: 2.0}, {0: 1.0, 1: 1.0}).reason.code
    'few-pairs'
    >>> ratio({0: 2.0, 1: 3.0}, {0: 0.0, 1: 0.0}).reason.code
    'all-zero'
    """
    if any(value < 0 or not math.isfinite(value) for value in [*above.values(), *below.values()]):
        return Ratio(None, None, None, 0, reason=because("negative-value"))
    zeros = [not any(side.values()) for side in (above, below)]
    if above and below and any(zeros) and (rates or not all(zeros)):
        return Ratio(None, None, None, 0, reason=because("all-zero"))
    return of_logs(list(log_ratios(above, below).values()), prior, noise)


def of_logs(logs: Sequence[float], prior: Prior | None = None, noise: Noise | None = None) -> Ratio:
    """Return the ratio of a sample of log ratios, one per block."""
    if not logs:
        return Ratio(None, None, None, 0, reason=because("no-pairs"))
    made = fit(logs, prior)
    if made is None:
        value = math.exp(math.fsum(logs) / len(logs))
        few = because("few-pairs", pairs=len(logs), least=FEWEST)
        return Ratio(value, None, None, len(logs), reason=few)
    return of_fit(made.with_noise(noise), PAIRED)


def of_fit(made: Fit, method: str) -> Ratio:
    """Return the ratio that a fit of logarithms estimates."""
    low, high = made.interval()
    return Ratio(math.exp(made.centre), math.exp(low), math.exp(high), made.trials, method, fit=made)


@dataclass(frozen=True)
class Unpaired:
    """B over A of two groups without common blocks, and the size of their difference."""

    ratio: Ratio
    """``trials`` is the number of the smaller group."""
    effect: float | None
    """The difference of logarithms in standard deviations of one trial, B minus A; None without an interval."""


def unpaired(
    a: Sequence[float], b: Sequence[float], noise: Noise | None = None, prior: Prior | None = None
) -> Unpaired:
    """Return B over A with its interval, for the trials of two runs.

    >>> round(unpaired([1.0, 1.1, 0.9], [2.0, 2.2, 1.8]).ratio.value, 6)
    2.0
    """
    fewest = min(len(a), len(b))
    if not fewest or min(*a, *b) <= 0 or not all(map(math.isfinite, (*a, *b))):
        why = because("zero-value" if fewest else "no-values")
        return Unpaired(Ratio(None, None, None, fewest, reason=why), None)
    logs = [[math.log(value) for value in side] for side in (a, b)]
    one, two = (fit(side, prior) for side in logs)
    if one is None or two is None:
        value = math.exp(math.fsum(logs[1]) / len(b) - math.fsum(logs[0]) / len(a))
        few = because("few-values", trials=fewest, least=FEWEST)
        return Unpaired(Ratio(value, None, None, fewest, reason=few), None)
    difference = two.minus(one)
    effect = difference.centre / difference.spread if difference.spread else None
    return Unpaired(of_fit(difference.with_noise(noise), UNPAIRED), effect)
