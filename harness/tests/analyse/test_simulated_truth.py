"""The statistics against truth that is known: coverage of intervals, and the error and power of every verdict.

``benchmarks/fits.py`` fits thousands of simulated comparisons at once, and ``test_model.py`` shows that it is the model
of the program. With 6,000 simulations a rate of 5 % is measured to 0.3 %; bounds leave three such steps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from benchbook.analyse import interval
from benchbook.analyse.judgement import NONE, evidence, joint, word
from benchbook.analyse.model import Fit, fit, prior
from benchbook.analyse.noise import Itself, between
from benchbook.analyse.ratio import of_logs, unpaired
from benchbook.declare.expectation import Expectation
from benchmarks import power
from benchmarks.fits import shares
from tests.analyse.simulated import KINDS, SPREAD, fitted, log_ratios

SIMULATIONS = 6000
CHANCE = 0.01
"""Largest random deviation of a simulated rate."""
TRIALS = (3, 5, 10, 20, 40)


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("blocks", [*TRIALS, 4, 7])
@pytest.mark.parametrize("kind", ["clean", "heavy tails", "block effects", "autocorrelated"])
def test_intervals_cover_the_truth(kind: str, blocks: int, spread: float) -> None:
    for among in (False, True):
        covered = power.coverage(kind, SIMULATIONS, blocks, spread, among=among)
        assert 0.93 <= covered <= 0.98, among


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("blocks", TRIALS)
def test_intervals_cover_the_truth_where_one_side_stalls_or_the_machine_drifts(
    blocks: int, spread: float
) -> None:
    """A drift that the blocks share widens the shortest runs; one-sided stalls move the location a little."""
    for among in (False, True):
        assert 0.92 <= power.coverage("rare stalls", SIMULATIONS, blocks, spread, among=among) <= 0.985
        assert power.coverage("drift", SIMULATIONS, blocks, spread, among=among) >= 0.93


@pytest.mark.parametrize("correlation", [0.2, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("blocks", [3, 5, 10, 19])
def test_intervals_cover_the_truth_where_a_trial_resembles_the_one_before(
    correlation: float, blocks: int
) -> None:
    """ABBA puts two trials of one cell next to each other; that the next pair may be BAAB makes up for it."""
    from benchmarks.fits import fits

    rows = log_ratios("autocorrelated", 13, SIMULATIONS, blocks, abba=True, correlation=correlation)
    low, high = fits(rows).interval()
    assert 0.92 <= float(((low <= 0) & (high >= 0)).mean()) <= 0.98


CLAIMS = {
    "2 within 10 %": Expectation("ratio", 2.0, 0.1),
    "1.05 within 10 %": Expectation("ratio", 1.05, 0.1),
    "1.2 within 10 %": Expectation("ratio", 1.2, 0.1),
    "no difference": Expectation("equal", 1.0, 0.1),
    "higher": Expectation("at-least", 1.0, 0.0),
    "at least 2": Expectation("at-least", 2.0, 0.0),
    "at least half": Expectation("at-least", 0.5, 0.0),
    "at most a half": Expectation("at-most", 0.5, 0.0),
    "slightly": Expectation("ratio", math.sqrt(1.02 * 1.2), 0.0, (1.02, 1.2)),
}
TRUTHS = (0.5, 0.8, 0.9, 0.97, 1.0, 1.03, 1.08, 1.15, 1.3, 1.5, 1.9, 2.0, 2.3, 3.0, 4.0)


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("claim", CLAIMS)
def test_no_verdict_is_wrong_in_more_than_one_run_of_twenty(claim: str, spread: float) -> None:
    """Check every truth, including the edges of the band, where "reproduced" is wrong and most likely."""
    expected = CLAIMS[claim]
    edges = [end * (1 + side * 1e-9) for end, side in zip(expected.band, (-1, 1), strict=True)]
    for kind in ("clean", "heavy tails", "drift"):
        for blocks in (3, 10, 40):
            made = fitted(kind, 2000, blocks, spread)
            for truth in (*TRUTHS, *(edge for edge in edges if 0 < edge < math.inf)):
                found = shares(made.of(truth), expected)
                wrong = power.wrong(expected, truth)
                assert sum(found[one] for one in wrong) <= 0.05 + 2 * CHANCE, (kind, blocks, truth, found)


@pytest.mark.parametrize("claim", CLAIMS)
def test_stalls_of_one_side_err_little_more(claim: str) -> None:
    """Stalls are part of what a system does: they move its typical ratio by up to a tenth of the spread."""
    expected = CLAIMS[claim]
    for blocks in (3, 10, 40):
        made = fitted("rare stalls", 2000, blocks, SPREAD)
        for truth in TRUTHS:
            found = shares(made.of(truth), expected)
            assert sum(found[one] for one in power.wrong(expected, truth)) <= 0.07, (blocks, truth, found)


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_truth_has_a_verdict_that_enough_trials_reach(claim: str) -> None:
    """At 400 trials of a spread of 10 % (or 40 of 3 %) only truths next to an edge of the band stay undecided."""
    expected = CLAIMS[claim]
    low, high = expected.band
    made = fitted("clean", 1000, 400, SPREAD)
    for truth in TRUTHS:
        near = any(abs(math.log(truth / end)) < 0.025 for end in (low, high) if 0 < end < math.inf)
        found = shares(made.of(truth), expected)
        right = power.right(expected, truth)
        if near and truth != 1:
            continue
        assert found[right] >= 0.9, (truth, right, found)
        assert found["inconclusive"] <= 0.02, (truth, found)


def test_more_trials_show_more() -> None:
    found = [
        shares(fitted("clean", 3000, blocks, SPREAD).of(2.0), CLAIMS["2 within 10 %"])["reproduced"]
        for blocks in (3, 5, 10, 20, 40)
    ]
    assert found == sorted(found)
    assert found[0] < 0.25
    assert found[-1] > 0.99


def test_the_methods_state_what_is_simulated() -> None:
    methods = power.METHODS.read_text(encoding="utf-8")
    for name, rows in (
        ("coverage", power.coverage_rows("clean")),
        ("verdicts", power.verdict_rows(10)),
        ("trials", power.trials_rows(1.5)),
    ):
        stated = methods.partition(power.begin(name))[2].partition(power.END)[0]
        for row in rows:
            assert row in stated.splitlines(), "run benchmarks/power.py"


def test_noise_between_equal_setups_is_in_the_interval() -> None:
    """Equal setups that differ by 5 %: the interval holds 1 as often as it says, and without the noise it does not."""
    chance, rounds, covered, alone = np.random.default_rng(3), 400, 0, 0
    for _ in range(rounds):
        itself = [_itself(chance) for _ in range(8)]
        sample = (chance.normal(0, 0.02, 19) + chance.normal(0, 0.05)).tolist()
        for noise in (between(itself), None):
            made = of_logs(sample, noise=noise)
            assert made.low is not None
            assert made.high is not None
            if noise is not None:
                covered += made.low <= 1 <= made.high
            else:
                alone += made.low <= 1 <= made.high
    assert 0.92 <= covered / rounds <= 0.985
    assert alone / rounds <= 0.3


def test_without_noise_an_a_a_run_seldom_widens_an_interval() -> None:
    """Where equal setups differ by chance alone, the interval is what it is without an A/A run in 9 runs of 10."""
    chance, rounds = np.random.default_rng(4), 400
    for blocks, systems in ((3, 1), (3, 3), (10, 3), (5, 12)):
        added = 0
        for _ in range(rounds):
            equal = [of_logs(chance.normal(0, 0.1, blocks).tolist()) for _ in range(systems)]
            known = between(Itself("aa", "cell", "system", "load", "rows_per_second", one) for one in equal)
            assert known is not None
            assert known.apart == sum(one.differs <= 0.05 for one in equal)
            added += known.variance > 0
        assert 0.04 <= added / rounds <= 0.15


def _itself(chance: np.random.Generator) -> Itself:
    sample = (chance.normal(0, 0.02, 10) + chance.normal(0, 0.05)).tolist()
    return Itself("aa", "cell", "system", "load", "rows_per_second", of_logs(sample))


@pytest.mark.parametrize("share", ["all", "most", "any"])
def test_many_setups_of_noise_are_seldom_judged(share: Any) -> None:
    """Eight setups that do not differ at all, each claimed to be higher: the joint test errs in 5 % of runs."""
    setups, runs = 8, 400
    logs = log_ratios("clean", 21, setups * runs, 5).reshape(runs, setups, 5).tolist()
    expected = Expectation("at-least", 1.0, 0.0)
    found = []
    for run in logs:
        shared = prior(run)
        found.append(joint([evidence(fit(setup, shared), expected) for setup in run], share))
    assert found.count("reproduced") / runs <= 0.07
    assert found.count("direction only") / runs <= 0.07


@pytest.mark.parametrize(
    ("share", "higher", "verdict"),
    [("all", 8, "reproduced"), ("all", 7, "contradicted"), ("most", 5, "reproduced"), ("any", 1, "reproduced"),
     ("any", 0, "contradicted"), ("most", 2, "contradicted")],
)  # fmt: skip
def test_the_joint_verdict_of_many_setups(share: Any, higher: int, verdict: str) -> None:
    expected = Expectation("at-least", 1.0, 0.0)
    up, down = (evidence(Fit(sign * 0.5, 0.05, 10, 11, 0.1), expected) for sign in (1, -1))
    assert joint([up] * higher + [down] * (8 - higher), share) == verdict
    assert (
        joint([up] * higher, share, missing=8 - higher) == "reproduced" if verdict == "reproduced" else True
    )


@pytest.mark.parametrize("together", [0.0, 0.5, 0.9])
def test_a_true_claim_on_all_cases_is_seldom_contradicted_by_one(together: float) -> None:
    """Six cases that are equal, with noise that they share to some part: p-values below 5 % are not independent."""
    chance = np.random.default_rng(10)
    alone, common = chance.normal(size=(4000, 6)), chance.normal(size=(4000, 1))
    values = norm.sf(math.sqrt(together) * common + math.sqrt(1 - together) * alone)
    found = [joint([replace(NONE, reversed=one) for one in run], "all") for run in values.tolist()]
    assert found.count("contradicted") / len(found) <= 0.06


def test_two_fairly_clear_cases_contradict_what_should_hold_in_both() -> None:
    def said(*reversals: float) -> str:
        return joint([replace(NONE, reversed=one) for one in reversals], "all")

    assert (said(0.03, 0.04), said(0.03, 0.06), said(0.02, 0.9)) == (
        "contradicted",
        "inconclusive",
        "contradicted",
    )


def test_one_case_that_is_lower_and_one_that_is_equal_contradict_what_should_be_higher() -> None:
    """Neither is clearly reversed, and neither is clearly within 5 % of 1; both are clearly not higher."""
    expected = Expectation("at-least", 1.0, 0.0)
    cases = [evidence(Fit(centre, 0.02, 16, 17, 0.1), expected) for centre in (-0.04, 0.0)]
    assert min(one.reversed for one in cases) > 0.05
    assert min(one.same for one in cases) > 0.012
    assert joint(cases, "all") == joint(cases, "any") == "contradicted"
    # A case that may be 5 % higher contradicts nothing.
    open_ = evidence(Fit(0.02, 0.03, 16, 17, 0.1), expected)
    assert (joint([open_], "all"), joint([cases[0], open_], "any")) == ("inconclusive", "inconclusive")


def test_a_missing_setup_shows_nothing() -> None:
    up = evidence(Fit(0.5, 0.01, 10, 11, 0.1), Expectation("at-least", 1.0, 0.0))
    assert word(up) == "reproduced"
    assert joint([up] * 4, "all", missing=1) == "inconclusive"
    assert joint([up] * 4, "most", missing=1) == "reproduced"
    assert joint([up] * 2, "most", missing=3) == "inconclusive"


def test_holm_keeps_the_family_wise_error() -> None:
    chance = np.random.default_rng(9)
    uniform = chance.random((4000, 12))
    alarms = sum(min(interval.adjusted(row)) <= 0.05 for row in uniform.tolist()) / 4000
    assert alarms <= 0.06
    assert sum(min(row) <= 0.05 for row in uniform.tolist()) / 4000 > 0.4  # what it protects from


def test_two_runs_of_equal_speed_are_seldom_called_different() -> None:
    chance = np.random.default_rng(4)
    alarms, covered, rounds = 0, 0, 600
    for _ in range(rounds):
        a = np.exp(chance.normal(0, SPREAD, 5)).tolist()
        b = np.exp(chance.normal(0, 3 * SPREAD, 8)).tolist()  # the other machine is noisier, and ran longer
        made = unpaired(a, b).ratio
        assert made.low is not None
        assert made.high is not None
        covered += made.low <= 1 <= made.high
        alarms += made.differs <= 0.05
    assert 0.92 <= covered / rounds <= 0.975
    assert alarms == rounds - covered


def test_kinds_of_noise_are_those_of_the_table() -> None:
    stated = power.METHODS.read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"| {kind} | 10 |" in stated
