"""How many points a chart of very many trials draws: all of them, up to what can still be told apart.

Means and intervals are always over every trial; only the points beside them are thinned, evenly over the
order of the run, and the figure says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

POINTS = 250
"""Points of one row of a chart."""


def evenly(items: Sequence[T], most: int = POINTS) -> Sequence[T]:
    """Return at most ``most`` of the items, evenly spread, the first and the last among them.

    >>> evenly(range(10), 4)
    [0, 3, 6, 9]
    >>> evenly([1, 2], 4)
    [1, 2]
    """
    if len(items) <= most:
        return items
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def note(counts: Iterable[int], most: int = POINTS) -> str:
    """Return the words beside a chart that does not draw every trial; empty where it does.

    >>> note([3, 5000])
    'At most 250 of the 5,000 trials of a cell are drawn; means and intervals are over all of them.'
    """
    largest = max(counts, default=0)
    if largest <= most:
        return ""
    return f"At most {most} of the {largest:,} trials of a cell are drawn; means and intervals are over all of them."
