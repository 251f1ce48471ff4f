"""The decision of ``bench gate``: its errors over all looks, its power, and what an answer holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from benchbook.analyse.gate import Answer, Series, chances, decide, losses, overall
from benchbook.analyse.gated import of_builds
from benchbook.analyse.model import ALPHA, Noise
from benchbook.analyse.spending import Look, due, levels
from benchmarks import gates
from tests.analyse.simulated import BURSTS

MARGIN = 0.03


def series(*values: float, noise: Noise | None = None) -> Series:
    return Series(dict(enumerate(values)), noise)


def around(loss: float, blocks: int, spread: float = 0.01) -> Series:
    return series(*(math.log1p(loss) + spread * (-1) ** block for block in range(blocks)))


@pytest.mark.parametrize("blocks", [12, 40])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_all_looks_together_spend_the_error(blocks: int, alpha: float) -> None:
    at = gates.looks(blocks)
    sums = np.random.default_rng(1).standard_normal((60_000, blocks)).cumsum(1)
    rejected = np.zeros(len(sums), dtype=bool)
    for look, level in zip(at, levels(at, alpha), strict=True):
        rejected |= sums[:, look.block - 1] / math.sqrt(look.block) > -ndtri(level)
    assert rejected.mean() == pytest.approx(alpha, rel=0.12)


def test_a_look_spends_what_the_time_since_the_last_one_allows() -> None:
    early, late = (levels([Look(10, share), Look(20, 1.0)], ALPHA) for share in (0.1, 0.9))
    assert early[0] < 0.002 < 0.04 < late[0]
    assert levels([Look(10, 0.5), Look(20, 0.5)], ALPHA)[1] < 1e-9, "no time passed, nothing is spent"


def test_looks_are_further_apart_the_more_blocks_there_are() -> None:
    at: list[Look] = []
    for block in range(401):
        if due(block, at):
            at.append(Look(block, block / 400))
    assert [look.block for look in at[:9]] == [3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert len(at) < 45


@pytest.mark.parametrize("kind", ["clean", "heavy tails", "drift", BURSTS])
def test_an_equal_head_is_called_slower_in_at_most_one_gate_of_twenty(kind: str) -> None:
    for metrics in (1, 4):
        assert gates.share("slower", gates.sample(kind, 1500, 16, 0.0, 0.05, metrics)) < 0.06


@pytest.mark.parametrize("kind", ["clean", "heavy tails", "drift", BURSTS])
def test_a_loss_of_the_margin_passes_in_at_most_one_gate_of_twenty(kind: str) -> None:
    assert gates.share("not slower", gates.sample(kind, 3000, 16, MARGIN, 0.05, head=False)) < 0.06


@pytest.mark.parametrize("spread", [0.02, 0.05])
def test_the_chances_before_the_start_are_those_of_gates(spread: float) -> None:
    blocks = gates.enough(spread)
    planned = chances(blocks, spread, MARGIN)
    assert min(planned.passed, planned.found) >= 0.8
    passed = gates.share("not slower", gates.sample("clean", 1500, blocks, 0.0, spread))
    found = gates.share("slower", gates.sample("clean", 1500, blocks, 2 * MARGIN, spread))
    assert passed == pytest.approx(planned.passed, abs=0.06)
    assert found >= planned.found - 0.06


def test_the_simulation_gives_the_answers_of_the_program() -> None:
    at = gates.looks(14)
    logs = np.concatenate([gates.sample("clean", 15, 14, loss, 0.04, 2) for loss in (0.0, 0.03, 0.06)])
    words, blocks = gates.ended(logs, at)
    for gate, word, ended in zip(logs, words, blocks, strict=True):
        for last in range(1, len(at) + 1):
            found = decide([series(*metric) for metric in gate], at[:last], MARGIN)
            if overall(found) != "open":
                break
        assert (overall(found), at[last - 1].block) == (word, ended)


def test_a_small_loss_that_is_certain_is_not_slower() -> None:
    (found,) = decide([around(0.01, 12, 0.002)], [Look(12, 1.0)], MARGIN)
    assert found.word == "not slower"
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.01 < found.high < MARGIN


def test_a_loss_at_the_margin_is_never_called_certain() -> None:
    (found,) = decide([around(MARGIN, 40, 0.04)], [Look(40, 1.0)], MARGIN)
    assert found.word == "open"


def test_a_metric_keeps_the_answer_that_decided_it() -> None:
    held = series(*[0.001, -0.001] * 5, *[0.2] * 10)
    (found,) = decide([held], [Look(10, 0.5), Look(20, 1.0)], MARGIN)
    assert (found.word, found.blocks, found.trials) == ("not slower", 10, 10)


def test_more_metrics_make_an_alarm_stricter_and_no_pass() -> None:
    at = [Look(10, 1.0)]
    (one,), many = decide([around(0.05, 10)], at, MARGIN), decide([around(0.05, 10)] * 20, at, MARGIN)
    assert one.low is not None
    assert many[0].low is not None
    assert many[0].low < one.low
    assert one.high == many[0].high


def test_noise_between_equal_setups_keeps_a_metric_open_for_ever() -> None:
    small, large = Noise(0.001**2, 5), Noise(0.05**2, 5)
    plain = around(0.01, 10, 0.04)
    answers = [
        decide([Series(plain.losses, noise)], [Look(10, 1.0)], MARGIN)[0] for noise in (None, small, large)
    ]
    assert [one.word for one in answers] == ["open"] * 3
    assert answers[0].needed is not None
    assert answers[1].needed is not None
    assert 10 < answers[0].needed <= answers[1].needed
    assert answers[2].needed is None


def test_the_needed_blocks_are_about_those_that_decide() -> None:
    (found,) = decide([around(0.0, 10, 0.05)], [Look(10, 1.0)], MARGIN)
    assert found.word == "open"
    assert found.needed is not None
    passed = gates.share("not slower", gates.sample("clean", 1000, found.needed, 0.0, 0.05))
    assert 0.65 < passed < 0.95


def test_too_few_blocks_and_lost_trials_are_open() -> None:
    none, few, lost = decide(
        [series(), series(0.1, 0.1), Series({0: 0.0, 5: 0.0, 7: 0.0})], [Look(8, 1.0)], MARGIN
    )
    assert (none.word, none.loss, none.trials) == ("open", None, 0)
    assert (few.word, few.trials) == ("open", 2)
    assert (lost.word, lost.trials) == ("not slower", 3)
    assert decide([series(0.0)], [], MARGIN)[0].word == "open"


def test_losses_count_the_way_in_which_a_metric_is_worse() -> None:
    assert losses({0: 1.0}, {0: 1.1}, "lower")[0] == pytest.approx(math.log(1.1))
    assert losses({0: 110.0}, {0: 100.0}, "higher")[0] == pytest.approx(math.log(1.1))
    assert losses({0: 1.0, 1: 1.0}, {1: 1.0}, "lower") == {1: 0.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["not slower", "not slower"], "not slower"),
        (["not slower", "open"], "open"),
        (["open", "slower"], "slower"),
        ([], "open"),
    ],
)
def test_one_slower_metric_is_enough(words: list[str], said: str) -> None:
    assert overall([Answer(word, 3, 3) for word in words]) == said  # type: ignore[arg-type]


def test_what_two_builds_of_one_source_differ_by_is_noise_of_the_ratio() -> None:
    """Ratios of 1.1 and 1.0 of two equal builds: half the mean of their squares, as each side is a mean of two."""
    blocks = range(12)
    base = [{block: value * (1 + 0.001 * (-1) ** block) for block in blocks} for value in (1.0, 1.1)]
    head = [dict.fromkeys(blocks, 2.0) for _ in range(2)]
    found = of_builds([base, head])
    assert found is not None
    assert found.variance == pytest.approx(math.log(1.1) ** 2 / 2 / 2, rel=0.01)
    assert found.comparisons == 2
    # Too little for a test at 10 %, which two builds hardly ever pass: it counts all the same.
    chance = np.random.default_rng(4)
    near = [{block: value * math.exp(chance.normal(0, 0.02)) for block in blocks} for value in (1.0, 1.012)]
    little = of_builds([near, near])
    assert little is not None
    assert little.variance > 0
    alike = of_builds([head, head])
    assert alike is not None
    assert alike.variance == 0
    assert of_builds([]) is None
