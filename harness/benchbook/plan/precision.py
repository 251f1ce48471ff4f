"""Determine how many trials a precision needs, by Stein's two stages: a pilot fixes the number, and its trials count.

Deciding after each trial whether the interval is narrow enough would stop at lucky moments, and the intervals would
have too little coverage. Here the spread of the pilot decides once. Source: Stein (1945), "A two-sample test for a
linear hypothesis whose power is independent of the variance".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbook.declare.metric import is_main
from benchbook.errors import RequestError, command

PILOT = 4
"""Trials per cell of a pilot: comparisons are pooled, so few trials each give enough degrees of freedom."""
FEWEST = 3
MOST = 1000
TARGET_METRICS = ("rows_per_second", "latency_p50")
"""Metrics whose intervals must be narrow enough; every main metric if a run has neither."""


@dataclass(frozen=True)
class Needed:
    """The result of a pilot."""

    trials: int
    """Trials per cell, including those of the pilot."""
    pair: tuple[str, str]
    """Phase and metric that need the most trials."""
    spread: float
    """Standard deviation of the ratio of one block, as a factor: 1.05 means 5 %."""


def parse(text: str) -> float:
    """Parse ``5%`` or ``0.05`` as 0.05; raise RequestError for anything else.

    >>> parse("5%")
    0.05
    """
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        found = float(number) / (100 if percent else 1)
    except ValueError:
        found = math.nan
    if not 0.001 <= found <= 0.5:
        means = "not a number" if math.isnan(found) else f"this means {100 * found:g} %"
        raise RequestError(
            f"--precision {text}: {means}; allowed are 0.1% to 50%.",
            "Write, for example, --precision 5% (or 0.05).",
        )
    return found


def needed(
    pilot: str, log_ratios: Mapping[tuple[str, str], Sequence[Sequence[float]]], precision: float
) -> Needed:
    """Return the trials per cell for which the 95 % CI of each ratio is expected within ± ``precision``.

    ``log_ratios`` holds the pilot's: (phase, metric) → one sequence per comparison, one log ratio per block. The
    spread of a metric is pooled over all comparisons. Raise RequestError if the pilot has no spread.
    """
    found: list[Needed] = []
    names = [pair for pair in log_ratios if pair[1] in TARGET_METRICS]
    for pair in names or [pair for pair in log_ratios if is_main(pair[1])]:
        samples = [values for values in log_ratios[pair] if len(values) >= 2]
        freedom = sum(len(values) - 1 for values in samples)
        if freedom:
            pooled = sum((len(values) - 1) * statistics.variance(values) for values in samples) / freedom
            spread = math.sqrt(pooled)
            count = max(PILOT, trials(spread, precision, freedom))
            found.append(Needed(count, pair, math.exp(spread)))
    if not found:
        raise RequestError(
            f"The pilot run {pilot} has no cell with a rate or a latency in at least 2 trials, so the"
            " spread between trials is unknown.",
            f"Its report says why: {command(f'report {pilot}')}. Or choose the number of trials with --trials.",
        )
    return max(found, key=lambda one: (one.trials, one.spread))


def trials(spread: float, precision: float, freedom: float) -> int:
    """Return the fewest trials whose interval is within ``log(1 + precision)``, by the pilot's spread and freedom.

    >>> trials(0.05, 0.05, 3), trials(0.05, 0.05, 30), trials(0.0, 0.05, 3)
    (11, 5, 3)
    """
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.975)) * spread
    return min(MOST, max(FEWEST, math.ceil((half / math.log1p(precision)) ** 2)))
