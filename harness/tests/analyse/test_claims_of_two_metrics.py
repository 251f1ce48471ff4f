"""Claims on one metric as a share of another of the same trials, such as the limit of a disk."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from benchbook.analyse.run import Run
from benchbook.errors import RequestError
from benchbook.report import claim as words
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run
from tests.declare.test_claims import experiment

SHARE: dict[str, Any] = {
    **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
    "over_metric": "bytes_per_second", "test": "at-least", "published": {"ratio": 0.8},
}  # fmt: skip


def judged(folder: Path, share: float, lost: int = 0) -> Judgement:
    """Judge the claim on a run in which the rate is ``share`` of a limit that differs between trials."""
    chance = random.Random(4)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        limit = 1000 * math.exp(chance.gauss(0, 0.5))
        rate = {("load", "rows_per_second"): share * limit * math.exp(chance.gauss(0, 0.01))}
        return rate if block < lost else {**rate, ("load", "bytes_per_second"): limit}

    declared = measured_run.experiment("cnos-vs-influx", claims=[SHARE])
    measured_run.write(folder, "run-1", {"system": [CNOS, INFLUX]}, value, declared=declared, blocks=8)
    [found] = claims.judge_run(folder, "run-1", measured_run.PUBLISHED)
    return found


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.95, "reproduced"), (0.6, "contradicted"), (1.3, "reproduced")]
)
def test_a_rate_is_compared_with_the_limit_of_its_own_trial(
    tmp_path: Path, share: float, verdict: str
) -> None:
    found = judged(tmp_path, share)
    assert (found.verdict, found.over_metric) == (verdict, "bytes_per_second"), sentence(found.reasons)
    assert found.measured == pytest.approx(share, rel=0.02)
    assert found.low is not None
    assert found.high is not None
    assert found.high / found.low < 1.1, "the limit varies by half, the share of it does not"


def test_a_trial_without_the_limit_is_left_out(tmp_path: Path) -> None:
    found = judged(tmp_path, 0.95, lost=2)
    assert found.cells[0].trials == 6


def test_the_finding_names_both_metrics(tmp_path: Path) -> None:
    said = words.sentence(Run(tmp_path, "run-1"), judged(tmp_path, 0.95))
    assert said.startswith("The rows loaded per second of cnosdb-2.0.1 were 0.95"), said
    assert " times the bytes per second (95 % CI" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"over": {"system": INFLUX}}, "takes the place of `over`"),
        ({"over_metric": "rows_per_second"}, "another metric"),
        ({"over_metric": "bytes_per_secnd"}, 'did you mean "bytes_per_second"'),
        (
            {"test": "rises", "along": "batch_size", "of": {}, "published": None},
            "remove the key `over_metric`",
        ),
        ({"test": "agree", "published": None}, "remove the key `over_metric`"),
    ],
)
def test_a_mistake_is_one_sentence(change: dict[str, Any], said: str) -> None:
    declared = {key: value for key, value in {**SHARE, **change}.items() if value is not None}
    with pytest.raises(RequestError) as caught:
        experiment(declared)
    assert said in str(caught.value)
