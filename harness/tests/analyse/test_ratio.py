from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchbook.analyse.paired import paired
from benchbook.analyse.ratio import PAIRED, ratio
from benchbook.analyse.values import Series
from benchbook.report.reasons import of_ratio


def test_a_drift_of_the_machine_cancels_within_blocks() -> None:
    drift = [1.0, 3.0, 0.5, 7.0]
    a = {block: 2.0 * factor for block, factor in enumerate(drift)}
    b = dict(enumerate(drift))
    found = ratio(a, b)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))
    assert (found.trials, found.method) == (4, PAIRED)


def test_only_blocks_with_both_are_paired() -> None:
    found = ratio({0: 2.0, 1: 4.0, 2: 6.0, 7: 100.0}, {0: 1.0, 1: 2.0, 2: 3.0, 9: 5.0})
    assert found.trials == 3
    assert found.value == pytest.approx(2.0)


def test_the_inverse_is_the_ratio_the_other_way() -> None:
    a, b = {0: 1.0, 1: 2.5, 2: 3.0}, {0: 2.0, 1: 2.0, 2: 4.0}
    there, back = ratio(a, b), ratio(b, a).inverse()
    assert (there.value, there.low, there.high) == pytest.approx((back.value, back.low, back.high))


@pytest.mark.parametrize("count", [3, 5, 19, 20, 60, 600])
def test_one_method_serves_every_number_of_trials(count: int) -> None:
    chance = np.random.default_rng(5)
    a = {block: float(1.5 * math.exp(chance.normal(0, 0.1))) for block in range(count)}
    b = {block: float(math.exp(chance.normal(0, 0.1))) for block in range(count)}
    found = ratio(a, b)
    assert found == ratio(a, b)
    assert found.method == PAIRED
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1.5 < found.high


def test_a_value_of_zero_counts_as_the_worst_and_is_not_dropped() -> None:
    ones = dict.fromkeys(range(4), 1.0)
    one = ratio({**ones, 3: 0.0}, ones)
    assert one.trials == 4
    assert one.low is not None
    assert one.low < 1e-4  # the interval holds it
    other = ratio(ones, {**ones, 3: 0.0}).inverse()
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high))


def test_a_side_of_only_zeros_has_no_ratio() -> None:
    ones, zeros = dict.fromkeys(range(4), 1.0), dict.fromkeys(range(4), 0.0)
    for found in (ratio(zeros, ones), ratio(ones, zeros)):
        assert (found.value, found.low, found.high) == (None, None, None)
        assert found.reason is not None
        assert found.reason.code == "all-zero"
    assert ratio(zeros, zeros).value == 1  # no rows refused on either side


@pytest.mark.parametrize(("direction", "value"), [("higher", None), ("lower", 1)])
def test_rates_that_are_zero_on_both_sides_are_not_equal(
    direction: str, value: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = Series(dict.fromkeys(range(6), 0.0), "1/s", direction)
    run: Any = SimpleNamespace(values=lambda *_: zeros, level=0.05)
    cell: Any = SimpleNamespace(system="elasticsearch-6.8.23")
    monkeypatch.setattr("benchbook.analyse.paired.spread", lambda *_: None)
    monkeypatch.setattr("benchbook.analyse.noise.of", lambda *_: None)
    assert paired(run, cell, cell, ("load", "metric")).value == value


@pytest.mark.parametrize(
    ("a", "b", "value", "reason"),
    [
        ({}, {}, None, "no pairs"),
        ({0: 1.0}, {1: 1.0}, None, "no pairs"),
        ({0: 3.0}, {0: 1.0}, 3.0, "1 pair; an interval needs at least 3"),
        ({0: 3.0, 1: 3.0}, {0: 1.0, 1: 1.0}, 3.0, "2 pairs; an interval needs at least 3"),
        (
            {0: 3.0, 1: 3.0, 2: -1.0},
            {0: 1.0, 1: 1.0, 2: 1.0},
            None,
            "a value is negative, or not a number",
        ),
        (
            {0: math.nan, 1: 3.0, 2: 1.0},
            {0: 1.0, 1: 1.0, 2: 1.0},
            None,
            "a value is negative, or not a number",
        ),
    ],
)
def test_no_interval_without_three_pairs(
    a: dict[int, float], b: dict[int, float], value: float | None, reason: str
) -> None:
    found = ratio(a, b)
    assert found.value == (None if value is None else pytest.approx(value))
    assert (found.low, found.high, found.method, of_ratio(found)) == (None, None, "none", reason)
