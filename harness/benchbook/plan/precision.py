"""Determine how many trials a precision needs, from a pilot, before the measured part begins.

Deciding after each trial whether the interval is narrow enough would stop at lucky moments, and the intervals would
have too little coverage. Therefore the spread comes from a pilot whose trials are not part of the measured run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbook.declare.metric import is_main
from benchbook.errors import RequestError, command

PILOT = 4
"""Trials per cell of a pilot: cells are pooled, so few trials each give enough degrees of freedom."""
FEWEST = 3
MOST = 1000
TARGET_METRICS = ("rows_per_second", "latency_p50")
"""Metrics whose intervals must be narrow enough; every main metric if a run has neither."""


@dataclass(frozen=True)
class Needed:
    """The result of a pilot."""

    trials: int
    """Trials per cell."""
    pair: tuple[str, str]
    """Phase and metric that need the most trials."""
    spread: float
    """Its standard deviation between trials, as a factor: 1.05 means 5 %."""


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
    pilot: str, measured: Mapping[tuple[str, str], Sequence[Sequence[float]]], precision: float
) -> Needed:
    """Return the trials per cell for which the 95 % CI of each cell is expected within ± ``precision``.

    ``measured`` holds the pilot's values: (phase, metric) → one sequence per cell. The spread of a metric is pooled
    over all cells. Raise RequestError if the pilot has no spread.
    """
    found: list[Needed] = []
    names = [pair for pair in measured if pair[1] in TARGET_METRICS]
    for pair in names or [pair for pair in measured if is_main(pair[1])]:
        variances = [
            (len(values) - 1, statistics.variance(map(math.log, values)))
            for values in measured[pair]
            if len(values) >= 2 and min(values) > 0
        ]
        if variances:
            freedom = sum(weight for weight, _ in variances)
            spread = math.sqrt(sum(weight * one for weight, one in variances) / freedom)
            found.append(Needed(trials(spread, precision), pair, math.exp(spread)))
    if not found:
        raise RequestError(
            f"The pilot run {pilot} has no cell with a rate or latency of 2 trials, so its spread is unknown.",
            f"Its report says why: {command(f'report {pilot}')}. Or choose the number of trials with --trials.",
        )
    return max(found, key=lambda one: (one.trials, one.spread))


def trials(spread: float, precision: float) -> int:
    """Return the fewest trials whose expected interval of a mean of logarithms is within ``log(1 + precision)``.

    >>> trials(0.05, 0.05), trials(0.0, 0.05)
    (7, 3)
    """
    from scipy.special import stdtrit

    edge = math.log1p(precision)
    for count in range(FEWEST, MOST):
        if float(stdtrit(count - 1, 0.975)) * spread / math.sqrt(count) <= edge:
            return count
    return MOST
