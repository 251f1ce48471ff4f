"""Levels of looks whose number nobody knows before: each spends a share of the error by the time that is used.

``plan.sequential`` simulates the levels of a fixed number of blocks. Here the budget is a time, and many metrics share
one error, so levels are small. The error is spent over the share of the budget that is used (Lan and DeMets 1989,
"Group sequential procedures: calendar versus information time"), and the levels are computed exactly for a known
variance, by the recursion of Armitage, McPherson and Rowe (1969). Student's t takes the same levels.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbook.plan.sequential import FIRST, POWER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = 1.1
"""Growth of the number of blocks from one look to the next: each look costs power."""
_FAR = 10.0
"""Standard deviations beyond which nothing happens."""
_POINTS = 601
_NOTHING = 1e-12


@dataclass(frozen=True)
class Look:
    """A look at the blocks so far."""

    block: int
    """Number of blocks."""
    share: float
    """Share of the budget that is used, from 0 to 1; the last look has 1."""


def due(block: int, looks: Sequence[Look]) -> bool:
    """Return whether a look is due after so many blocks.

    >>> due(2, []), due(3, []), due(4, [Look(3, 0.1)]), due(21, [Look(20, 0.5)]), due(22, [Look(20, 0.5)])
    (False, True, True, False, True)
    """
    return block >= (max(looks[-1].block + 1, looks[-1].block * STEP) if looks else FIRST)


def levels(looks: Sequence[Look], alpha: float) -> tuple[float, ...]:
    """Return the level of the one-sided test of each look: all together reject a true hypothesis with ``alpha``.

    >>> [round(level, 4) for level in levels([Look(10, 1.0)], 0.05)]
    [0.05]
    >>> [round(level, 4) for level in levels([Look(5, 0.5), Look(10, 1.0)], 0.05)]
    [0.0177, 0.0412]
    """
    return tuple(_after(tuple(looks[: place + 1]), alpha).level for place in range(len(looks)))


@dataclass(frozen=True)
class _State:
    """What is known of a sum of standard normal values after some looks, unless one of them rejected."""

    level: float
    points: NDArray[np.float64]
    mass: NDArray[np.float64]
    """The probability near each of ``points``."""


@functools.lru_cache(maxsize=4096)
def _after(looks: tuple[Look, ...], alpha: float) -> _State:
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if not looks:
        return _State(0.0, np.zeros(1), np.ones(1))
    before, now = _after(looks[:-1], alpha), looks[-1]
    earlier = looks[-2] if len(looks) > 1 else Look(0, 0.0)
    width = math.sqrt(now.block - earlier.block)
    root = math.sqrt(now.block)
    used = max(look.share for look in (*looks[:-1], earlier))  # a share that shrank spends nothing
    may_spend: float = alpha * max(min(now.share, 1.0) ** POWER - min(used, 1.0) ** POWER, 0.0)

    def beyond(edge: float) -> float:
        return float((before.mass * ndtr((before.points - edge) / width)).sum()) - may_spend

    far = _FAR * root
    if beyond(far) + _NOTHING >= 0:
        edge = far
    else:
        edge = -far if beyond(-far) <= 0 else float(brentq(beyond, -far, far, xtol=1e-9))
    points = np.linspace(-far, edge, _POINTS)
    distance = (points[:, None] - before.points[None, :]) / width
    density = (np.exp(-0.5 * distance**2) * before.mass).sum(1) / (width * math.sqrt(2 * math.pi))
    weights = np.full(_POINTS, points[1] - points[0])
    weights[[0, -1]] /= 2
    return _State(float(ndtr(-edge / root)), points, density * weights)
