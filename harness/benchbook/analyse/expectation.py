"""What a claim expects of a ratio, and how surely a measured one meets it, misses it or reverses it.

Everything here is on logarithms, where a ratio and its inverse are treated alike: a margin of 10 % around a
published ratio p is the band from p / 1.1 to p * 1.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchbook.analyse import interval

Kind = Literal["ratio", "equal", "at-least", "at-most"]


@dataclass(frozen=True)
class Expectation:
    """The ratio that was published, and in what sense it is to be met."""

    kind: Kind
    value: float
    """Published ratio; for at-least and at-most the bound, where 1 says only "higher" or "lower"."""
    margin: float = 0.1

    @property
    def sign(self) -> int:
        """The direction that is claimed: 1 above one, -1 below one, 0 for no difference."""
        if self.kind == "equal" or (self.kind == "ratio" and self.value == 1):
            return 0
        if self.kind in ("at-least", "at-most"):
            bound = 1 if self.kind == "at-least" else -1
            # "at least half as fast" claims no direction: below its bound is what contradicts it.
            return bound if bound * math.log(self.value) >= 0 else 0
        return 1 if self.value > 1 else -1

    @property
    def band(self) -> tuple[float, float]:
        """The ratios that meet it, lowest and highest; 0 or infinity where it has one bound."""
        factor = 1 + self.margin
        if self.kind == "at-least":
            return self.value / factor if self.value != 1 else 1.0, math.inf
        if self.kind == "at-most":
            return 0.0, self.value * factor if self.value != 1 else 1.0
        middle = 1.0 if self.kind == "equal" else self.value
        return middle / factor, middle * factor


@dataclass(frozen=True)
class Evidence:
    """p-values: at most 0.05 says that a 95 % interval shows it."""

    reproduced: float
    """The whole interval lies within the band, and not on the other side of 1."""
    direction: float
    """It lies on the claimed side of 1 and of the noise floor; 1 where no direction is claimed."""
    contradicted: float
    """It lies on the other side, or shows no difference where one was published."""


NONE = Evidence(1.0, 1.0, 1.0)
"""Of trials that are too few to show anything."""


def evidence(
    logs: Sequence[float],
    expected: Expectation,
    noise: float = 1.0,
    steps: Sequence[Sequence[float]] = (),
) -> Evidence:
    """Return what log ratios (one a block) show of an expectation.

    ``noise`` is the noise floor as a factor of at least 1. ``steps``: log ratios of the single steps of a
    monotonic trend, each of which must go the claimed way.
    """
    if len(logs) < interval.FEWEST:
        return NONE
    floor = math.log(max(noise, 1.0))
    low, high = (math.log(end) if 0 < end < math.inf else None for end in expected.band)
    within = max(
        0.0 if low is None else interval.above(logs, low),
        0.0 if high is None else interval.below(logs, high),
    )
    sign = expected.sign
    if sign == 0:
        outside = [] if low is None else [interval.below(logs, min(low, -floor))]
        outside += [] if high is None else [interval.above(logs, max(high, floor))]
        return Evidence(within, 1.0, min(outside))
    toward, away = (interval.above, interval.below) if sign > 0 else (interval.below, interval.above)
    direction = toward(logs, sign * floor)
    contradicted = away(logs, -sign * floor)
    if expected.kind != "ratio":
        within = max(within, direction)  # a bound of 1 is met by no noise
    margin = math.log1p(expected.margin)
    if abs(math.log(expected.value)) > 2 * margin:
        # A difference was published, and the trials show that there is none as large as the margin.
        none = max(interval.above(logs, -margin), interval.below(logs, margin))
        contradicted = min(contradicted, none)
    if steps and all(len(step) >= interval.FEWEST for step in steps):
        within = max(within, *(toward(step, 0.0) for step in steps))
        reversed_ = min(away(step, -sign * floor) for step in steps)
        contradicted = min(contradicted, len(steps) * reversed_)
    elif steps:
        within = 1.0
    return Evidence(within, direction, contradicted)
