"""Claims about several phases, such as all questions of a publication: each phase is a case."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from benchbook.declare.claim import Claim
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run

PHASES = ["last-loc", "low-fuel", "high-load"]
ALL: dict[str, Any] = {
    **{key: BASE[key] for key in ("id", "statement", "source", "of", "over")},
    "test": "at-least", "phases": PHASES, "across": ["phase"], "metric": "latency_mean", "published": {"ratio": 1},
}  # fmt: skip


def judged(folder: Path, truth: dict[str, float], **changes: Any) -> Judgement:
    """Judge a claim on a run in which one side takes ``truth`` times as long as the other in each phase."""
    chance = random.Random(3)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        of = levels["system"] == CNOS
        return {
            (phase, "latency_mean"): (ratio if of else 1.0) * math.exp(chance.gauss(0, 0.01))
            for phase, ratio in truth.items()
        }

    asked = [
        {"name": phase, "workload": "query", "options": {"type": phase, "queries": 20}} for phase in PHASES
    ]
    phases = [{"name": "load", "workload": "load"}, *asked]
    declared = measured_run.experiment("cnos-vs-influx", phases=phases, claims=[{**ALL, **changes}])
    measured_run.write(folder, "run-1", {"system": [CNOS, INFLUX]}, value, declared=declared, blocks=8)
    [found] = claims.judge_run(folder, "run-1", measured_run.PUBLISHED)
    return found


def test_each_phase_is_a_case(tmp_path: Path) -> None:
    found = judged(tmp_path, {"last-loc": 2.0, "low-fuel": 3.0, "high-load": 0.5})
    assert found.verdict == "contradicted", "it does not hold in all phases"
    measured = {cell.sides.levels["phase"]: cell.measured for cell in found.cells}
    assert measured == pytest.approx({"last-loc": 2.0, "low-fuel": 3.0, "high-load": 0.5}, rel=0.03)


def test_it_may_hold_in_most_phases(tmp_path: Path) -> None:
    truth = {"last-loc": 2.0, "low-fuel": 3.0, "high-load": 0.5}
    assert judged(tmp_path, truth, in_cells="most").verdict == "reproduced"


def test_a_phase_without_a_number_is_missing(tmp_path: Path) -> None:
    found = judged(tmp_path, {"last-loc": 2.0, "low-fuel": 3.0})
    assert (found.verdict, found.missing, len(found.cells)) == ("inconclusive", 1, 2)


def test_each_phase_has_its_own_published_number(tmp_path: Path) -> None:
    cells = [{"levels": {"phase": phase}, "ratio": 2 + place} for place, phase in enumerate(PHASES)]
    truth = {phase: 2.0 + place for place, phase in enumerate(PHASES)}
    found = judged(tmp_path, truth, test="ratio", published={"cells": cells})
    assert found.verdict == "reproduced"
    assert [cell.published for cell in found.cells] == [
        cell["ratio"] for cell in sorted(cells, key=lambda one: str(one["levels"]))
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"across": []}, "belong together"),
        ({"phases": []}, "belong together|phase"),
        ({"added": True}, "`added` needs the key `corrected`"),
        ({"phase": "load"}, "`phases` takes the place of `phase`"),
        ({"validity": "phase"}, "compares two sides of valid trials"),
        ({"test": "agree", "published": None}, "compares two sides of valid trials"),
    ],
)
def test_a_wrong_claim_on_phases_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Claim.model_validate({**ALL, **wrong})
