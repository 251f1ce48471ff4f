"""What may be said of two systems, in a sentence, from their ratio and the machine's noise floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from benchbook.analyse import interval
from benchbook.analyse.interval import ALPHA
from benchbook.analyse.ratio import Ratio

Direction = Literal["higher", "lower"]


SMALLEST = 1 + 1e-6
"""The smallest factor that a sentence can print; what is nearer to 1 is no difference."""


@dataclass(frozen=True)
class Verdict:
    """What may be said of A and B."""

    winner: str | None
    """The better of the two; None where no difference can be claimed."""
    sentence: str
    """It in words, without a full stop."""
    notes: tuple[str, ...] = ()
    """What a reader must know beside it."""


def noise_floor(of_itself: Ratio) -> float | None:
    """Return the machine's noise floor from an A/A ratio: the largest factor it does not exclude.

    A factor of at least 1: 1.04 says that differences up to 4 % are noise. None without an interval.
    """
    if of_itself.low is None or of_itself.high is None:
        return None
    return max(of_itself.high, 1 / of_itself.low, 1.0)


def compare(
    a: str,
    b: str,
    ratio: Ratio,
    *,
    direction: Direction,
    noise: float | None = None,
    errors: int = 0,
    quality: str = "fast",
    adjusted: float = 0.0,
    among: int = 1,
) -> Verdict:
    """Say which of A and B is better by ``ratio`` (A over B) of a metric, or that nothing can be claimed.

    ``direction``: which values of the metric are better; ``noise``: the noise floor as a factor;
    ``errors``: failed operations of either, with which nothing is called better; ``quality``: the word
    in "2.3 times as fast as". ``adjusted`` is the p-value after Holm's correction where the comparison is one
    ``among`` many that stand together: what is not sure in their company is not claimed.
    """
    better = ratio if direction == "higher" else ratio.inverse()
    if errors:
        return Verdict(None, f"no verdict on {a} and {b}: {errors} {_plural('operation', errors)} failed")
    if better.value is None or better.low is None or better.high is None:
        return Verdict(None, f"no verdict on {a} and {b}: {better.reason}")
    notes = _notes(better, noise)
    floor = max(noise or 1.0, SMALLEST)
    if adjusted > ALPHA and (better.low > floor or better.high < 1 / floor):
        edge = "1" if noise is None else "the noise floor"
        why = (
            f"their ratio, {interval_words(better)}, is beyond {edge} by itself, "
            f"but not surely so among {among} comparisons (Holm's correction)"
        )
        return Verdict(None, f"no difference can be claimed between {a} and {b}: {why}", notes)
    if better.low > floor:
        return Verdict(a, _sentence(a, b, better, quality), notes)
    if better.high < 1 / floor:
        return Verdict(b, _sentence(b, a, better.inverse(), quality), notes)
    why = (
        f"the {_percent(better)} interval of their ratio, {interval_words(better)}, includes 1"
        if better.low <= 1 <= better.high
        else f"their ratio, {_beside_floor(better.low, better.high, floor)}"
    )
    return Verdict(None, f"no difference can be claimed between {a} and {b}: {why}", notes)


def _beside_floor(low: float, high: float, floor: float) -> str:
    """Say how an interval that does not hold 1 meets the noise floor."""
    inside = (high if low > 1 else 1 / low) <= floor
    how = "lies within" if inside else "reaches into"
    return f"{low:.3g}–{high:.3g}, {how} the noise floor, a factor of {floor:.3g}"  # noqa: RUF001


def _sentence(winner: str, other: str, ratio: Ratio, quality: str) -> str:
    value, low, high = _rounded(ratio)
    return (
        f"{winner} is {value} times as {quality} as {other}"
        f" ({_percent(ratio)} interval {low}–{high}, {ratio.trials} {_plural('trial', ratio.trials)})"  # noqa: RUF001
    )


def _notes(ratio: Ratio, noise: float | None) -> tuple[str, ...]:
    notes = []
    if ratio.trials < interval.FEW:
        notes.append(
            f"{ratio.trials} trials a cell are few: at least {interval.FEW} make the interval dependable"
        )
    if noise is None:
        notes.append("the noise floor of this machine was not measured (./bench aa)")
    return tuple(notes)


def interval_words(ratio: Ratio) -> str:
    """Return the two ends of a ratio's interval, such as ``2.1–2.5``."""  # noqa: RUF002
    _, low, high = _rounded(ratio)
    return f"{low}–{high}"  # noqa: RUF001


def _rounded(ratio: Ratio) -> tuple[str, str, str]:
    """Round to the decimals that the interval's width carries, and never onto or across 1."""
    assert ratio.value is not None
    assert ratio.low is not None
    assert ratio.high is not None
    width = ratio.high - ratio.low
    decimals = 2 if width <= 0 else min(6, max(0, -math.floor(math.log10(width))))
    while decimals < 6 and any(_moved(end, decimals) for end in (ratio.value, ratio.low, ratio.high)):
        decimals += 1
    value, low, high = (f"{end:.{decimals}f}" for end in (ratio.value, ratio.low, ratio.high))
    return value, low, high


def _moved(value: float, decimals: int) -> bool:
    """Whether rounding puts a value that is not 1 on 1, or halves a small one away."""
    rounded = round(value, decimals)
    return (rounded == 1) != (value == 1) or abs(rounded - value) > 0.1 * value


def _percent(ratio: Ratio) -> str:
    return f"{100 * ratio.confidence:g} %"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
