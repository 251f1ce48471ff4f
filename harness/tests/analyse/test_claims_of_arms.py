"""An arm that is refused rows answers otherwise: its own claim counts them, and those of other arms are judged."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from benchbook.report.reasons import sentence
from tests.claims import measured_run

CNOS, INFLUX = "cnosdb-2.0.1", "influxdb-1.8.10"
REFUSED = {
    "phase": "load",
    "operation": "write",
    "kind": "server",
    "status": 429,
    "message": "full",
    "operations": 5,
}


def loses(levels: dict[str, Any]) -> bool:
    return bool(levels["system"] == INFLUX and levels["arm"] == "vanilla")


def judge(tmp_path: Path, **claim: Any) -> Judgement:
    chance = random.Random(3)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        found = 700.0 if loses(levels) else 1000.0
        return {
            ("load", "rows_found"): found,
            ("load", "rows_per_second"): found * math.exp(chance.gauss(0, 0.01)),
        }

    def answers(levels: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"phase": "answers", "v": 1, "type": "answer", "id": number, "query_type": "q",
             "columns": ["time_ns", "host", "value"], "rows": [[1, "host_0", 4.0 if loses(levels) else 5.0]]}
            for number in range(20)
        ]  # fmt: skip

    base = {
        "id": "c", "statement": "s", "source": "a page", "phase": "load", "published": {"ratio": 1}, "test": "equal",
        "metric": "rows_per_second", **claim,
    }  # fmt: skip
    factors: dict[str, list[Any]] = {"system": [CNOS, INFLUX], "arm": ["vanilla", "published"]}
    measured_run.write(
        tmp_path, "run-1", factors, value,
        declared=measured_run.experiment("cnos-vs-influx", claims=[base], factors={**factors, "workers": [1]}),
        answers=answers, errors=lambda levels, block: [REFUSED] if loses(levels) else [],
    )  # fmt: skip
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    return found


@pytest.mark.parametrize(
    ("arm", "verdict"), [("published", "reproduced"), ("vanilla", "inconclusive")], ids=["whole", "refused"]
)
def test_answers_of_the_arms_that_are_compared_decide(tmp_path: Path, arm: str, verdict: str):
    found = judge(tmp_path, of={"system": INFLUX, "arm": arm}, over={"system": CNOS, "arm": "published"})
    assert found.verdict == verdict, sentence(found.reasons)
    assert ("not judged: the answers of the systems to q differ in" in sentence(found.reasons)) == (
        arm == "vanilla"
    )


def test_rows_that_were_refused_can_be_claimed(tmp_path: Path):
    found = judge(
        tmp_path, of={"arm": "vanilla"}, over={"arm": "published"}, where={"system": INFLUX},
        metric="rows_found", test="at-most", published={"ratio": 0.99}, better="higher",
    )  # fmt: skip
    assert found.verdict == "reproduced", sentence(found.reasons)
    assert found.measured == pytest.approx(0.7)


def test_a_rate_with_refused_rows_is_not_judged(tmp_path: Path):
    found = judge(tmp_path, of={"arm": "vanilla"}, over={"arm": "published"}, where={"system": INFLUX})
    assert found.verdict == "inconclusive"
    assert "operations failed" in sentence(found.reasons)
