"""Holm's correction: many tests at once, and at most 5 % chance that any of them cries wolf (Holm 1979)."""

from __future__ import annotations

from collections.abc import Sequence


def adjusted(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted so that comparing each with alpha keeps the family's error below alpha.

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
