"""Intervals of one setup's trials, marks of outliers, and Holm's correction for many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchbook.analyse.model import ALPHA, FEW, FEWEST, fit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ALPHA", "FEW", "FEWEST", "Interval", "adjusted", "groups", "mad", "mean_log"]


def adjusted(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's method: comparing each with alpha keeps the family-wise error below alpha.

    Source: Holm, S. (1979), "A simple sequentially rejective multiple test procedure".

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


# Outliers are marked and kept: a slow trial is a finding.

CUTOFFS = {
    3: 110.0, 4: 18.5, 5: 18.5, 6: 10.6, 7: 10.6, 8: 8.2, 9: 8.2, 10: 6.8, 12: 6.3, 15: 5.9, 20: 5.2, 30: 4.8,
    50: 4.5,
}  # fmt: skip
"""Number of values → distance from the median, in scaled median absolute deviations, from which a value is marked.

Simulated (tests/analyse/test_outliers.py): of samples of so many normal values, 1 % have a mark.
"""
MOSTLY_EQUAL = 3.5
"""The same distance, in mean deviations, where more than half of the values are equal."""


def mad(values: Sequence[float]) -> list[bool]:
    """Mark values far from the median in units of the median absolute deviation; fewer than 3: none.

    Where more than half of the values are equal that deviation is 0, and the mean one is used.

    >>> mad([1.0, 1.1, 0.9, 1.02, 0.97, 9.0])
    [False, False, False, False, False, True]
    """
    if len(values) < 3:
        return [False] * len(values)
    cutoff = CUTOFFS[max(count for count in CUTOFFS if count <= len(values))]
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    scale = 1.4826 * median(distances)
    if scale == 0:
        scale, cutoff = 1.2533 * sum(distances) / len(distances), MOSTLY_EQUAL
    if scale == 0:
        return [False] * len(values)
    return [distance / scale > cutoff for distance in distances]


APART = 1.6
"""Width of the gap between two groups of values, in widths of the wider group, on a logarithmic scale."""
LEAST_GAP = 1.1
"""Ratio of the values at both sides of the gap at least: smaller steps are those of a unit, such as a disk's block."""
DISTINCT = 3
"""Different values of a group at least: counts and rounded values repeat."""
LEAST_OF_GROUP = 4
"""Values of a group at least; also a fifth of all."""


def groups(values: Sequence[float]) -> list[tuple[float, ...]]:
    """Return the values in order, divided in two where they form two groups with nothing between.

    Values of one distribution are divided in at most 1 % of samples (``tests/report/test_outliers.py``).

    >>> groups([543, 63, 550, 70, 137, 599, 120, 580])
    [(63, 70, 120, 137), (543, 550, 580, 599)]
    >>> groups([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    [(1.0, 1.1, 1.2, 1.3, 1.4, 1.5)]
    """
    ordered = tuple(sorted(values))
    least = max(LEAST_OF_GROUP, math.ceil(len(ordered) / 5))
    if len(ordered) < 2 * least or ordered[0] <= 0:
        return [ordered]
    place = max(range(1, len(ordered)), key=lambda one: ordered[one] / ordered[one - 1])
    parts = [ordered[:place], ordered[place:]]
    gap = math.log(ordered[place] / ordered[place - 1])
    wider = max(math.log(part[-1] / part[0]) for part in parts)
    enough = min(map(len, parts)) >= least and min(len(set(part)) for part in parts) >= DISTINCT
    return parts if enough and gap > max(APART * wider, math.log(LEAST_GAP)) else [ordered]


@dataclass(frozen=True)
class Interval:
    """The typical value of one setup's trials with its 95 % interval, in the unit of the values."""

    value: float | None
    """None where there are no trials; the median where a value is not above zero."""
    low: float | None
    high: float | None
    trials: int
    reason: str | None = None
    """Why there is no interval; None where there is one."""


def mean_log(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Return the typical value of one group of trials, by the model of all comparisons.

    >>> mean_log([1.0, 1.0, 1.0]).value
    1.0
    >>> mean_log([1.0, 2.0]).reason
    '2 trials; an interval needs at least 3'
    """
    import numpy as np

    given = np.asarray(values, dtype=float)
    if not len(given):
        return Interval(None, None, None, 0, "no trials")
    if not np.isfinite(given).all():
        return Interval(None, None, None, len(given), "a value is not a number")
    if given.min() <= 0:
        why = "a value is not above zero, so it has no logarithm"
        return Interval(float(np.median(given)), None, None, len(given), why)
    logs = np.log(given)
    made = fit(logs)
    if made is None:
        trials = "1 trial" if len(given) == 1 else f"{len(given)} trials"
        why = f"{trials}; an interval needs at least {FEWEST}"
        return Interval(math.exp(float(logs.mean())), None, None, len(given), why)
    low, high = made.interval()
    return Interval(math.exp(made.centre), math.exp(low), math.exp(high), len(given))
