"""Claims that something rises or falls along a factor."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from benchbook.analyse.judgement import evidence
from benchbook.analyse.model import fit
from benchbook.declare.expectation import Expectation
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, SIZES
from tests.claims import measured_run


def trend(tmp_path: Path, values: list[float], **claim: Any) -> Judgement:
    rate = dict(zip(SIZES, values, strict=True))
    declared = {
        **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
        "test": "rises", "along": "batch_size", **claim,
    }  # fmt: skip
    experiment = measured_run.experiment("cnos-vs-influx", claims=[declared])
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): rate[levels["batch_size"]] * math.exp(chance.gauss(0, 0.01))}

    measured_run.write(tmp_path, "run-1", {"system": [CNOS], "batch_size": SIZES}, value, declared=experiment)
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    return found


def test_a_trend_along_sizes_follows_the_bytes_not_the_order_of_the_trials(tmp_path: Path) -> None:
    rates = {"1GiB": 3.0, "64MiB": 1.0, "none": 4.0, "256MiB": 2.0}
    declared = {
        **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
        "test": "rises", "along": "memory_limit", "monotonic": True,
    }  # fmt: skip
    factors = {"system": [CNOS], "memory_limit": list(rates)}
    experiment = measured_run.experiment("cnos-vs-influx", factors=factors, claims=[declared])
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): rates[levels["memory_limit"]] * math.exp(chance.gauss(0, 0.01))}

    measured_run.write(tmp_path, "run-1", factors, value, declared=experiment)
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    assert found.verdict == "reproduced", sentence(found.reasons)
    assert found.measured == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("monotonic", [True, False])
def test_failures_at_a_level_in_between_leave_a_trend_open(tmp_path: Path, monotonic: bool) -> None:
    rates = dict(zip(SIZES, [1.0, 2.0, 3.0, 4.0, 5.0], strict=True))
    declared = {
        **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
        "test": "rises", "along": "batch_size", "monotonic": monotonic,
    }  # fmt: skip
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): rates[levels["batch_size"]] * math.exp(chance.gauss(0, 0.01))}

    def errors(levels: dict[str, Any], block: int) -> list[dict[str, Any]]:
        failed = {"phase": "load", "kind": "refused", "operations": 5, "rows": 5}
        return [failed] if levels["batch_size"] == SIZES[2] else []

    measured_run.write(
        tmp_path, "run-1", {"system": [CNOS], "batch_size": SIZES}, value, errors=errors,
        declared=measured_run.experiment("cnos-vs-influx", claims=[declared]),
    )  # fmt: skip
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    assert (found.verdict, found.reasons[0].code) == ("inconclusive", "operations-failed")


def test_a_trend_along_levels_without_an_order_is_refused() -> None:
    declared = {
        **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric")},
        "test": "rises", "along": "arm",
    }  # fmt: skip
    with pytest.raises(
        ValueError, match='along: arm: its level "vanilla" is not a number, a size or a duration'
    ):
        measured_run.experiment(
            "cnos-vs-influx", factors={"system": [CNOS], "arm": ["vanilla"]}, claims=[declared]
        )


@pytest.mark.parametrize(
    ("values", "claim", "verdict", "words"),
    [
        ([1, 2, 3, 4, 5], {}, "reproduced", "from batches of 1 to batches of 10,000"),
        ([1, 2, 3, 4, 5], {"monotonic": True}, "reproduced", "lies above 1"),
        ([5, 4, 3, 2, 1], {}, "contradicted", "on the other side"),
        ([5, 4, 3, 2, 1], {"test": "falls", "monotonic": True}, "reproduced", "lies below 1"),
        (
            [1, 2, 3, 4, 3],
            {},
            "reproduced",
            "against the trend: it falls from batches of 5,000 to batches of 10,000",
        ),
        ([1, 2, 3, 4, 3], {"monotonic": True}, "contradicted", "one step goes the other way"),
        ([1, 1, 1, 1, 1], {}, "contradicted", "which is no difference"),
        ([1, 2, 3, 4, 5], {"by_at_least": 3}, "reproduced", "lies above 3"),
        ([1, 1.2, 1.3, 1.4, 1.5], {"by_at_least": 3}, "different size", "lies below 3"),
        ([1, 2, 3, 4, 5], {"published": {"ratio": 5}}, "reproduced", "the published 5"),
        ([1, 2, 3, 4, 5], {"published": {"ratio": 50}}, "different size", "the published 50"),
    ],
)
def test_trends(tmp_path: Path, values: list[float], claim: dict[str, Any], verdict: str, words: str) -> None:
    found = trend(tmp_path, values, **claim)
    assert (found.verdict, words in sentence(found.reasons)) == (verdict, True), sentence(found.reasons)


def test_a_step_that_goes_the_other_way_is_one_test_among_all_steps() -> None:
    """Of five steps that are equal in truth, one goes the other way with p < 0.05 in every fifth run."""
    expected = Expectation("at-least", 1.0, 0.0)
    rise, fall = fit([0.4, 0.5, 0.6, 0.5]), fit([-0.02, -0.06, -0.02, -0.05])
    assert rise is not None
    assert fall is not None
    alone, among = (evidence(rise, expected, [fall, *[rise] * others]) for others in (0, 4))
    assert 0.01 < alone.reversed < 0.05
    assert among.reversed == pytest.approx(5 * alone.reversed)
