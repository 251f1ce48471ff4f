"""The evidence that a measurement gives on an expected ratio, the verdict, and its reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal

from benchbook.analyse.model import ALPHA, Fit
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.reason import Reason, because
from benchbook.declare.claim import Share, least
from benchbook.declare.expectation import Expectation


@dataclass(frozen=True)
class Evidence:
    """p-values of what one case may show; at most 0.05 shows it."""

    reproduced: float
    """The ratio lies within the band: for a band by two one-sided tests (TOST, the 90 % interval)."""
    reversed: float
    """It lies on the other side of 1, or outside a band around 1: the 95 % interval."""
    same: float
    """There is no difference where one was published: the 90 % interval lies close to 1."""
    absent: float
    """The published difference is not there: the 90 % interval ends close to 1, or on the other side of it."""
    outside: float
    """It lies outside the band, whatever its direction: the 95 % interval."""
    direction: float
    """It lies on the claimed side of 1: the 95 % interval. 1 where no direction is claimed."""

    def at(self, level: float) -> Evidence:
        """Return the p-values of a test at ``level``, adjusted so that ``ALPHA`` stays what they are compared with."""
        return self if level == ALPHA else Evidence(*(min(1.0, p * ALPHA / level) for p in astuple(self)))


NONE = Evidence(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""The evidence of trials that are too few to show anything."""


def evidence(made: Fit | None, expected: Expectation, steps: Sequence[Fit | None] = ()) -> Evidence:
    """Return what an estimate shows of an expectation.

    ``steps``: the single steps of a monotonic trend, each of which must go the claimed way.
    """
    if made is None or any(step is None for step in steps):
        return NONE
    low, high = (math.log(end) if 0 < end < math.inf else None for end in expected.band)
    sign = expected.sign
    inside = [] if low is None else [made.above(low)]
    inside += [] if high is None else [made.below(high)]
    # One bound is met by the 95 % interval, which has 2.5 % on each side; a band by the 90 % interval.
    reproduced = max(inside) if len(inside) == 2 else 2 * inside[0]
    beyond = [] if low is None else [made.below(low)]
    beyond += [] if high is None else [made.above(high)]
    outside = 2 * min(beyond)
    if sign == 0:
        return Evidence(min(1.0, reproduced), min(1.0, outside), 1.0, 1.0, 1.0, 1.0)
    close = math.log(expected.no_difference)
    same = max(made.above(-close), made.below(close))
    absent = made.below(close) if sign > 0 else made.above(-close)
    reversed_, direction = 2 * _toward(made, -sign), 2 * _toward(made, sign)
    for step in steps:
        assert step is not None
        reproduced = max(reproduced, 2 * _toward(step, sign))
        reversed_ = min(reversed_, 2 * len(steps) * _toward(step, -sign))
    return Evidence(*(min(1.0, value) for value in (reproduced, reversed_, same, absent, outside, direction)))


def _toward(made: Fit, sign: int) -> float:
    """Return the one-sided p-value that shows a ratio on the side of 1 that ``sign`` names."""
    return made.above(0.0) if sign > 0 else made.below(0.0)


Word = Literal[
    "reproduced", "different size", "direction only", "contradicted", "inconclusive", "underspecified",
    "substitute only", "not run", "out of reach here",
]  # fmt: skip
DECIDED: tuple[Word, ...] = ("reproduced", "different size", "direction only", "contradicted")
"""Verdicts that say something about the claim."""


def word(found: Evidence) -> Word:
    """Return what one case shows."""
    return joint([found], "all")


def joint(cells: Sequence[Evidence], share: Share, missing: int = 0) -> Word:
    """Return the verdict over all cases; ``missing`` ones were published and have no result.

    A reversal comes first, so that no margin hides it. A ratio close to 1 can meet a published one that is close to 1
    too: then it is reproduced.

    A claim holds where at least k of m cases show it. Each verdict is a test of that many cases at once, by the
    partial conjunction of their p-values: for all cases the largest of them (an intersection-union test, without
    correction), for any case Simes' combination of all. A missing case shows nothing.
    Source: Benjamini and Heller (2008), "Screening for partial conjunction hypotheses".
    """
    every = [*cells, *[NONE] * missing]
    total = len(every)
    needed = least(share, total)
    against = total - needed + 1
    """Setups that have to speak against the claim before it cannot hold in the needed number."""
    tests: list[tuple[Word, list[float], int]] = [
        ("contradicted", [one.reversed for one in every], against),
        ("reproduced", [one.reproduced for one in every], needed),
        ("contradicted", [one.same for one in every], against),
        ("different size", [one.outside for one in every], against),
        ("contradicted", [one.absent for one in every], against),
        ("direction only", [one.direction for one in every], needed),
    ]
    return next(
        (word for word, values, count in tests if _conjunction(values, count) <= ALPHA), "inconclusive"
    )


def _conjunction(values: Sequence[float], count: int) -> float:
    """Return the p-value that at least ``count`` of several hypotheses are false.

    The smallest p-values, one fewer than ``count``, show nothing about the others. Those are combined by Simes'
    method, which holds for independent p-values and for those that move together, as cases that share blocks do.

    >>> _conjunction([0.01, 0.04, 0.2], 3), _conjunction([0.01, 0.04, 0.2], 1)
    (0.2, 0.03)
    >>> _conjunction([0.03, 0.04], 1)  # neither is below 0.05 / 2, but both are below 0.05
    0.04
    """
    others = sorted(values)[count - 1 :]
    return min(1.0, *(len(others) / place * value for place, value in enumerate(others, start=1)))


# Reasons.


def reason(said: Word, expected: Expectation, ratio: Ratio) -> Reason:
    """Return why one case has its verdict."""
    if ratio.low is None or ratio.high is None:
        return because("no-interval", because=ratio.reason)
    facts = {
        "low": ratio.low, "high": ratio.high, "confidence": ratio.confidence,
        "expected": {
            "kind": expected.kind, "value": expected.value, "margin": expected.margin, "within": expected.within,
        },
    }  # fmt: skip
    if said == "reproduced":
        inside = ratio.low >= expected.band[0] and ratio.high <= expected.band[1]
        return because("within", **facts, narrow=not inside)
    if said == "direction only":
        return because("direction", **facts)
    includes_1 = bool(expected.sign) and ratio.low <= 1 <= ratio.high
    if said == "different size" or (said == "contradicted" and expected.sign == 0):
        return because("outside", **facts, includes_1=includes_1)
    if said == "contradicted":
        return _contradicted(expected, ratio, facts)
    return because("includes-1" if includes_1 else "too-wide", **facts)


def _contradicted(expected: Expectation, ratio: Ratio, facts: dict[str, Any]) -> Reason:
    assert ratio.low is not None
    assert ratio.high is not None
    if (ratio.high < 1) if expected.sign > 0 else (ratio.low > 1):
        return because("other-side", **facts)
    inner = ratio.at(2 * (1 - ratio.confidence))
    assert inner.low is not None
    assert inner.high is not None
    claimed_end = inner.high if expected.sign > 0 else 1 / inner.low
    if claimed_end > expected.no_difference:
        return because("step-reversed", **facts)
    return because("no-difference", **facts, narrow={"low": inner.low, "high": inner.high})
