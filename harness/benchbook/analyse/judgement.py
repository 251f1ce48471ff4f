"""What a claim expects of a ratio, how strongly a measurement supports it, and the verdict in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchbook.analyse import interval
from benchbook.analyse.interval import ALPHA, adjusted
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.verdict import interval_words

# What a claim expects of a ratio, and how surely a measured one meets it, misses it or reverses it.
#
# Everything here is on logarithms, where a ratio and its inverse are treated alike: a margin of 10 % around a
# published ratio p is the band from p / 1.1 to p * 1.1.

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


# The verdict on a claim, in one of six words, from what each of its cells shows.

Word = Literal["reproduced", "direction only", "contradicted", "inconclusive", "underspecified", "not run"]
Share = Literal["all", "most", "any"]


def word(found: Evidence) -> Word:
    """Return what one cell shows; contradicted comes first, so that no margin hides a reversal."""
    if found.contradicted <= ALPHA:
        return "contradicted"
    if found.reproduced <= ALPHA:
        return "reproduced"
    return "direction only" if found.direction <= ALPHA else "inconclusive"


def words(found: Sequence[Evidence]) -> list[Word]:
    """Return what each of many cells shows, by one joint test with Holm's correction.

    The chance that any cell is called what it is not stays below 5 % for each of the three words.
    """
    reproduced = adjusted([one.reproduced for one in found])
    direction = adjusted([one.direction for one in found])
    contradicted = adjusted([one.contradicted for one in found])
    return [word(Evidence(*each)) for each in zip(reproduced, direction, contradicted, strict=True)]


def joint(cells: Sequence[Word], share: Share, missing: int = 0) -> Word:
    """Return the verdict over all cells; ``missing`` cells were published and are not in the run.

    A missing cell counts as undecided: what is said of all cells cannot be confirmed on some of them.

    >>> joint(["reproduced", "direction only"], "all"), joint(["reproduced"], "all", missing=1)
    ('direction only', 'inconclusive')
    """
    total = len(cells) + missing
    needed = {"all": total, "most": total // 2 + 1, "any": 1}[share]
    reproduced, against = cells.count("reproduced"), cells.count("contradicted")
    directed = reproduced + cells.count("direction only")
    if total - against < needed:
        return "contradicted"
    if reproduced >= needed:
        return "reproduced"
    return "direction only" if directed >= needed else "inconclusive"


# Why a claim got its verdict, in words.


def reason(said: Word, expected: Expectation, ratio: Ratio, noise: float | None = None) -> str:
    """Say in words why one cell is called so, without a full stop."""
    if ratio.low is None or ratio.high is None:
        return ratio.reason or "there is no interval"
    floor = max(noise or 1.0, 1.0)
    whole = f"the whole 95 % interval {interval_words(ratio)}"
    if said == "reproduced":
        return f"{whole} lies {_band(expected)}"
    if said == "direction only":
        low, high = expected.band
        size = "may or may not" if ratio.low <= high and ratio.high >= low else "does not"
        side = "above" if expected.sign > 0 else "below"
        beyond = f" and beyond the noise floor, a factor of {floor:.3g}" if floor > 1 else ""
        return f"{whole} lies {side} 1{beyond}; it {size} lie {_band(expected)}"
    if said == "contradicted":
        return _contradicted(whole, expected, ratio, ratio.low, ratio.high, floor)
    return _inconclusive(expected, ratio, ratio.low, ratio.high, floor)


def _contradicted(
    whole: str, expected: Expectation, ratio: Ratio, low: float, high: float, floor: float
) -> str:
    if expected.sign == 0:
        return f"{whole} lies outside: it does not lie {_band(expected)}"
    if (high < 1 / floor) if expected.sign > 0 else (low > floor):
        other = "below" if expected.sign > 0 else "above"
        claimed = "" if expected.value == 1 else f" ({expected.value:.3g})"
        return f"{whole} lies {other} 1, on the other side of what was published{claimed}"
    if max(high, 1 / low) <= 1 + expected.margin:
        within = f"within {100 * expected.margin:g} % of 1"
        return f"{whole} shows no difference ({within}), where {expected.value:.3g} was published"
    return f"a step goes the other way (last over first: {interval_words(ratio)})"


def _inconclusive(expected: Expectation, ratio: Ratio, low: float, high: float, floor: float) -> str:
    shown = f"the 95 % interval {interval_words(ratio)}"
    if expected.sign and low <= 1 <= high:
        return f"{shown} includes 1"
    if expected.sign and floor > 1 and min(high, 1 / low) <= floor:
        return f"{shown} reaches into the noise floor, a factor of {floor:.3g}"
    return f"{shown} is too wide: not all of it lies {_band(expected)}"


def _band(expected: Expectation) -> str:
    low, high = expected.band
    percent = f"{100 * expected.margin:g} %"
    if expected.kind in ("at-least", "at-most"):
        above = expected.kind == "at-least"
        side, end = ("above", low) if above else ("below", high)
        return (
            f"{side} 1" if expected.value == 1 else f"{side} {end:.3g} ({expected.value:.3g} and {percent})"
        )
    what = "1" if expected.kind == "equal" else f"the published {expected.value:.3g}"
    return f"within {percent} of {what} ({low:.3g} to {high:.3g})"
