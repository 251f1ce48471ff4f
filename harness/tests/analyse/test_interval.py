"""Intervals compared with a simulated truth, with fixed seeds."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse import interval

EXPERIMENTS = 20_000


def paired_log_ratios(trials: int, seed: int) -> tuple[np.ndarray, float]:
    """Blocks share a drift of 20 %; A is 1.3 times B; each trial has noise of 5 %."""
    chance = np.random.default_rng(seed)
    block = chance.normal(0, 0.2, (EXPERIMENTS, trials))
    a = math.log(1.3) + block + chance.normal(0, 0.05, (EXPERIMENTS, trials))
    b = block + chance.normal(0, 0.05, (EXPERIMENTS, trials))
    return a - b, math.log(1.3)


@pytest.mark.parametrize("trials", [3, 5, 10])
def test_the_interval_of_log_ratios_covers_the_truth_as_often_as_it_says(trials: int) -> None:
    logs, truth = paired_log_ratios(trials, seed=trials)
    low, high = interval.student_t_rows(logs, 0.95)
    covered = float(np.mean((low <= truth) & (truth <= high)))
    assert 0.93 < covered < 0.97
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / EXPERIMENTS)


def test_the_bootstrap_covers_enough_from_twenty_trials_on_and_not_at_three() -> None:
    def coverage(trials: int, experiments: int) -> float:
        logs, truth = paired_log_ratios(trials, seed=99)
        found = [interval.bootstrap(row, 0.95) for row in logs[:experiments]]
        return sum(low <= truth <= high for low, high in found) / experiments

    assert 0.90 < coverage(20, 1000) < 0.96
    assert coverage(3, 1000) < 0.85


def test_one_group_and_many_have_the_same_arithmetic() -> None:
    logs, _ = paired_log_ratios(5, seed=1)
    low, high = interval.student_t_rows(logs[:10], 0.9)
    for row, lowest, highest in zip(logs[:10], low, high, strict=True):
        assert interval.student_t(row, 0.9) == pytest.approx((lowest, highest))


def test_an_interval_of_a_table_of_student_t() -> None:
    found = interval.mean_log([math.e, math.e**2, math.e**3])
    half = 4.302652729911275 * 1 / math.sqrt(3)  # t(0.975, 2) and a standard deviation of 1
    assert found.value == pytest.approx(math.exp(2))
    assert (found.low, found.high) == pytest.approx((math.exp(2 - half), math.exp(2 + half)))
    assert (found.trials, found.method, found.reason) == (3, "student-t on logs", None)


@pytest.mark.parametrize(
    ("values", "value", "reason"),
    [
        ([], None, "no trials"),
        ([4.0], 4.0, "1 trial; an interval needs at least 3"),
        ([1.0, 4.0], 2.0, "2 trials; an interval needs at least 3"),
        ([1.0, 0.0, 2.0], None, "a value is not above zero, so it has no logarithm"),
        ([1.0, math.inf, 2.0], None, "a value is not a number"),
        ([1.0, math.nan], None, "a value is not a number"),
    ],
)
def test_no_interval_is_made_of_too_little(values: list[float], value: float | None, reason: str) -> None:
    found = interval.mean_log(values)
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.low, found.high, found.method, found.reason) == (None, None, "none", reason)


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


def test_with_very_many_trials_the_bootstrap_and_students_t_agree() -> None:
    chance = random.Random(3)
    values = [chance.expovariate(1.0) for _ in range(interval.BOOTSTRAP_BELOW)]
    assert not interval.resampled(len(values))
    low, high = interval.bootstrap(values, 0.95)
    straight = interval.student_t(values, 0.95)
    assert interval.mean_interval(values, 0.95) == straight
    assert straight == pytest.approx((low, high), abs=0.05 * (high - low))
