"""The two answers on a claim: does it hold, and how large is the difference."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import grade, judgement
from benchbook.analyse.judgement import Answer, Seen, evidence
from benchbook.analyse.model import Fit
from benchbook.declare.claim import Share
from benchbook.declare.expectation import Expectation
from tests.analyse.claimed import judge, twice

TWICE, HALF = Expectation("ratio", 2.0), Expectation("ratio", 0.5)
AT_LEAST, AT_MOST = Expectation("at-least", 2.0, 0.0), Expectation("at-most", 0.5, 0.0)
FASTER, EQUAL = Expectation("at-least", 1.0, 0.0), Expectation("equal", 1.0)
HALF_AS_FAST = Expectation("at-least", 0.5, 0.0)
"""A bound that equal sides meet, so that it claims no direction."""


def fit(ratio: float, error: float = 0.01) -> Fit:
    return Fit(math.log(ratio), error, 9.0, 10, error * 3)


def case(ratio: float, expected: Expectation, error: float = 0.01, *steps: float) -> Seen:
    return evidence(fit(ratio, error), expected, [fit(step) for step in steps]), expected


def answer(*cases: Seen, share: Share = "all", missing: int = 0) -> Answer:
    said = judgement.joint([found for found, _ in cases], share, missing)
    return judgement.answer(said, cases, share, missing)


@pytest.mark.parametrize(
    ("ratio", "error", "expected", "holds", "size"),
    [
        (2.0, 0.01, TWICE, "holds", "as published"),
        (1.5, 0.01, TWICE, "holds", "smaller"),
        (3.0, 0.01, TWICE, "holds", "larger"),
        (1.8, 0.08, TWICE, "holds", "open"),
        (0.5, 0.01, HALF, "holds", "as published"),
        (0.7, 0.01, HALF, "holds", "smaller"),
        (0.3, 0.01, HALF, "holds", "larger"),
        (1.0, 0.01, TWICE, "no difference", None),
        (0.7, 0.01, TWICE, "reversed", None),
        (1.5, 0.01, HALF, "reversed", None),
        (1.05, 0.09, TWICE, "open", None),  # smaller than published, but its direction is not shown
        (1.5, 0.5, TWICE, "open", None),
        (2.5, 0.01, AT_LEAST, "holds", None),
        (1.5, 0.01, AT_LEAST, "fails", None),
        (1.05, 0.09, AT_LEAST, "fails", None),
        (1.0, 0.01, AT_LEAST, "no difference", None),
        (0.7, 0.01, AT_LEAST, "reversed", None),
        (2.1, 0.08, AT_LEAST, "open", None),  # it is faster, and whether twice as fast is open
        (0.3, 0.01, AT_MOST, "holds", None),
        (0.7, 0.01, AT_MOST, "fails", None),
        (1.2, 0.01, FASTER, "holds", None),
        (0.8, 0.01, FASTER, "reversed", None),
        (1.0, 0.01, FASTER, "no difference", None),
        (1.02, 0.01, EQUAL, "holds", None),
        (1.3, 0.01, EQUAL, "fails", None),
        (0.7, 0.01, EQUAL, "fails", None),
        (1.1, 0.03, EQUAL, "open", None),
        (0.4, 0.01, HALF_AS_FAST, "fails", None),
    ],
)
def test_one_case(ratio: float, error: float, expected: Expectation, holds: str, size: str | None) -> None:
    assert answer(case(ratio, expected, error)) == (holds, size)


def test_a_claim_on_several_cases_holds_in_as_many_as_it_needs() -> None:
    smaller, larger, other = case(1.5, TWICE), case(3.0, TWICE), case(0.7, TWICE)
    assert answer(smaller, smaller) == ("holds", "smaller")
    assert answer(smaller, larger) == ("holds", "mixed")
    assert answer(smaller, smaller, other) == ("reversed", None)
    assert answer(smaller, smaller, other, share="most") == ("holds", "smaller")
    assert answer(smaller, case(1.05, TWICE, 0.09)) == ("open", None)
    assert answer(smaller, missing=1) == ("open", None), "it cannot hold in all, and its size differs"


def test_a_difference_in_some_cases_only_is_not_called_no_difference() -> None:
    """Faster in two of three cases, and as fast or a little slower in the third: the claim on all of them fails."""
    faster = case(2.0, FASTER)
    assert answer(faster, case(4.5, FASTER), case(1.0, FASTER)) == ("fails", None)
    assert answer(faster, case(4.5, FASTER), case(0.82, FASTER, 0.09)) == ("fails", None)
    assert answer(faster, faster, case(0.7, FASTER)) == ("reversed", None)
    assert answer(case(1.0, FASTER), case(1.01, FASTER)) == ("no difference", None)


@pytest.mark.parametrize("ratios", [(1.02,), (1.01, 1.01, 1.01), (1.02, 1.0, 1.0)])
def test_a_difference_too_small_to_count_is_no_difference(ratios: tuple[float, ...]) -> None:
    assert answer(*(case(ratio, TWICE, 0.003) for ratio in ratios)) == ("no difference", None)


def test_a_step_of_a_trend_that_goes_back_does_not_reverse_it() -> None:
    assert answer(case(1.5, FASTER, 0.01, 1.8, 0.83)) == ("fails", None)
    assert answer(case(0.6, FASTER, 0.01, 0.8, 0.75)) == ("reversed", None)


@pytest.mark.parametrize(
    ("word", "holds"),
    [
        ("not run", "out of reach here"),
        ("substitute only", "out of reach here"),
        ("out of reach here", "out of reach here"),
        ("underspecified", "not comparable"),
        ("inconclusive", "open"),
        ("reproduced", "holds"),  # the answers to queries agree
        ("contradicted", "fails"),
    ],
)
def test_a_claim_without_a_ratio(word: Any, holds: str) -> None:
    assert judgement.answer(word) == (holds, None)


def test_a_run_on_one_processor_answers_for_it(tmp_path: Path) -> None:
    [one, other] = judge(tmp_path, twice, {}, {"id": "four", "published": {"ratio": 4.0}})
    assert grade.reading(one) == ("holds", "as published", None, True)
    assert grade.reading(other) == ("holds", "smaller", None, True)
    [case] = other.cells
    assert case.answer == ("holds", "smaller")
