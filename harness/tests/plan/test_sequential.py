"""Looks between blocks: the error of all of them together, and the blocks that they save."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtr

from benchbook.analyse.model import ALPHA
from benchbook.analyse.power import SETTLED
from benchbook.declare.expectation import Expectation
from benchbook.errors import RequestError
from benchbook.plan import sequential
from benchmarks import looks
from benchmarks.power import PUBLISHED, wrong
from tests.analyse.simulated import SPREAD, log_ratios

MAXIMUM = 24
SIMULATIONS = 20_000
levels = cache(sequential.levels)
P = NDArray[np.float64]


def p_values(logs: P) -> tuple[P, P]:
    """Return the p-values of looks after each block from the third on: for a ratio of at most and of at least 1."""
    count = np.arange(1, logs.shape[1] + 1)
    mean = logs.cumsum(1) / count
    variance = (np.square(logs).cumsum(1) - count * np.square(mean)) / np.maximum(count - 1, 1)
    error = np.sqrt(np.maximum(variance, 1e-18) / count)
    above = stdtr(np.maximum(count - 1, 1), -mean / error)[:, sequential.FIRST - 1 :]
    return above, 1 - above


def errors(logs: P) -> tuple[float, float]:
    """Return the share of runs in which some look rejects equality: with every look at 5 %, and with the design."""
    above, below = p_values(logs)
    smallest = 2 * np.minimum(above, below)
    ours = np.array(levels(logs.shape[1]))
    return float((smallest <= ALPHA).any(1).mean()), float((smallest <= ours).any(1).mean())


@pytest.mark.parametrize(
    ("kind", "most"), [("clean", 0.05), ("heavy tails", 0.05), ("block effects", 0.05), ("drift", 0.055)]
)
def test_looking_after_each_block_is_wrong_as_seldom_as_looking_once(kind: str, most: float) -> None:
    naive, ours = errors(log_ratios(kind, 5, SIMULATIONS, MAXIMUM))
    assert naive > 0.2
    assert ours <= most + 0.003


def test_peeking_at_forty_blocks_is_wrong_in_nearly_a_third_of_runs() -> None:
    naive, ours = errors(np.random.default_rng(4).standard_normal((SIMULATIONS, 40)))
    assert 0.26 < naive < 0.36
    assert ours < 0.052


@pytest.mark.parametrize("kind", ["clean", "rare stalls", "autocorrelated"])
def test_the_model_of_all_comparisons_holds_the_level_too(kind: str) -> None:
    """Huber's mean in place of the mean, whose p-values the levels were not simulated for."""
    maximum, simulations = 12, 3000
    assert looks.differ(kind, simulations, maximum, looks.peeking(maximum)) > 0.12
    assert looks.differ(kind, simulations, maximum, levels(maximum)) < 0.055


def test_known_spreads_hold_the_level_too() -> None:
    """With the spread of many comparisons, the tests are nearly those of a known variance."""
    logs = np.random.default_rng(5).standard_normal((SIMULATIONS, MAXIMUM))
    count = np.arange(1, MAXIMUM + 1)
    p = 2 * stdtr(1000, -np.abs(logs.cumsum(1)) / np.sqrt(count))[:, sequential.FIRST - 1 :]
    assert (p <= np.array(levels(MAXIMUM))).any(1).mean() < 0.052


@pytest.mark.parametrize("edge", PUBLISHED.band)
def test_a_ratio_at_the_edge_of_the_band_is_reproduced_in_at_most_one_run_of_twenty(edge: float) -> None:
    words, _ = looks.ended(3000, 12, levels(12), PUBLISHED, edge)
    assert (words == "reproduced").mean() < 0.055


@pytest.mark.parametrize("truth", [0.8, 1.2, 1.5, 2.0, 2.5])
def test_no_verdict_is_wrong_in_more_than_one_run_of_twenty(truth: float) -> None:
    words, _ = looks.ended(1500, 12, levels(12), PUBLISHED, truth)
    for word in wrong(PUBLISHED, truth):
        assert (words == word).mean() < 0.055


@pytest.mark.parametrize(("truth", "fewer"), [(1.0, 0.35), (2.0, 0.75), (3.0, 0.35)])
def test_a_clear_claim_takes_few_blocks(truth: float, fewer: float) -> None:
    """The mean number of blocks, as a share of the fixed design's, where both settle the claim."""
    words, blocks = looks.ended(1500, MAXIMUM, levels(MAXIMUM), PUBLISHED, truth)
    assert np.isin(words, SETTLED).mean() > 0.85
    assert blocks.mean() < fewer * MAXIMUM


def test_power_at_the_maximum_is_nearly_that_of_a_fixed_number_of_trials() -> None:
    truth = math.exp(0.75 * SPREAD)
    above, below = p_values(log_ratios("clean", 7, SIMULATIONS, MAXIMUM, truth))
    fixed = (2 * np.minimum(above, below)[:, -1] <= ALPHA).mean()
    ours = (2 * np.minimum(above, below) <= np.array(levels(MAXIMUM))).any(1).mean()
    assert fixed - 0.1 < ours < fixed + 0.02


def test_a_claim_of_any_difference_is_settled_by_its_direction() -> None:
    words, blocks = looks.ended(1000, 12, levels(12), Expectation("at-least", 1.0, 0.0), 1.3)
    assert (words == "reproduced").mean() > 0.99
    assert blocks.mean() < 6


def test_levels_are_the_same_each_time_and_never_above_the_whole() -> None:
    found = sequential.levels(12)
    assert found == sequential.levels(12)
    assert len(found) == 10
    assert all(0 < level < sequential.ALPHA for level in found)


def test_the_last_look_may_use_more_than_its_share() -> None:
    found = levels(12)
    share = sequential.ALPHA * (1 - (11 / 12) ** sequential.POWER)
    assert found[-1] > 1.5 * share


@pytest.mark.parametrize("maximum", [0, 2, sequential.MOST + 1])
def test_a_maximum_without_looks_or_beyond_reason_is_refused(maximum: int) -> None:
    with pytest.raises(RequestError, match="allowed are 3 to 400"):
        sequential.design(maximum)


def test_a_design_is_stored_and_read_back() -> None:
    made = sequential.design(4, 60.0)
    assert sequential.Design.parse(made.stored()) == made
    assert made.level(3) == made.levels[0]
    assert made.level(4) == made.levels[1]


@pytest.mark.parametrize("text", ["2", "-1h", "soon", "0s", ""])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match=r"--budget .*(not a duration|is zero)"):
        sequential.budget(text)
