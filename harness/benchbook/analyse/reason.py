"""Why a claim got its verdict, in words."""

from __future__ import annotations

from benchbook.analyse.expectation import Expectation
from benchbook.analyse.judgement import Word
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.verdict import interval_words


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
