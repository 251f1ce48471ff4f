"""The ratio of two systems, paired by block: the one way in which two are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbook.analyse import interval
from benchbook.analyse.interval import refusal


@dataclass(frozen=True)
class Ratio:
    """How many times a metric of A is that of B; a plain number."""

    value: float | None
    """Geometric mean of the ratios of all blocks; None where no block has both."""
    low: float | None
    high: float | None
    trials: int
    """Blocks that have a value of both."""
    method: str
    """``student-t on log ratios paired by block``, ``bootstrap of …`` from 20 blocks on (to 500), or ``none``."""
    confidence: float = 0.95
    reason: str | None = None
    """Why there is no interval, in words; None where there is one."""

    def inverse(self) -> Ratio:
        """Return the ratio of B to A."""
        return Ratio(
            None if self.value is None else 1 / self.value,
            None if self.high is None else 1 / self.high,
            None if self.low is None else 1 / self.low,
            self.trials,
            self.method,
            self.confidence,
            self.reason,
        )


def beyond(a_by_block: Mapping[int, float], b_by_block: Mapping[int, float], floor: float = 1.0) -> float:
    """Return the p-value that A over B lies beyond ``floor``, or below its inverse; 1 where nothing can be said.

    It is what many comparisons at once are corrected with (``holm``), by the method of the interval itself.

    >>> beyond({0: 2.0, 1: 2.1, 2: 1.9}, {0: 1.0, 1: 1.0, 2: 1.0}) < 0.01
    True
    """
    blocks = sorted(a_by_block.keys() & b_by_block.keys())
    pairs = [(a_by_block[block], b_by_block[block]) for block in blocks]
    if interval.refusal([value for pair in pairs for value in pair]) or len(pairs) < interval.FEWEST:
        return 1.0
    logs = [math.log(a) - math.log(b) for a, b in pairs]
    edge = math.log(max(floor, 1.0))
    return min(interval.above(logs, edge), interval.below(logs, -edge))


def ratio(
    a_by_block: Mapping[int, float], b_by_block: Mapping[int, float], confidence: float = 0.95
) -> Ratio:
    """Return A over B with its interval, from block → value of each; blocks that lack one are left out.

    >>> ratio({0: 2.0, 1: 4.0, 2: 6.0}, {0: 1.0, 1: 2.0, 2: 3.0}).value
    2.0
    >>> ratio({0: 2.0}, {0: 1.0, 1: 1.0}).reason
    '1 pair; an interval needs at least 3'
    """
    blocks = sorted(a_by_block.keys() & b_by_block.keys())
    pairs = [(a_by_block[block], b_by_block[block]) for block in blocks]
    wrong = interval.refusal([value for pair in pairs for value in pair], "pairs") if pairs else "no pairs"
    if wrong is not None and (not pairs or "least" not in wrong):
        return Ratio(None, None, None, len(pairs), "none", confidence, wrong)
    logs = [math.log(a) - math.log(b) for a, b in pairs]
    value = math.exp(sum(logs) / len(logs))
    few = interval.refusal([1.0] * len(pairs), "pairs")
    if few is not None:
        return Ratio(value, None, None, len(pairs), "none", confidence, few)
    method = (
        f"{'bootstrap of' if interval.resampled(len(pairs)) else 'student-t on'} log ratios paired by block"
    )
    low, high = interval.mean_interval(logs, confidence)
    return Ratio(value, math.exp(low), math.exp(high), len(pairs), method, confidence)


METHOD = "Welch's t on logs, unpaired"


@dataclass(frozen=True)
class Unpaired:
    """B over A of two groups, and the size of their difference."""

    ratio: Ratio
    """``trials`` is the number of the smaller group."""
    effect: float | None
    """Hedges' g of the logarithms: the difference in standard deviations, B minus A. None without an interval."""
    above: float
    """p-value that the ratio lies above the bound that was asked for; 1 is not at all."""
    below: float


def unpaired(
    a: Sequence[float], b: Sequence[float], floor: float = 1.0, confidence: float = 0.95
) -> Unpaired:
    """Return B over A with its interval; ``floor``: the factor beyond which ``above`` and ``below`` are tested.

    >>> round(unpaired([1.0, 1.1, 0.9], [2.0, 2.2, 1.8]).ratio.value, 6)
    2.0
    """
    import numpy as np
    from scipy.special import stdtr, stdtrit

    fewest = min(len(a), len(b))
    wrong = refusal([*a, *b]) if a and b else "one side has no trials"
    if wrong is not None and (not fewest or "least" not in wrong):
        return Unpaired(Ratio(None, None, None, fewest, "none", confidence, wrong), None, 1.0, 1.0)
    logs_a, logs_b = np.log(np.asarray(a, dtype=float)), np.log(np.asarray(b, dtype=float))
    centre = float(logs_b.mean() - logs_a.mean())
    value = math.exp(centre)
    few = refusal([1.0] * fewest)
    if few is not None:
        return Unpaired(Ratio(value, None, None, fewest, "none", confidence, few), None, 1.0, 1.0)
    shares = [float(logs.var(ddof=1)) / len(logs) for logs in (logs_a, logs_b)]
    spread = math.sqrt(sum(shares))
    edge = math.log(max(floor, 1.0))
    if spread < 1e-12:
        return Unpaired(
            Ratio(value, value, value, fewest, METHOD, confidence),
            None,
            float(centre <= edge),
            float(centre >= -edge),
        )
    # Welch and Satterthwaite's degrees of freedom.
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(logs) - 1) for share, logs in zip(shares, (logs_a, logs_b), strict=True)
    )
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * spread
    return Unpaired(
        Ratio(value, math.exp(centre - half), math.exp(centre + half), fewest, METHOD, confidence),
        _hedges(logs_a, logs_b),
        min(1.0, 2 * float(stdtr(freedom, -(centre - edge) / spread))),
        min(1.0, 2 * float(stdtr(freedom, (centre + edge) / spread))),
    )


def _hedges(a: object, b: object) -> float:
    """Return the difference of two means in pooled standard deviations, freed of the bias of few trials."""
    import numpy as np

    one, two = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    freedom = len(one) + len(two) - 2
    pooled = math.sqrt(
        ((len(one) - 1) * float(one.var(ddof=1)) + (len(two) - 1) * float(two.var(ddof=1))) / freedom
    )
    return float(two.mean() - one.mean()) / pooled * (1 - 3 / (4 * freedom - 1))
