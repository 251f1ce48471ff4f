import math
import random
import statistics

import pytest

from benchbook.analyse.paired import chain
from benchbook.analyse.ratio import of_logs
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan import precision
from benchbook.plan.plan import extended, plan
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")


def measured(results):
    pilot = Run(results, "pilot")
    return {pair: chain(pilot, pair) for pair in pilot.pairs()}


@pytest.mark.parametrize("text", ["0%", "60%", "x", "", "-5%", "nan"])
def test_what_is_no_precision_is_refused(text):
    with pytest.raises(RequestError, match=r"allowed are 0\.1% to 50%"):
        precision.parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [("5", "--precision 5: this means 500 %;"), ("five", "--precision five: not a number;")],
)
def test_a_refusal_says_what_was_found_and_what_to_write(text, words):
    with pytest.raises(RequestError) as caught:
        precision.parse(text)
    assert caught.value.message.startswith(words)
    assert "--precision 5% (or 0.05)" in caught.value.hint


def test_a_pilot_asks_for_trials_after_which_intervals_are_as_narrow_as_was_asked(tmp_path):
    """The intervals are those of the ratios that are judged: a slow block slows both sides, and costs no trials."""
    chance = random.Random(3)
    spread, blocks = 0.06, [chance.gauss(0, 0.5) for _ in range(precision.PILOT)]
    measured_run.write(
        tmp_path, "pilot", {"system": ["a", "b", "c"]},
        lambda levels, block: {PAIR: 1000 * math.exp(blocks[block] + chance.gauss(0, spread))}, blocks=precision.PILOT,
    )  # fmt: skip
    found = precision.needed("pilot", measured(tmp_path), 0.05)
    assert found.pair == PAIR
    assert 1.03 < found.spread < 1.16
    halves = []
    for _ in range(300):
        made = of_logs([chance.gauss(0, math.log(found.spread)) for _ in range(found.trials)])
        halves.append(made.high / made.value - 1)
    assert statistics.median(halves) <= 0.05


def test_stein_s_number_of_trials_keeps_the_promise_for_any_pilot():
    """The interval with the pilot's own spread and freedom covers the truth in 95 % of runs, never wider than asked."""
    chance = random.Random(4)
    covered, simulations = 0, 2000
    for _ in range(simulations):
        pilot = [chance.gauss(0, 0.1) for _ in range(precision.PILOT)]
        count = max(precision.PILOT, precision.trials(statistics.stdev(pilot), 0.2, len(pilot) - 1))
        whole = pilot + [chance.gauss(0, 0.1) for _ in range(count - len(pilot))]
        covered += abs(statistics.fmean(whole)) <= math.log1p(0.2)
    assert covered / simulations > 0.94


def test_more_precision_and_more_noise_never_ask_for_fewer_trials():
    asked = [precision.trials(spread, 0.05, 3) for spread in (0.0, 0.02, 0.05, 0.1, 0.5)]
    assert asked == sorted(asked)
    assert precision.trials(0.05, 0.02, 3) > precision.trials(0.05, 0.05, 3)


def test_a_pilot_with_more_comparisons_asks_for_fewer_trials():
    assert precision.trials(0.05, 0.05, 30) < precision.trials(0.05, 0.05, 3)


def test_a_pilot_without_numbers_is_told_with_the_next_step(tmp_path):
    measured_run.write(tmp_path, "pilot", {"system": ["a"]}, lambda levels, block: {PAIR: 1.0}, blocks=1)
    with pytest.raises(RequestError, match="the spread between trials is unknown"):
        precision.needed("pilot", measured(tmp_path), 0.05)


def test_blocks_are_added_after_those_of_the_pilot_and_these_stay_as_they_are():
    pilot = plan(Catalogue(), "quickstart", "smoke", trials=precision.PILOT, order_seed=7)
    longer = extended(pilot, 9)
    assert longer.trials[: len(pilot.trials)] == pilot.trials
    assert [trial.index for trial in longer.trials] == list(range(18))
    assert longer.trials_per_cell == 9
    for block in range(9):
        assert {trial.cell for trial in longer.trials if trial.block == block} == set(pilot.cells())
    assert len({trial.trial_id for trial in longer.trials}) == 18
    assert extended(pilot, 9) == longer
    assert extended(pilot, 3) == pilot
