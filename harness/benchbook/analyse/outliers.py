"""Outliers are marked and kept: a slow trial is a finding, not dirt."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

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
