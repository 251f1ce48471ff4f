"""The statistics against truth that is known: 1,000 simulated experiments for each kind of noise.

Bounds leave room for the simulation's own chance: with 1,000 simulations a rate of 5 % is measured to 0.7 %,
so 93 to 97 % of coverage is three such steps; where a rate must stay below 5 % the bound is 7 %.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from benchbook.analyse import interval
from benchbook.analyse.judgement import Expectation, evidence, joint, word, words
from benchbook.analyse.ratio import Ratio, unpaired
from benchbook.analyse.verdict import compare
from benchmarks import power
from tests.analyse.simulated import KINDS, SPREAD, Logs, log_ratios

SIMULATIONS = 1000
CHANCE = 0.07


def verdicts(
    expected: Expectation, kind: str, blocks: int, truth: float, simulations: int = SIMULATIONS
) -> dict[str, float]:
    """Return verdict → how often it was reached."""
    logs = log_ratios(kind, 1, simulations, blocks, truth).tolist()
    found = [word(evidence(row, expected)) for row in logs]
    return {
        name: found.count(name) / len(found)
        for name in ("reproduced", "direction only", "contradicted", "inconclusive")
    }


@pytest.mark.parametrize("blocks", [3, 5, 10])
@pytest.mark.parametrize("truth", [1.0, 1.05, 2.0])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_the_truth(kind: str, truth: float, blocks: int) -> None:
    low, high = interval.student_t_rows(log_ratios(kind, 7 + blocks, 4 * SIMULATIONS, blocks, truth), 0.95)
    assert 0.93 <= float(((low <= math.log(truth)) & (math.log(truth) <= high)).mean()) <= 0.97


def test_the_pages_state_what_is_simulated() -> None:
    page = power.PAGE.read_text(encoding="utf-8")
    stated = page.partition(power.BEGIN)[2].partition(power.END)[0]
    assert stated == power.table(), "run benchmarks/power.py"
    covered = {
        int(trials): percent
        for trials, percent in re.findall(r"^\| lognormal \| (\d+) \| ([\d.]+) %", stated, re.MULTILINE)
    }
    methods = power.PAGE.with_name("methods.md").read_text(encoding="utf-8")
    assert f"is {covered[3]}, {covered[5]} and {covered[10]} % at 3, 5 and 10 trials" in methods


@pytest.mark.parametrize("kind", ["lognormal", "heavy tails"])
def test_the_bootstrap_covers_it_too(kind: str) -> None:
    logs = log_ratios(kind, 3, SIMULATIONS, 20)
    # The same means in one pass: what is tested is the widened quantiles, so the resampling is shared.
    chosen = np.random.default_rng(1).integers(0, 20, (2000, 20))
    means = logs[:, chosen].mean(axis=2)
    tails = [interval.expanded_tail(20, 0.95), 1 - interval.expanded_tail(20, 0.95)]
    low, high = np.quantile(means, tails, axis=1)
    assert 0.93 <= float(((low <= 0) & (high >= 0)).mean()) <= 0.97
    assert interval.bootstrap(logs[0].tolist(), 0.95) == pytest.approx((low[0], high[0]), abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_systems_are_seldom_called_different(kind: str) -> None:
    for blocks in (3, 10):
        low, high = interval.student_t_rows(log_ratios(kind, 11, 4 * SIMULATIONS, blocks), 0.95)
        ends = np.exp(np.stack([low, high], axis=1)).tolist()
        winners = [
            compare("A", "B", Ratio(math.sqrt(a * b), a, b, blocks, "t"), direction="higher").winner
            for a, b in ends
        ]
        assert sum(winner is not None for winner in winners) / len(winners) <= 0.06


@pytest.mark.parametrize("blocks", [3, 5, 10, 19])
@pytest.mark.parametrize("correlation", [0.2, 0.4, 0.6, 0.8])
def test_intervals_cover_the_truth_where_a_trial_resembles_the_one_before(
    correlation: float, blocks: int
) -> None:
    """ABBA puts two trials of one cell next to each other; that the next pair may be BAAB makes up for it."""

    def simulated(seed: int, count: int) -> Logs:
        return log_ratios("autocorrelated", seed, count, blocks, abba=True, correlation=correlation)

    low, high = interval.student_t_rows(simulated(13, 4 * SIMULATIONS), 0.95)
    assert 0.93 <= float(((low <= 0) & (high >= 0)).mean()) <= 0.97
    of_itself = interval.student_t_rows(simulated(14, SIMULATIONS), 0.95)
    floors = np.resize(np.maximum(np.abs(of_itself[0]), np.abs(of_itself[1])), len(low))
    assert float(((low > floors) | (high < -floors)).mean()) <= 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_differences_are_found(kind: str) -> None:
    clear = verdicts(Expectation("at-least", 1.0), kind, 5, 2.0)
    assert clear["reproduced"] >= 0.99
    power = [
        verdicts(Expectation("at-least", 1.0), kind, blocks, 1.05)["reproduced"] for blocks in (3, 10, 30)
    ]
    assert power[0] < power[1] < power[2]
    assert power[2] >= 0.9


@pytest.mark.parametrize("blocks", [3, 5, 10])
@pytest.mark.parametrize("published", [1.05, 2.0, 0.5])
def test_noise_never_earns_reproduced(published: float, blocks: int) -> None:
    expected = Expectation("ratio", published, 0.1)
    for kind in KINDS if blocks == 5 else KINDS[:2]:
        for truth in expected.band:  # the margin's edges
            assert verdicts(expected, kind, blocks, truth)["reproduced"] <= 0.05
        for truth in (published * 1.3, published / 1.3):
            assert verdicts(expected, kind, blocks, truth, 300)["reproduced"] <= 0.01


def test_noise_never_earns_reproduced_with_the_bootstrap() -> None:
    expected = Expectation("ratio", 2.0, 0.1)
    assert verdicts(expected, "heavy tails", 20, 2.2, 400)["reproduced"] <= 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_true_is_seldom_contradicted_and_often_reproduced(kind: str) -> None:
    for published in (1.0, 1.05, 2.0):
        found = verdicts(Expectation("ratio", published, 0.1), kind, 10, published)
        assert found["contradicted"] <= 0.05
        assert found["reproduced"] >= 0.75
    assert verdicts(Expectation("equal", 1.0, 0.1), kind, 10, 1.0)["reproduced"] >= 0.75


def test_what_is_false_is_contradicted() -> None:
    assert verdicts(Expectation("ratio", 2.0), "lognormal", 10, 0.5)["contradicted"] >= 0.99
    no_difference = verdicts(Expectation("ratio", 2.0), "lognormal", 10, 1.0)
    assert no_difference["contradicted"] >= 0.75
    assert no_difference["reproduced"] == 0
    assert verdicts(Expectation("equal", 1.0), "lognormal", 10, 2.0)["contradicted"] >= 0.99
    wrong_size = verdicts(Expectation("ratio", 3.0), "lognormal", 10, 1.5)
    assert wrong_size["direction only"] >= 0.99


def test_the_noise_floor_keeps_small_differences_out() -> None:
    # A machine whose A/A runs differ by 6 %: a true 3 % is then never more than noise.
    logs = log_ratios("lognormal", 5, SIMULATIONS, 19, 1.03).tolist()
    expected = Expectation("at-least", 1.0)
    without = sum(word(evidence(row, expected)) == "reproduced" for row in logs)
    within = sum(word(evidence(row, expected, noise=1.06)) == "reproduced" for row in logs)
    assert without > 0.4 * SIMULATIONS
    assert within <= 0.01 * SIMULATIONS


def test_two_trials_show_nothing() -> None:
    assert word(evidence([0.7, 0.7], Expectation("ratio", 2.0))) == "inconclusive"


def test_holm_keeps_the_family_wise_error() -> None:
    chance = np.random.default_rng(9)
    uniform = chance.random((4000, 12))
    wolves = sum(min(interval.adjusted(row)) <= 0.05 for row in uniform.tolist()) / 4000
    assert wolves <= 0.06
    assert sum(min(row) <= 0.05 for row in uniform.tolist()) / 4000 > 0.4  # what it protects from


def test_holm_is_between_bonferroni_and_nothing() -> None:
    values = [0.01, 0.04, 0.03, 0.005]
    adjusted = interval.adjusted(values)
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert interval.adjusted([]) == []
    assert interval.adjusted([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("share", ["all", "most", "any"])
def test_many_cells_of_noise_are_seldom_judged(share: str) -> None:
    """Eight cells that do not differ at all, each claimed to be higher: the joint test errs in 5 % of runs."""
    cells, runs = 8, 500
    logs = log_ratios("lognormal", 21, cells * runs, 5).reshape(runs, cells, 5).tolist()
    expected = Expectation("at-least", 1.0)
    found = [words([evidence(cell, expected) for cell in run]) for run in logs]
    assert sum("reproduced" in said for said in found) / runs <= CHANCE
    assert sum("contradicted" in said for said in found) / runs <= CHANCE
    verdict = [joint(said, share) for said in found]  # type: ignore[arg-type]
    assert verdict.count("reproduced") / runs <= CHANCE


def test_p_values_and_intervals_say_the_same() -> None:
    for blocks in (3, 8, 25):
        for row in log_ratios("heavy tails", 2, 60, blocks, 1.03).tolist():
            low, high = interval.mean_interval(row, 0.95)
            for bound in (low - 1e-3, low + 1e-3, 0.0):
                agreed = (interval.above(row, bound) <= 0.05) == (low > bound)
                assert agreed or abs(low - bound) < 2e-4
            assert interval.below(row, high + 1e-3) <= 0.05
            assert interval.below(row, high - 1e-3) > 0.05


def test_equal_values_are_certain() -> None:
    assert interval.above([0.5, 0.5, 0.5], 0.4) == 0.0
    assert interval.above([0.5, 0.5, 0.5], 0.5) == 1.0
    assert interval.below([0.5, 0.5, 0.5], 0.4) == 1.0


def test_two_runs_of_equal_speed_are_seldom_called_different() -> None:
    chance = np.random.default_rng(4)
    alarms, covered = 0, 0
    for _ in range(SIMULATIONS):
        a = np.exp(chance.normal(0, SPREAD, 5)).tolist()
        b = np.exp(chance.normal(0, 3 * SPREAD, 8)).tolist()  # the other machine is noisier, and ran longer
        made = unpaired(a, b)
        assert made.ratio.low is not None
        assert made.ratio.high is not None
        covered += made.ratio.low <= 1 <= made.ratio.high
        alarms += min(made.above, made.below) <= 0.05
    assert 0.93 <= covered / SIMULATIONS <= 0.97
    assert alarms == SIMULATIONS - covered
