"""Which of two systems their ratio permits to call better, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchbook.analyse import quantity
from benchbook.analyse.model import ALPHA
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.reason import Reason, because

Direction = Literal["higher", "lower"]


NO_VERDICT = ("compared-unfit", "compared-no-interval")
"""Codes of reasons why two were not compared at all; they have the reason for that as ``because``."""
SMALLEST = 1 + 1e-6
"""The smallest factor that a sentence can print; what is nearer to 1 is no difference."""


@dataclass(frozen=True)
class Verdict:
    """The conclusion on A and B."""

    winner: str | None
    """The better of the two; None where no difference can be claimed."""
    reason: Reason


def compare(
    a: str,
    b: str,
    ratio: Ratio,
    *,
    direction: Direction,
    unfit: Reason | None = None,
    quality: str = "fast",
    adjusted: float | None = None,
    among: int = 1,
) -> Verdict:
    """Say which of A and B is better by ``ratio`` (A over B) of a metric, or that no difference can be claimed.

    ``direction``: which values of the metric are better; ``unfit``: why neither is called better whatever the
    ratio; ``quality``: the word in "2.3 times as fast as". ``adjusted`` is the p-value after Holm's correction
    where the comparison is one ``among`` several: what is not significant in the family is not claimed.
    """
    better = ratio if direction == "higher" else ratio.inverse()
    if unfit:
        return Verdict(None, because("compared-unfit", a=a, b=b, because=unfit))
    if better.value is None or better.low is None or better.high is None:
        return Verdict(None, because("compared-no-interval", a=a, b=b, because=better.reason))
    wins, loses = better.low > SMALLEST, better.high < 1 / SMALLEST
    found = {"low": better.low, "high": better.high, "confidence": better.confidence}
    if (wins or loses) and adjusted is not None and adjusted > ALPHA:
        return Verdict(None, because("compared-family", a=a, b=b, **found, among=among))
    if wins:
        return Verdict(a, _better(a, b, better, quality))
    if loses:
        return Verdict(b, _better(b, a, better.inverse(), quality))
    return Verdict(None, because("compared-includes-1", a=a, b=b, **found))


def _better(winner: str, other: str, ratio: Ratio, quality: str) -> Reason:
    return because(
        "compared-better", winner=winner, other=other, value=ratio.value, low=ratio.low, high=ratio.high,
        confidence=ratio.confidence, trials=ratio.trials, quality=quality,
    )  # fmt: skip


def interval_words(low: float, high: float) -> str:
    """Return the two ends of an interval, such as ``2.10-2.50``."""
    return f"{shown(low)}-{shown(high)}"


def shown(number: float) -> str:
    """Return a number with three digits, or with more if it is not 1 and would be rounded to 1."""
    digits = 3
    while digits < 8 and float(f"{number:.{digits}g}") == 1 != number:
        digits += 1
    return quantity.number(number, digits)


def percent(confidence: float, sides: int = 1) -> str:
    """Return the confidence of an interval; of the narrower one that tests each of two bounds alone."""
    return f"{100 * (1 - sides * (1 - confidence)):.3g} %"
