"""The model of a comparison: what one sample gives, and the same on arrays, which the simulations use."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.judgement import DECIDED, evidence, joint, word
from benchbook.analyse.model import ALPHA, FEWEST_ROBUST, LARGE, Fit, Noise, fit, log_ratio, prior
from benchbook.declare.expectation import Expectation
from benchmarks.fits import Fits, fits, moderated, verdicts
from tests.analyse.simulated import log_ratios


def known(sample: list[float]) -> Fit:
    found = fit(sample)
    assert found is not None
    return found


@pytest.mark.parametrize("count", [3, 4, 5, 8, 25, LARGE])
def test_a_sample_and_an_array_of_samples_have_the_same_fit(count: int) -> None:
    rows = log_ratios("rare stalls", 3, 30, count)
    made = fits(rows)
    for row, *numbers in zip(rows.tolist(), made.centre, made.error, made.freedom, strict=True):
        found = known(row)
        assert (found.centre, found.error, found.freedom) == pytest.approx(tuple(numbers), abs=1e-6)
        for alpha in (0.05, 0.1):
            ends = [float(end[0]) for end in fits(np.array([row])).interval(alpha)]
            assert list(found.interval(alpha)) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("factor", [1, 4])
@pytest.mark.parametrize("count", [3, 5, 12])
def test_comparisons_measured_together_have_the_same_fits_on_arrays(count: int, factor: int) -> None:
    rows = log_ratios("heavy tails", 4, 6, count) * np.array([[1], [factor]] * 3)
    shared, made = prior(rows.tolist()), moderated(rows[None])
    assert shared is not None
    for row, *numbers in zip(rows.tolist(), made.centre[0], made.error[0], made.freedom[0], strict=True):
        found = fit(row, shared)
        assert found is not None
        assert (found.centre, found.error, found.freedom) == pytest.approx(tuple(numbers), abs=1e-6)


def test_verdicts_on_arrays_are_those_of_one_estimate() -> None:
    chance, seen = random.Random(1), set()
    for _ in range(1500):
        expected = Expectation(
            chance.choice(["ratio", "equal", "at-least", "at-most"]),  # type: ignore[arg-type]
            chance.choice([0.5, 1.0, 1.05, 2.0, 3.22]),
            chance.choice([0.1, 0.05]),
        )
        made = Fit(
            chance.gauss(0, 0.6) * chance.choice([0.1, 1]), abs(chance.gauss(0, 0.05)) + 1e-4,
            chance.uniform(2, 30), 5, 0.1,
        )  # fmt: skip
        found = word(evidence(made, expected))
        array = Fits(*(np.array([number]) for number in (made.centre, made.error, made.freedom)))
        assert found == verdicts(array, expected)[0]
        seen.add(found)
    assert seen == {*DECIDED, "inconclusive"}


def test_few_trials_alone_have_students_t() -> None:
    found = known([1.0, 2.0, 3.0])
    assert FEWEST_ROBUST > 3
    assert (found.centre, found.error, found.freedom) == pytest.approx((2.0, 1 / math.sqrt(3), 2))
    assert fit([1.0, 2.0]) is None


def test_a_stall_hardly_moves_the_location_and_widens_the_interval_little() -> None:
    clean = [0.69, 0.72, 0.68, 0.70, 0.71, 0.69, 0.70, 0.73, 0.67, 0.70]
    plain, stalled = known(clean), known([*clean[:-1], -1.5])
    assert abs(stalled.centre - plain.centre) < 0.02
    assert stalled.error < 3 * plain.error
    assert abs(sum([*clean[:-1], -1.5]) / 10 - plain.centre) > 0.2  # the mean moves tenfold


def test_comparisons_of_like_spread_lend_each_other_trials() -> None:
    rows = log_ratios("clean", 1, 6, 3).tolist()
    shared = prior(rows)
    alone, together = known(rows[0]), fit(rows[0], shared)
    assert together is not None
    assert together.freedom > 2 * alone.freedom
    assert prior(rows[:1]) is None
    assert prior([row[:2] for row in rows]) is None


def test_comparisons_of_unlike_spread_keep_their_own() -> None:
    rows = [(log_ratios("clean", place, 1, 12, spread=0.01 * 6**place)[0]).tolist() for place in range(4)]
    shared = prior(rows)
    errors = [(known(row).error, fit(row, shared)) for row in rows]
    for alone, together in errors:
        assert together is not None
        assert together.error == pytest.approx(alone, rel=0.5)


def test_noise_between_equal_setups_sets_a_width_that_trials_do_not_shrink() -> None:
    sample = log_ratios("clean", 5, 1, 200)[0].tolist()
    found, noise = known(sample), Noise(0.05**2, 10)
    noisy = found.with_noise(noise)
    assert noisy.error == pytest.approx(math.hypot(found.error, 0.05))
    assert noisy.freedom < 12
    assert noise.factor == pytest.approx(math.exp(1.96 * 0.05))
    assert found.with_noise(None) == found
    assert found.with_noise(Noise(0.0, 3)) == found


@given(
    st.lists(st.floats(-3, 3), min_size=3, max_size=12), st.floats(-2, 2), st.floats(0.1, 5), st.booleans()
)
def test_a_fit_moves_and_grows_with_its_sample(
    sample: list[float], by: float, factor: float, mirrored: bool
) -> None:
    found = known(sample)
    sign = -1 if mirrored else 1
    moved = known([sign * factor * value + by for value in sample])
    assert moved.centre == pytest.approx(sign * factor * found.centre + by, abs=1e-4)
    assert moved.error == pytest.approx(factor * found.error, abs=1e-4)
    assert found.error >= 0


def test_p_values_and_intervals_agree() -> None:
    for blocks in (3, 8, 25):
        for row in log_ratios("heavy tails", 2, 20, blocks, 1.03).tolist():
            found = known(row)
            low, high = found.interval()
            assert 2 * found.above(low) == pytest.approx(ALPHA)
            assert 2 * found.below(high) == pytest.approx(ALPHA)
            assert found.above(low - 0.01) < ALPHA / 2 < found.above(low + 0.01)


def test_equal_values_are_certain() -> None:
    found = known([0.5, 0.5, 0.5, 0.5, 0.5])
    assert (found.above(0.4), found.above(0.5), found.below(0.4)) == (0.0, 1.0, 1.0)
    assert found.interval() == (0.5, 0.5)


def test_a_value_of_zero_has_a_limit_in_place_of_a_logarithm() -> None:
    assert (log_ratio(0.0, 5.0), log_ratio(5.0, 0.0), log_ratio(0.0, 0.0)) == (-10.0, 10.0, 0.0)
    assert log_ratio(1e-300, 1.0) == -10.0


def test_two_trials_show_nothing() -> None:
    assert word(evidence(fit([0.7, 0.7]), Expectation("ratio", 2.0))) == "inconclusive"
    assert joint([], "all", missing=3) == "inconclusive"


def test_comparisons_of_which_most_do_not_vary_show_nothing_about_the_others():
    constant = [[0.0] * 6 for _ in range(8)]
    assert prior([*constant, [0.5, -0.4, 0.1, 0.0, 0.9, -1.2], [0.1, 0.3, -0.2, 0.0, 0.1, 0.2]]) is None
    assert prior([[0.1, 0.3, -0.2], [0.2, 0.1, -0.1], [0.0, 0.0, 0.0]]) is not None
