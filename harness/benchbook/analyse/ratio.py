"""The ratio of two systems, paired by block: the one way in which two are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from benchbook.analyse import interval


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
