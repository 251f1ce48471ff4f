"""The estimate over runs and processors: properties, and coverage where the truth is known."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.model import Fit, Noise
from benchbook.analyse.processors import EQUAL, Between, Estimate, equal, estimate, pooled

FITS = st.builds(
    Fit, st.floats(-3, 3), st.floats(1e-4, 1.0), st.floats(2, 50), st.integers(3, 50), st.floats(0, 1)
)
GROUPS = st.lists(st.lists(FITS, min_size=1, max_size=4), min_size=1, max_size=5)
PRIORS = st.builds(Between, st.floats(1e-3, 0.5))


def numbers(one: Estimate) -> list[float]:
    return [number for made in (one.mean, one.another) for number in (made.centre, made.error, made.freedom)]


@given(GROUPS, PRIORS, st.randoms(use_true_random=False))
def test_the_order_of_runs_and_processors_does_not_matter(
    groups: list[list[Fit]], prior: Between, chance: random.Random
) -> None:
    shuffled = [chance.sample(group, len(group)) for group in chance.sample(groups, len(groups))]
    assert numbers(estimate(shuffled, prior)) == pytest.approx(numbers(estimate(groups, prior)), rel=1e-9)


@given(GROUPS, PRIORS)
def test_the_inverse_ratio_has_the_inverse_estimate(groups: list[list[Fit]], prior: Between) -> None:
    made, inverse = estimate(groups, prior), estimate([[one.inverse() for one in g] for g in groups], prior)
    assert numbers(inverse) == pytest.approx(
        numbers(Estimate(made.mean.inverse(), made.another.inverse(), made.runs)), rel=1e-9, abs=1e-12
    )


@given(GROUPS, PRIORS, st.floats(-5, 5))
def test_another_unit_of_the_ratio_moves_the_estimate_alone(
    groups: list[list[Fit]], prior: Between, by: float
) -> None:
    moved = [[Fit(f.centre + by, f.error, f.freedom, f.trials, f.spread) for f in group] for group in groups]
    for before, after in zip(numbers(estimate(groups, prior)), numbers(estimate(moved, prior)), strict=True):
        assert after == pytest.approx(before, rel=1e-5) or after == pytest.approx(before + by, abs=1e-6)


@given(FITS, PRIORS)
def test_one_run_has_its_own_interval_widened_by_the_prior(one: Fit, prior: Between) -> None:
    made = estimate([[one]], prior)
    widened = one.with_noise(Noise(prior.scale**2, 3))
    assert made.mean.interval() == pytest.approx(widened.interval(), rel=1e-9, abs=1e-12)
    assert (made.processors, made.runs) == (1, 1)


@given(GROUPS, PRIORS)
def test_another_processor_is_less_certain_than_the_mean_and_the_mean_lies_within(
    groups: list[list[Fit]], prior: Between
) -> None:
    made = estimate(groups, prior)
    (low, high), (least, most) = made.mean.interval(), made.another.interval()
    assert made.another.error > made.mean.error
    assert least < low + 1e-9 or made.another.freedom > made.mean.freedom
    assert most > high - 1e-9 or made.another.freedom > made.mean.freedom
    centres = [pooled(group).centre for group in groups]
    assert min(centres) - 1e-9 <= made.mean.centre <= max(centres) + 1e-9
    assert made.runs == sum(map(len, groups))


@given(FITS, st.integers(2, 6))
def test_more_runs_on_one_processor_leave_the_variance_between_processors(one: Fit, runs: int) -> None:
    prior = Between(0.1)
    assert estimate([[one] * runs], prior).mean.error >= prior.scale
    assert estimate([[one] * runs], prior).mean.error < estimate([[one]], prior).mean.error


def test_processors_that_disagree_widen_the_estimate_and_those_that_agree_narrow_it():
    def fits(*centres: float) -> list[list[Fit]]:
        return [[Fit(one, 0.01, 9, 10, 0.03)] for one in centres]

    prior = Between(0.1)
    widths = [estimate(fits(*held), prior).another.error for held in ([0, 0, 0], [0, 0.1, 0.2], [0, 0.5, 1])]
    assert widths == sorted(widths)
    assert widths[0] < estimate(fits(0), prior).another.error < widths[2]


def test_processors_that_were_measured_badly_show_nothing_about_their_variance():
    bad = [[Fit(one, 2.0, 4, 5, 4.0)] for one in (-1.0, 1.0)]
    assert estimate(bad, Between(0.1)).mean.spread == pytest.approx(0.1, rel=0.01)


def test_values_that_never_vary_have_no_error_of_their_own():
    made = estimate([[Fit(0.5, 0.0, 4, 5, 0.0), Fit(0.5, 0.0, 4, 5, 0.0)]], Between(0.1))
    assert (made.mean.centre, made.mean.error) == pytest.approx((0.5, 0.1))
    assert pooled([Fit(0.5, 0.0, 4, 5, 0.0), Fit(0.9, 0.1, 4, 5, 0.2)]).centre == 0.5


def test_noise_between_equal_setups_is_pulled_towards_the_usual_one():
    none, calm = equal([]), equal([Fit(0.0, 0.001, 4, 5, 0.002)] * 40)
    wild, vague = equal([Fit(0.1, 0.001, 4, 5, 0.002)] * 40), equal([Fit(0.1, 1.0, 4, 5, 2.0)] * 40)
    assert math.sqrt(none.variance) == pytest.approx(EQUAL)
    assert 0 < calm.variance < none.variance < wild.variance < 0.1**2
    assert vague.variance == pytest.approx(none.variance, rel=0.01)
    assert calm.comparisons > none.comparisons
