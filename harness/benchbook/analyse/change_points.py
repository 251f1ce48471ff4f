"""Find where a series changes its level: E-divisive means (Matteson and James 2014), as Hunter and MongoDB use it.

A point of the series has one value or more. The best split of a segment has the largest energy distance between its
sides. It is kept if few permutations of the points have a split as good, and both sides are split further. A
permutation exchanges values within their column alone: a column is a block in which each point was measured once, so
the columns may differ in their level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from benchbook.analyse.model import ALPHA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERMUTATIONS_OF_LEVEL = 3
"""Permutations, as a multiple of the fewest with which a p-value can be as small as the level."""
_SEED = 2014


@dataclass(frozen=True)
class Found:
    """A change."""

    place: int
    """The first point after it."""
    p: float


def change_points(
    points: Sequence[Sequence[float]], level: float = ALPHA, least: int | None = None
) -> list[Found]:
    """Return the changes of a series, by place. A series without one has some with a chance of at most ``level``.

    ``points`` has the same number of values for each point. ``least`` is the number of points between two changes: by
    default 2, or 1 if each has several values, so that one outlying value is no change.

    >>> change_points([[1.0], [1.1], [0.9], [1.0], [1.1], [5.0], [5.1], [4.9], [5.0], [5.1]])
    [Found(place=5, p=0.03333333333333333)]
    """
    import numpy as np

    values = np.asarray(points, dtype=float)
    if len(values) < 2:
        return []
    values = values - values.mean(axis=0)
    shortest = _shortest(values.shape[1]) if least is None else least
    chance = np.random.default_rng(_SEED)
    borders: list[int] = [0, len(values)]
    found: list[Found] = []
    while (best := _best(values, borders, shortest)) is not None:
        p = _p_value(values, borders, shortest, best[0], level, chance)
        if p is None:
            break
        found.append(Found(best[1], p))
        borders = sorted([*borders, best[1]])
    return sorted(found, key=lambda one: one.place)


def smallest_p(points: int, columns: int) -> float:
    """Return the p-value of the clearest change that a series of this size can have; 1 if it cannot be split.

    It is the chance that a permutation divides the values as the series does. With two sides of one length, their
    exchange is as good.

    >>> [round(smallest_p(points, 1), 3) for points in (3, 4, 8, 9)], smallest_p(2, 5)
    ([1.0, 0.333, 0.018, 0.008], 0.0625)
    """
    shortest = _shortest(columns)
    return min(
        (
            (2 if 2 * place == points else 1) / math.comb(points, place) ** columns
            for place in range(shortest, points - shortest + 1)
        ),
        default=1.0,
    )


def _shortest(columns: int) -> int:
    return 1 if columns > 1 else 2


def _best(values: NDArray[np.float64], borders: Sequence[int], least: int) -> tuple[float, int] | None:
    """Return the largest statistic of all splits of all segments, and its place; None where none can be split."""
    found = [
        (statistic, first + place)
        for first, end in pairwise(borders)
        if end - first >= 2 * least
        for statistic, place in [_split(values[first:end], least)]
    ]
    return max(found, default=None)


def _split(values: NDArray[np.float64], least: int) -> tuple[float, int]:
    """Return the statistic of the best split of a segment, and its place."""
    import numpy as np

    points, columns = values.shape
    apart = np.abs(values[:, None, :, None] - values[None, :, None, :]).sum(axis=(2, 3))
    corner = apart.cumsum(axis=0).cumsum(axis=1)
    places = np.arange(least, points - least + 1)
    before = corner[places - 1, places - 1]
    across = corner[places - 1, -1] - before
    after = corner[-1, -1] - before - 2 * across
    left, right = places * columns, (points - places) * columns
    energy = 2 * across / (left * right) - before / left**2 - after / right**2
    statistics = left * right / (left + right) * energy
    best = int(statistics.argmax())
    return float(statistics[best]), int(places[best])


def _p_value(
    values: NDArray[np.float64], borders: Sequence[int], least: int, statistic: float, level: float,
    chance: np.random.Generator,
) -> float | None:  # fmt: skip
    """Return the share of permutations within segments with a split as good; None as soon as it exceeds the level."""
    count = math.ceil(PERMUTATIONS_OF_LEVEL / level) - 1
    allowed, reached = int(level * (count + 1)) - 1, 0
    for _ in range(count):
        moved = values.copy()
        for first, end in pairwise(borders):
            moved[first:end] = chance.permuted(moved[first:end], axis=0)
        best = _best(moved, borders, least)
        reached += best is not None and best[0] >= statistic * (1 - 1e-12)
        if reached > allowed:
            return None
    return (reached + 1) / (count + 1)
