"""The sentence on two systems that their ratio permits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchbook.analyse import quantity
from benchbook.analyse.model import ALPHA, FEW
from benchbook.analyse.ratio import Ratio

Direction = Literal["higher", "lower"]


SMALLEST = 1 + 1e-6
"""The smallest factor that a sentence can print; what is nearer to 1 is no difference."""


@dataclass(frozen=True)
class Verdict:
    """The conclusion on A and B."""

    winner: str | None
    """The better of the two; None where no difference can be claimed."""
    sentence: str
    """It in words, without a full stop."""
    notes: tuple[str, ...] = ()
    """Notes beside it."""


def compare(
    a: str,
    b: str,
    ratio: Ratio,
    *,
    direction: Direction,
    noise: float | None = None,
    errors: int = 0,
    quality: str = "fast",
    adjusted: float | None = None,
    among: int = 1,
) -> Verdict:
    """Say which of A and B is better by ``ratio`` (A over B) of a metric, or that no difference can be claimed.

    ``direction``: which values of the metric are better; ``noise``: the noise between equal setups as a factor, which
    the interval holds already; ``errors``: failed operations of either, with which neither is called better;
    ``quality``: the word in "2.3 times as fast as". ``adjusted`` is the p-value after Holm's correction where the
    comparison is one ``among`` several: what is not significant in the family is not claimed.
    """
    better = ratio if direction == "higher" else ratio.inverse()
    if errors:
        return Verdict(None, f"no verdict on {a} and {b}: {errors} {_plural('operation', errors)} failed")
    if better.value is None or better.low is None or better.high is None:
        return Verdict(None, f"no verdict on {a} and {b}: {better.reason}")
    notes = _notes(better, noise)
    wins, loses = better.low > SMALLEST, better.high < 1 / SMALLEST
    shown = f"the {percent(better.confidence)} CI of their ratio, {interval_words(better.low, better.high)}"
    if (wins or loses) and adjusted is not None and adjusted > ALPHA:
        why = f"{shown}, excludes 1 alone, but not among {among} comparisons (Holm's correction)"
        return Verdict(None, f"no difference can be claimed between {a} and {b}: {why}", notes)
    if wins:
        return Verdict(a, _sentence(a, b, better, quality), notes)
    if loses:
        return Verdict(b, _sentence(b, a, better.inverse(), quality), notes)
    return Verdict(None, f"no difference can be claimed between {a} and {b}: {shown}, includes 1", notes)


def _sentence(winner: str, other: str, ratio: Ratio, quality: str) -> str:
    value, low, high = _rounded(ratio)
    return (
        f"{winner} is {value} times as {quality} as {other}"
        f" ({percent(ratio.confidence)} CI {low}-{high}, {ratio.trials} {_plural('trial', ratio.trials)})"
    )


def _notes(ratio: Ratio, noise: float | None) -> tuple[str, ...]:
    notes = []
    if ratio.trials < FEW:
        notes.append(
            f"{ratio.trials} trials of each side are few: at least {FEW} make the interval dependable"
        )
    if noise is None:
        notes.append("the noise between equal setups was not measured (./bench aa)")
    return tuple(notes)


def interval_words(low: float, high: float) -> str:
    """Return the two ends of an interval, such as ``2.10-2.50``."""
    return f"{_shown(low)}-{_shown(high)}"


def _rounded(ratio: Ratio) -> tuple[str, str, str]:
    """Return the ratio and the ends of its interval with three digits; more if a number would become 1."""
    assert ratio.value is not None
    assert ratio.low is not None
    assert ratio.high is not None
    value, low, high = (_shown(end) for end in (ratio.value, ratio.low, ratio.high))
    return value, low, high


def _shown(value: float) -> str:
    """Return a number with three digits, or with more if it is not 1 and would be rounded to 1."""
    digits = 3
    while digits < 8 and float(f"{value:.{digits}g}") == 1 != value:
        digits += 1
    return quantity.number(value, digits)


def percent(confidence: float, sides: int = 1) -> str:
    """Return the confidence of an interval; of the narrower one that tests each of two bounds alone."""
    return f"{100 * (1 - sides * (1 - confidence)):.3g} %"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
