from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.measure.steady import label, labels, steady_begin


def noisy(values: list[float], seed: int, noise: float = 0.05) -> list[float]:
    chance = random.Random(seed)
    return [value * (1 + chance.gauss(0, noise)) for value in values]


SERIES = {
    "steady": [100.0] * 40,
    "warming": [40.0 + 2.0 * min(second, 15) for second in range(40)],
    "drifting": [100.0 - 1.5 * second for second in range(40)],
}


@pytest.mark.parametrize(("expected", "series"), SERIES.items())
def test_a_series_gets_its_label_through_noise(expected: str, series: list[float]) -> None:
    right = sum(label(noisy(series, seed)) == expected for seed in range(100))
    assert right >= 95


def test_a_rule_at_its_edges() -> None:
    assert label([1.0] * 7) == "short"
    assert label([]) == "short"
    assert label([1.0] * 8) == "steady"
    assert label([0.0] * 8) == "steady"
    assert label([5.0] * 4 + [0.0] * 4) == "drifting"
    assert label([0.5, 0.8, 0.9] + [1.0] * 9) == "warming"
    assert label([0.5, 0.8] + [1.0] * 8) == "steady", "two intervals of ten are no evidence"


RATES = st.one_of(
    st.lists(st.sampled_from([0.0, 1.0, 1.05, 1.2, 2.0, 9.0]), max_size=30),
    st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=20),
    st.integers(1, 200).map(lambda count: [10.0 + place / 9 for place in range(count)]),
)


@given(st.lists(RATES, max_size=8))
def test_many_series_have_the_labels_of_each(series: list[list[float]]) -> None:
    """``labels`` has a shortcut for steady series."""
    assert labels(series) == [label(one) for one in series]
    assert labels([noisy([5.0] * 30, seed, 0.3) for seed in range(50)]) == [
        label(noisy([5.0] * 30, seed, 0.3)) for seed in range(50)
    ]


@pytest.mark.parametrize("count", [8, 10, 12, 16, 24, 60])
def test_noise_alone_is_seldom_called_warming(count: int) -> None:
    """A median of a quarter is more than 10 % off in half of such phases."""
    labels = [label(noisy([100.0] * count, seed, 0.2)) for seed in range(600)]
    assert labels.count("warming") <= 0.07 * len(labels)
    assert labels.count("drifting") <= 0.07 * len(labels)


def test_the_steady_part_begins_where_the_rest_keeps_its_pace() -> None:
    warming = [10.0, 40.0, 70.0, 90.0]
    assert steady_begin([100.0] * 12) == 0
    found = steady_begin(warming + [100.0] * 20)
    assert found is not None
    assert 3 <= found <= 4
    assert steady_begin([100.0 - 3 * second for second in range(30)]) is None
    assert steady_begin([100.0] * 7) is None


def test_the_steady_part_of_a_long_series_is_found_in_spans() -> None:
    found = steady_begin(noisy([20.0] * 600 + [100.0] * 3000, 1))
    assert found is not None
    assert 540 <= found <= 660
    assert found % 60 == 0


def test_a_system_that_answers_in_bursts_can_be_steady() -> None:
    chance = random.Random(3)
    bursts = [chance.choice([5.0, 60.0, 90.0, 120.0, 240.0]) for _ in range(40)]
    assert steady_begin(bursts) is not None
    assert steady_begin([*[1.0] * 15, *bursts]) is not None


@pytest.mark.parametrize("length", [8, 20, 90, 500])
def test_a_steady_series_through_noise_has_a_steady_part(length: int) -> None:
    found = [steady_begin(noisy([100.0] * length, seed)) for seed in range(50)]
    assert sum(place is not None for place in found) >= 46


@pytest.mark.parametrize("noise", ["heavy tails", "autocorrelated"])
def test_a_steady_series_is_seldom_called_anything_else(noise: str) -> None:
    from tests.analyse.simulated import log_ratios

    series = 100 * np.exp(log_ratios(noise, 6, 500, 40, spread=0.04 * 2**0.5, abba=True, correlation=0.5))
    wrong = sum(label(rates) != "steady" for rates in series.tolist())
    assert wrong / len(series) <= 0.05
