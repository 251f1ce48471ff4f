"""The chance of each verdict: it agrees with simulated runs, and grows with the trials."""

from __future__ import annotations

import math
import random

import pytest

from benchbook.analyse import power
from benchbook.analyse.judgement import DECIDED, evidence, joint
from benchbook.analyse.model import Noise, fit
from benchbook.analyse.power import Case, Question
from benchbook.declare.expectation import Expectation


@pytest.mark.parametrize(("truth", "trials"), [(1.0, 5), (1.3, 5), (2.0, 12)])
def test_chances_are_those_of_simulated_runs(truth: float, trials: int) -> None:
    expected, spread, simulations = Expectation("ratio", 2.0), 0.15, 1500
    chance = random.Random(5)
    counted: dict[str, int] = {}
    for _ in range(simulations):
        made = fit([math.log(truth) + chance.gauss(0, spread) for _ in range(trials)])
        word = joint([evidence(made, expected)], "all")
        counted[word] = counted.get(word, 0) + 1
    found = Question((Case(expected, math.log(truth), spread),)).chances(trials)
    assert sum(found.values()) == pytest.approx(1)
    for word, share in found.items():
        assert counted.get(word, 0) / simulations == pytest.approx(share, abs=0.08)


def test_the_trials_that_are_needed_give_the_chance_that_was_asked_for() -> None:
    asked = Question((Case(Expectation("ratio", 1.3), math.log(1.3), 0.15),))
    needed = asked.trials_for()
    assert needed is not None
    assert asked.chance(needed) >= power.ENOUGH - 0.05
    assert asked.chance(needed // 2) < power.ENOUGH


def test_more_spread_needs_more_trials() -> None:
    needed = [
        Question((Case(Expectation("ratio", 2.0), 0.7, one),)).trials_for(power.SETTLED)
        for one in (0.05, 0.1, 0.2)
    ]
    assert None not in needed
    assert needed == sorted(needed, key=lambda one: one or 0)


def test_noise_between_equal_setups_that_no_number_of_trials_removes() -> None:
    """The band is 10 %, and equal setups differ by 20 %."""
    asked = Question((Case(Expectation("equal", 1.0), 0.0, 0.02, Noise(0.1**2, 10)),))
    assert asked.trials_for() is None
    assert asked.chance(1000, DECIDED) < 0.1


def test_a_missing_setup_of_all_leaves_nothing_to_decide() -> None:
    asked = Question((Case(Expectation("ratio", 2.0), math.log(2), 0.01),), "all", missing=1)
    assert asked.chances(20)["reproduced"] == 0


def test_trials_that_were_made_narrow_what_further_ones_can_show() -> None:
    """After 6 blocks at a ratio far outside the band, 3 more cannot reproduce it, whatever the prior chance was."""
    seen = Case(Expectation("ratio", 2.0), math.log(1.2), 0.05, trials=6)
    found = Question((seen,)).chances(9, further=True)
    assert found["reproduced"] == 0
    assert found["different size"] > 0.9


def test_too_few_trials_decide_nothing() -> None:
    asked = Question((Case(Expectation("ratio", 2.0), math.log(2), 0.01),))
    assert asked.chances(2) == {**dict.fromkeys(DECIDED, 0.0), "inconclusive": 1.0}


def test_a_stricter_level_needs_more_trials() -> None:
    asked = Question((Case(Expectation("ratio", 2.0), math.log(2), 0.1),))
    usual, strict = asked.trials_for(), asked.trials_for(level=0.001)
    assert usual is not None
    assert strict is not None
    assert strict > usual


def test_a_monotonic_trend_needs_every_step() -> None:
    rises = Expectation("at-least", 1.0, 0.0)
    steady, flat = (
        Question((Case(rises, math.log(1.5), 0.05, steps=steps),)) for steps in ((0.2, 0.2), (0.4, 0.0))
    )
    assert steady.chances(10)["reproduced"] > 0.9
    assert flat.chances(10)["reproduced"] < 0.2


def test_a_claim_about_any_setup_needs_fewer_trials_than_one_about_all() -> None:
    cases = tuple(Case(Expectation("ratio", 2.0), math.log(2), 0.1) for _ in range(4))
    every, some = (Question(cases, share).chances(10)["reproduced"] for share in ("all", "any"))
    assert every < some
