"""The evidence that a measurement gives on an expected ratio, the verdict, and its reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal, NamedTuple, get_args

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
    smaller: float = 1.0
    """It lies outside the band, on the side of 1 or beyond 1: the 95 % interval."""
    turned: float = 1.0
    """It lies on the other side of 1 as a whole, and not by a single step of a trend: the 95 % interval."""

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
    near = low if sign > 0 else high
    assert near is not None
    smaller = 2 * (made.below(near) if sign > 0 else made.above(near))
    turned, direction = 2 * _toward(made, -sign), 2 * _toward(made, sign)
    reversed_ = turned
    for step in steps:
        assert step is not None
        reproduced = max(reproduced, 2 * _toward(step, sign))
        reversed_ = min(reversed_, 2 * len(steps) * _toward(step, -sign))
    found = (reproduced, reversed_, same, absent, outside, direction, smaller, turned)
    return Evidence(*(min(1.0, value) for value in found))


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
    return TESTS[_first(cells, share, missing)]


TESTS: Mapping[str, Word] = {
    "reversed": "contradicted", "reproduced": "reproduced", "same": "contradicted", "outside": "different size",
    "absent": "contradicted", "direction": "direction only", "": "inconclusive",
}  # fmt: skip
"""Evidence → the verdict where it is the first that is shown; nothing decides where none is."""
FOR = ("reproduced", "direction")
"""Evidence that speaks for a claim."""


def _first(cells: Sequence[Evidence], share: Share, missing: int) -> str:
    """Return the first of ``TESTS`` that the cases show; empty if they show none."""
    return next((name for name in TESTS if name and shows(cells, name, share, missing)), "")


def shows(cells: Sequence[Evidence], name: str, share: Share, missing: int) -> bool:
    """Return whether as many cases as a verdict needs show one kind of evidence, tested together."""
    values = [float(getattr(one, name)) for one in (*cells, *[NONE] * missing)]
    needed = least(share, len(values))
    against = len(values) - needed + 1
    """Setups that have to speak against the claim before it cannot hold in the needed number."""
    return _conjunction(values, needed if name in FOR else against) <= ALPHA


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


# The two answers on a claim: does it hold, and how large is the difference.

Holds = Literal[
    "holds", "no difference", "reversed", "fails", "open", "out of reach here", "not comparable",
]  # fmt: skip
"""Whether a claim holds. It fails if a bound or an equality is missed; it is out of reach where a run lacks what the
claim needs, and not comparable where the publication omits what a rerun needs, or the answer depends on it."""
Size = Literal["as published", "smaller", "larger", "mixed", "open"]
"""How large a difference is beside the published one, of a claim that holds; mixed: smaller in some cases, larger in
others."""
CONTRARY: tuple[Holds, ...] = ("no difference", "reversed", "fails")
"""Answers against a claim."""
SAID: tuple[Holds, ...] = ("holds", *CONTRARY)
"""Answers that say something about the claim."""


class Answer(NamedTuple):
    """Whether a claim holds, and how large its difference is."""

    holds: Holds
    size: Size | None = None
    """None unless the claim holds and a size was published."""


def ordered(found: Iterable[Answer]) -> list[Answer]:
    """Return answers in the order of pages."""
    holds, sizes = get_args(Holds), (None, *get_args(Size))
    return sorted(found, key=lambda one: (holds.index(one.holds), sizes.index(one.size)))


Seen = tuple[Evidence, Expectation]
"""A case: what is shown of it, and what was expected."""


def answer(said: Word, cells: Sequence[Seen] = (), share: Share = "all", missing: int = 0) -> Answer:
    """Return the two answers behind a verdict on some cases; a claim without cases compares answers to queries."""
    sized = any(expected.sized for _, expected in cells)
    found = [one for one, _ in cells]
    if said in UNJUDGED:
        return Answer(UNJUDGED[said])
    if said == "reproduced":
        return Answer("holds", "as published" if sized else None)
    if said == "contradicted":
        return Answer(_contrary(found, _first(found, share, missing)) if found else "fails")
    if said == "direction only" and sized:
        return Answer("holds", "open")
    if said == "different size" and sized:
        return Answer("holds", _size(found)) if shows(found, "direction", share, missing) else Answer("open")
    return Answer("fails" if said == "different size" else "open")


UNJUDGED: Mapping[Word, Holds] = {
    "not run": "out of reach here", "substitute only": "out of reach here", "out of reach here": "out of reach here",
    "underspecified": "not comparable",
}  # fmt: skip
"""Verdict on a claim that is not judged → its answer."""


def _contrary(found: Sequence[Evidence], shown: str) -> Holds:
    """Return in what way a claim is contradicted.

    A trend fails if only one of its steps goes the other way, and a claim on several cases if some have the difference.
    """
    if shown in ("same", "absent"):
        some = any(one.direction <= ALPHA / len(found) and min(one.same, one.absent) > ALPHA for one in found)
        return "fails" if some else "no difference"
    strongest = min(found, key=lambda one: one.reversed)
    turned = strongest.turned < 1 and strongest.turned == strongest.reversed
    return "reversed" if turned or any(one.turned <= ALPHA for one in found) else "fails"


def _size(found: Sequence[Evidence]) -> Size:
    """Return on which side of their bands ratios lie."""
    outside = [one for one in found if one.outside <= ALPHA] or [min(found, key=lambda one: one.outside)]
    smaller = {one.smaller <= one.outside for one in outside}
    return "mixed" if len(smaller) > 1 else "smaller" if smaller == {True} else "larger"


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
