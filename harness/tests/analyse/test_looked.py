"""Verdicts of a run that went on until its claims were decided: each stays what its look gave."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims, prospect, stopping
from benchbook.analyse.claims import Judgement
from benchbook.analyse.run import Run
from benchbook.plan import sequential
from benchbook.plan.sequential import Design, Left
from benchbook.record import database
from benchbook.report import limits
from benchbook.report.reasons import look as look_words
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run

DESIGN = sequential.design(12)
OPEN = Left(12, "the maximum of 12 blocks is reached")


def write(
    results: Path, noise: float, *declared: dict[str, Any], blocks: int = 12, later: float = 2.0,
    looks: list[dict[str, Any]] | None = None, design: Design = DESIGN,
) -> None:  # fmt: skip
    """Write a run whose ratio is 2 in the first five blocks, and ``later`` after them."""
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        ratio = (2.0 if block < 5 else later) if levels["system"] == CNOS else 1.0
        return {("load", "rows_per_second"): 1000 * ratio * math.exp(chance.gauss(0, noise))}

    measured_run.write(
        results, "run-1", {"system": [CNOS, INFLUX]}, value, blocks=blocks, database=False,
        declared=measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **one} for one in declared or ({},)]),
    )  # fmt: skip
    path = results / "runs" / "run-1" / "run.json"
    facts = json.loads(path.read_text())
    path.write_text(
        json.dumps({**facts, "sequential": design.stored(), **({"looks": looks} if looks else {})})
    )
    database.rebuild(results)


def judged(results: Path) -> list[Judgement]:
    return claims.judge_run(results, "run-1", measured_run.PUBLISHED)


def take(results: Path, block: int, left: Left = OPEN) -> dict[str, Any]:
    before = Run(results, "run-1").fact_list("looks")
    return stopping.take(results, "run-1", measured_run.PUBLISHED, DESIGN, block, left, before)


def look(block: int, decided: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"block": block, "level": DESIGN.level(block), "verdicts": {}, "decided": decided or [], "given_up": {},
            "undecided": {}, "cells": [], "stopped": None, **more}  # fmt: skip


def test_a_decided_claim_is_judged_for_ever_on_the_blocks_of_its_look(tmp_path: Path) -> None:
    write(tmp_path, 0.01, later=1.0, looks=[look(3), look(5, ["faster"]), look(12, stopped="the end")])
    [found] = judged(tmp_path)
    assert found.verdict == "reproduced"
    assert found.cells[0].trials == 5
    assert found.cells[0].ratio.confidence == pytest.approx(1 - DESIGN.level(5))
    assert "judged after 5 blocks (at most 12), at significance level" in sentence(found.reasons)
    assert f"the {100 * (1 - DESIGN.level(5)):.3g} % CI" in sentence(found.reasons)


def test_what_fails_after_a_look_changes_nothing_of_what_it_decided(tmp_path: Path) -> None:
    """Neither failed operations of later blocks nor a phase that was too short in one of them."""
    write(tmp_path, 0.01, looks=[look(3), look(5, ["faster"]), look(12, stopped="the end")])
    results = tmp_path / "runs" / "run-1" / "trials"
    for file in results.glob("*/trial.json"):
        trial = json.loads(file.read_text())
        late = trial["block"] >= 5
        seconds = 0.1 if late else 5.0
        trial["phases"] = [
            {"phase": "load", "workload": "load", "position": 0, "started_seconds": 0.0, "timed": True,
             "duration_seconds": seconds}
        ]  # fmt: skip
        if late:
            trial["errors"] = [{"phase": "load", "kind": "http", "message": "refused", "operations": 7}]
        file.write_text(json.dumps(trial))
    database.rebuild(tmp_path)
    assert Run(tmp_path, "run-1").frame("errors")["operations"].sum() == 7 * 7 * 2
    [found] = judged(tmp_path)
    assert found.verdict == "reproduced"
    assert (found.cells[0].trials, found.cells[0].failed, found.cells[0].unfit) == (5, 0, None)


def test_an_undecided_claim_is_judged_at_the_last_look(tmp_path: Path) -> None:
    write(tmp_path, 0.01, later=1.0, looks=[look(3), look(12, stopped="the maximum of 12 blocks is reached")])
    [found] = judged(tmp_path)
    assert found.cells[0].trials == 12
    assert found.verdict != "reproduced"


def test_the_interval_of_a_look_is_wider_than_that_of_a_fixed_run(tmp_path: Path) -> None:
    write(tmp_path / "looks", 0.1, looks=[look(12, stopped="the end")])
    write(tmp_path / "fixed", 0.1)
    path = tmp_path / "fixed/runs/run-1/run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sequential": None}))
    database.rebuild(tmp_path / "fixed")
    [ours], [fixed] = judged(tmp_path / "looks"), judged(tmp_path / "fixed")
    assert ours.measured == fixed.measured
    assert ours.low is not None
    assert fixed.low is not None
    assert ours.low < fixed.low


def test_a_run_without_a_look_yet_is_judged_as_the_first_look_will(tmp_path: Path) -> None:
    write(tmp_path, 0.01, blocks=7)
    [found] = judged(tmp_path)
    assert found.cells[0].trials == sequential.FIRST
    assert "The claims are not judged yet" in limits.looks(Run(tmp_path, "run-1"))


def test_a_look_stops_when_every_claim_is_decided(tmp_path: Path) -> None:
    write(tmp_path, 0.01, blocks=4)
    found = take(tmp_path, 4)
    assert found["decided"] == ["faster"]
    assert found["verdicts"]["faster"]["verdict"] == "reproduced"
    assert found["stopped"] == "every claim is decided"
    assert found["cells"] == []


def test_a_look_goes_on_with_the_cells_of_undecided_claims_alone(tmp_path: Path) -> None:
    write(tmp_path, 0.11, {"margin": 0.25}, {"id": "equal", "test": "equal", "published": None}, blocks=5)
    found = take(tmp_path, 5)
    assert "equal" in found["decided"]
    assert list(found["undecided"]) == ["faster"]
    assert 0 < found["undecided"]["faster"]["chance"] <= 1
    assert set(found["cells"]) == {f"system={CNOS}", f"system={INFLUX}"}
    assert found["stopped"] is None
    assert "equal is decided (fails); undecided: faster" in look_words(found)


def test_the_chance_is_that_of_the_last_look_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = []

    class Asked:
        def chance(self, _trials: int, _wanted: object, level: float, **_: object) -> float:
            levels.append(level)
            return 0.5

    monkeypatch.setattr(stopping, "question", lambda _: Asked())
    write(tmp_path, 0.8, blocks=5)
    assert take(tmp_path, 5)["undecided"] == {"faster": {"chance": 0.5, "trials": None}}
    assert levels == [DESIGN.level(12)]
    assert DESIGN.level(12) != DESIGN.level(5)


def test_a_hopeless_claim_is_given_up_with_the_trials_that_it_would_take(tmp_path: Path) -> None:
    write(tmp_path, 0.8, blocks=11)
    found = take(tmp_path, 11)
    held = found["given_up"]["faster"]
    [why] = held["reasons"]
    assert why == {"code": "hopeless", "facts": {"blocks": 12, "least": 0.05, "trials": held["trials"]}}
    assert "faster is given up: its chance of a verdict within 12 blocks is below 5 %" in look_words(found)
    assert held["trials"] is None or held["trials"] > 12
    assert found["stopped"] == "more blocks could not decide the 1 claim left"


def test_the_last_look_says_what_ended_the_run(tmp_path: Path) -> None:
    write(tmp_path, 0.15, blocks=5)
    found = take(tmp_path, 5, Left(5, "the budget of 60 s has no room for another block"))
    assert found["stopped"] == "the budget of 60 s has no room for another block"
    assert found["undecided"]["faster"]["trials"] > 5


def test_a_claim_that_no_trial_can_decide_does_not_keep_a_run_going(tmp_path: Path) -> None:
    write(tmp_path, 0.01, {"of": {"system": "cnosdb-2.4"}, "id": "absent"}, blocks=3)
    found = take(tmp_path, 3)
    assert found["given_up"]["absent"]["reasons"] == [
        {"code": "final", "facts": {"holds": "out of reach here"}}
    ]
    assert found["stopped"]


def test_a_settled_claim_is_not_judged_again(tmp_path: Path) -> None:
    write(tmp_path, 0.01, later=1.0, blocks=8, looks=[look(3, ["faster"])])
    found = take(tmp_path, 8)
    assert found["verdicts"] == {}
    assert found["stopped"] == "every claim is decided"


def test_the_report_says_how_many_looks_there_were_and_why_it_ended(tmp_path: Path) -> None:
    write(tmp_path, 0.01, looks=[look(3), look(5, ["faster"], stopped="every claim is decided")])
    run = Run(tmp_path, "run-1")
    assert limits.looks(run) == (
        "The run ended after 5 blocks (at most 12), and its claims were judged 2 times. "
        "Why it ended: every claim is decided."
    )
    assert any("other intervals on this page are not" in words for words in limits.limits(run))


def test_earlier_runs_of_the_experiment_are_counted_in_the_limits(tmp_path: Path) -> None:
    write(tmp_path, 0.01)
    path = tmp_path / "runs/run-1/run.json"
    earlier = {"run_id": "run-0", "profile": "quick", "revision": "0123456789", "machine": measured_run.MACHINE,
               "against_itself": False, "finished": False, "trials": 4}  # fmt: skip
    other = {**earlier, "machine": "fedcba9876543210"}
    path.write_text(json.dumps({**json.loads(path.read_text()), "earlier_runs": [earlier, other]}))
    database.rebuild(tmp_path)
    words = [one for one in limits.limits(Run(tmp_path, "run-1")) if "Earlier runs" in one]
    assert words == [
        "Earlier runs of this experiment on this machine: 1 of profile quick. run.json names each of them."
    ]


def test_the_power_of_a_run_is_that_of_another_one_like_it(tmp_path: Path) -> None:
    write(tmp_path, 0.1, looks=[look(4, stopped="the end")], blocks=4)
    [found] = prospect.of_run(Run(tmp_path, "run-1"), measured_run.PUBLISHED)
    assert found.trials == 4
    assert found.ratio == pytest.approx(2.0, rel=0.2)
    assert 0.05 < found.spread < 0.4
    assert found.needed is not None
    assert found.seconds == pytest.approx(found.needed * 2.0)  # two cells of one second
