"""The interval of one setup's trials, and Holm's correction; test_simulated_truth.py has their coverage."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse import interval


def test_an_interval_of_a_table_of_student_t() -> None:
    found = interval.mean_log([math.e, math.e**2, math.e**3])
    half = 4.302652729911275 * 1 / math.sqrt(3)  # t(0.975, 2) and a standard deviation of 1
    assert found.value == pytest.approx(math.exp(2))
    assert (found.low, found.high) == pytest.approx((math.exp(2 - half), math.exp(2 + half)))
    assert (found.trials, found.reason) == (3, None)


@pytest.mark.parametrize(
    ("values", "value", "reason"),
    [
        ([], None, "no trials"),
        ([4.0], 4.0, "1 trial; an interval needs at least 3"),
        ([1.0, 4.0], 2.0, "2 trials; an interval needs at least 3"),
        ([1.0, 0.0, 2.0], 1.0, "a value is not above zero, so it has no logarithm"),
        ([1.0, math.inf, 2.0], None, "a value is not a number"),
        ([1.0, math.nan], None, "a value is not a number"),
    ],
)
def test_no_interval_is_made_of_too_little(values: list[float], value: float | None, reason: str) -> None:
    found = interval.mean_log(values)
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.low, found.high, found.reason) == (None, None, reason)


@given(st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=12), st.floats(1e-3, 1e3))
def test_an_interval_holds_its_mean_and_moves_with_the_unit(values: list[float], unit: float) -> None:
    found = interval.mean_log(values)
    scaled = interval.mean_log([value * unit for value in values])
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value * (1 + 1e-9)
    assert found.value <= found.high * (1 + 1e-9)
    assert scaled.value == pytest.approx(found.value * unit)
    assert scaled.low == pytest.approx(found.low * unit, rel=1e-6)


def test_holm_is_between_bonferroni_and_nothing() -> None:
    values = [0.01, 0.04, 0.03, 0.005]
    assert interval.adjusted(values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert interval.adjusted([]) == []
    assert interval.adjusted([0.9, 0.8]) == pytest.approx([1.0, 1.0])
