"""The ratio that a claim expects, and the band in which a measured one meets it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from benchbook.declare.claim import Claim
from benchbook.declare.published import PublishedRatio

# Bands are on logarithms, where a ratio and its inverse are alike: an equivalence margin of 10 % around a
# published ratio p is the band from p / 1.1 to p * 1.1.

Kind = Literal["ratio", "equal", "at-least", "at-most"]
SAME = 0.05
"""A claimed difference does not exist where the whole 90 % interval lies this close to 1, or on its other side."""
SLIGHTLY = (1.02, 1.2)
"""Factors that a publication may mean by "slightly"."""
MUCH = 1.5
"""The least factor that it may mean by "much"."""
LITTLE = 1.1
"""The largest factor of "little difference" and "rises little"."""


@dataclass(frozen=True)
class Expectation:
    """The published ratio, and in what sense a measured one has to meet it."""

    kind: Kind
    value: float
    """Published ratio; for at-least and at-most the bound, where 1 means only "higher" or "lower"."""
    margin: float = 0.1
    within: tuple[float, float] | None = None
    """The band, where words of the publication set it ("slightly")."""

    @property
    def sign(self) -> int:
        """The claimed direction: 1 above one, -1 below one, 0 for no difference."""
        if self.kind == "equal" or (self.kind == "ratio" and self.value == 1):
            return 0
        if self.kind in ("at-least", "at-most"):
            bound = 1 if self.kind == "at-least" else -1
            # "at least half as fast" claims no direction: below its bound contradicts it.
            return bound if bound * math.log(self.value) >= 0 else 0
        return 1 if self.value > 1 else -1

    @property
    def sized(self) -> bool:
        """Whether it is the size of a difference: neither a bound nor an equality."""
        return self.kind == "ratio" and self.sign != 0

    @property
    def band(self) -> tuple[float, float]:
        """The ratios that meet it, lowest and highest; 0 or infinity where it has one bound."""
        if self.within is not None:
            return self.within
        factor = 1 + self.margin
        if self.kind == "at-least":
            return self.value / factor, math.inf
        if self.kind == "at-most":
            return 0.0, self.value * factor
        middle = 1.0 if self.kind == "equal" else self.value
        return middle / factor, middle * factor

    @property
    def no_difference(self) -> float:
        """The factor around 1 within which a measured ratio shows no difference where one was published.

        It is closer to 1 than to the published ratio; 1 where no difference was published.
        """
        if self.sign == 0:
            return 1.0
        published = max(self.value, 1 / self.value)
        return 1 + SAME if published == 1 else min(1 + SAME, math.sqrt(published))


def expectation(claim: Claim, published: PublishedRatio | None) -> Expectation:
    """Return what a claim expects of the ratio of a case."""
    number = published.ratio if published else None
    if claim.test == "rises" or claim.test == "falls":  # noqa: PLR1714 - narrows the type
        up = claim.test == "rises"
        kind: Kind = "at-least" if up else "at-most"
        if claim.by_at_least is not None:
            return Expectation(kind, claim.by_at_least if up else 1 / claim.by_at_least, 0.0)
        if number is not None and (number > 1) == up and number != 1:
            return Expectation("ratio", number, claim.margin)
        return Expectation(kind, 1.0, 0.0)
    assert claim.test != "agree"
    if claim.words is not None:
        return _in_words(claim)
    if claim.test == "equal":
        return Expectation("equal", 1.0, claim.margin)
    return Expectation(claim.test, 1.0 if number is None else number, claim.margin)


def _in_words(claim: Claim) -> Expectation:
    """Return what "much", "slightly" and "little" expect (docs/claims.md)."""
    if claim.test == "equal":
        return Expectation("equal", 1.0, LITTLE - 1)
    up = claim.test == "at-least"
    if claim.words != "slightly":
        least = MUCH if claim.words == "much" else 1 / LITTLE
        return Expectation("at-least" if up else "at-most", least if up else 1 / least, 0.0)
    least, most = SLIGHTLY
    band = (least, most) if up else (1 / most, 1 / least)
    return Expectation("ratio", math.sqrt(band[0] * band[1]), 0.0, band)
