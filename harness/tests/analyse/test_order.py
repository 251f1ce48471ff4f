from __future__ import annotations

import math
import random

import pytest

from benchbook.analyse.order import TrialResult, position_effect
from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report import conclusion


def trials(
    blocks: int, factor: float, noise: float, seed: int = 1, systems: tuple[str, ...] = ("a", "b", "c")
) -> list[TrialResult]:
    chance = random.Random(seed)
    speed = {"a": 100.0, "b": 300.0, "c": 50.0}
    made = []
    for block in range(blocks):
        order = list(systems)
        chance.shuffle(order)
        weather = math.exp(chance.gauss(0, 0.3))
        for position, cell in enumerate(order):
            value = speed[cell] * weather * factor**position * math.exp(chance.gauss(0, noise))
            made.append(TrialResult(block, position, cell, value))
    return made


def test_an_effect_without_noise_is_found_exactly() -> None:
    found = position_effect(trials(4, 0.9, 0.0))
    assert found.factor == pytest.approx(0.9)
    assert found.present


def test_without_an_effect_none_is_claimed_more_often_than_stated() -> None:
    claimed = sum(bool(position_effect(trials(5, 1.0, 0.05, seed)).present) for seed in range(400))
    assert 8 <= claimed <= 34  # 5 % of 400 is 20, with a standard deviation of 4.4


def test_the_interval_covers_the_truth() -> None:
    found = [position_effect(trials(5, 1.1, 0.05, seed)) for seed in range(400)]
    covered = sum(one.low <= 1.1 <= one.high for one in found if one.low is not None and one.high is not None)
    assert 366 <= covered <= 392


@pytest.mark.parametrize(
    ("placed", "reason"),
    [
        (trials(2, 1.0, 0.1), "2 blocks; at least 3 are needed"),
        (
            [TrialResult(block, 0, "a", 1.0) for block in range(5)],
            "every cell had the same position in all blocks",
        ),
        (
            [TrialResult(block, "ab".index(cell), cell, 1.0) for block in range(5) for cell in "ab"],
            "every cell had the same position",
        ),
        ([*trials(3, 1.0, 0.1), TrialResult(3, 0, "a", 0.0)], "a value is not above zero"),
        ([], "0 blocks"),
    ],
)
def test_where_it_cannot_be_told_it_says_why(placed: list[TrialResult], reason: str) -> None:
    found = position_effect(placed)
    assert found.reason is not None
    assert reason in found.reason
    assert found.present is None


def test_an_effect_of_the_place_is_among_the_limits(made) -> None:
    run = made(blocks=8)
    assert "later position in a block" not in conclusion.limits(run).markdown
    with database.open(run.results) as connection:
        connection.execute(
            "UPDATE measurements SET value = value * pow(0.5, t.position) FROM trials t "
            "WHERE t.trial_id = measurements.trial_id AND metric = 'rows_per_second'"
        )
    words = conclusion.limits(open_run(run.results, run.run_id)).markdown
    assert "Each later position in a block changed the throughput by" in words
