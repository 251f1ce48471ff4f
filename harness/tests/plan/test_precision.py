import math
import random
import statistics

import pytest

from benchbook.analyse import interval
from benchbook.analyse.run import Run
from benchbook.errors import RequestError
from benchbook.plan import precision
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")


def measured(results):
    pilot = Run(results, "pilot")
    return {
        pair: [list(pilot.values(cell, pair).by_block.values()) for cell in pilot.cells]
        for pair in pilot.pairs()
    }


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
    chance = random.Random(3)
    spread = 0.06
    measured_run.write(
        tmp_path, "pilot", {"system": ["a", "b", "c"]},
        lambda levels, block: {PAIR: 1000 * math.exp(chance.gauss(0, spread))}, blocks=precision.PILOT,
    )  # fmt: skip
    found = precision.needed("pilot", measured(tmp_path), 0.05)
    assert found.pair == PAIR
    assert 1.02 < found.spread < 1.12
    halves = []
    for _ in range(300):
        made = interval.mean_log(
            [math.exp(chance.gauss(0, math.log(found.spread))) for _ in range(found.trials)]
        )
        halves.append(made.high / made.value - 1)
    assert statistics.median(halves) <= 0.055


def test_more_precision_and_more_noise_never_ask_for_fewer_trials():
    asked = [precision.trials(spread, 0.05) for spread in (0.0, 0.02, 0.05, 0.1, 0.5)]
    assert asked == sorted(asked)
    assert precision.trials(0.05, 0.02) > precision.trials(0.05, 0.05)


def test_a_pilot_without_numbers_is_told_with_the_next_step(tmp_path):
    measured_run.write(tmp_path, "pilot", {"system": ["a"]}, lambda levels, block: {PAIR: 1.0}, blocks=1)
    with pytest.raises(RequestError, match="so its spread is unknown"):
        precision.needed("pilot", measured(tmp_path), 0.05)
