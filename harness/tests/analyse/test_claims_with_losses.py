"""Trials that crashed, did nothing, lost rows or were too short never make a claim look reproduced."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from benchbook.record.check import Kind
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, FROM_FILE, INFLUX, MANY, SIZES, judge, only, table, twice
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")
Status = Callable[[dict[str, Any], int], tuple[str, str | None]]


def crashed(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
    """Return the status of a system that dies at one of five batch sizes."""
    if levels["system"] == CNOS and levels["batch_size"] == 5000:
        return "failed", "the server died (signal 11)"
    return "ok", None


def test_a_side_that_crashes_in_every_trial_of_one_setup_is_not_reproduced(tmp_path: Path) -> None:
    found = only(tmp_path, table, claim=FROM_FILE, status=crashed, **MANY)
    assert found.verdict == "inconclusive"
    assert "lost in 1 (batches of 5,000: 5 of 5 trials of" in sentence(found.reasons)
    assert "the server died (signal 11)" in sentence(found.reasons)
    assert "holds as published in 4" in sentence(found.reasons)


def test_most_setups_may_hold_without_the_one_that_crashed(tmp_path: Path) -> None:
    found = only(tmp_path, table, claim={**FROM_FILE, "in_cells": "most"}, status=crashed, **MANY)
    assert found.verdict == "reproduced"
    assert "the server died" in sentence(found.reasons)


def test_a_crash_of_one_setup_does_not_hide_that_another_contradicts(tmp_path: Path) -> None:
    found = only(tmp_path, lambda levels: 1 / table(levels), claim=FROM_FILE, status=crashed, **MANY)
    assert found.verdict == "contradicted"


def test_a_setup_that_was_planned_and_skipped_is_missing(tmp_path: Path) -> None:
    def said(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
        skipped = levels["system"] == CNOS and levels["batch_size"] == 1
        return ("skipped", "too little memory: 8 GB are needed.") if skipped else ("ok", None)

    claim = {"test": "at-most", "published": {"ratio": 3}}
    found = only(tmp_path, table, claim=claim, status=said, **MANY)
    assert found.verdict == "inconclusive"
    assert f"every trial of {CNOS}, batch size 1 is skipped (too little memory)" in sentence(found.reasons)


@pytest.mark.parametrize("side", [CNOS, INFLUX])
@pytest.mark.parametrize("lost", [1, 3])
@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_a_claim_with_lost_trials_is_inconclusive(tmp_path: Path, status: str, lost: int, side: str) -> None:
    def said(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
        return (status, "the disk was full") if levels["system"] == side and block < lost else ("ok", None)

    found = only(tmp_path, twice, blocks=8, status=said)
    assert found.verdict == "inconclusive"
    verb = "does" if lost == 1 else "do"
    assert f"{lost} of 8 trials of {side} {verb} not count (the disk was full)" in sentence(found.reasons)
    assert found.measured == pytest.approx(2, rel=0.03)  # shown beside it


def blocked(tmp_path: Path, rate: Callable[[dict[str, Any], int], float], **options: Any) -> Judgement:
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: 1000 * rate(levels, block) * math.exp(chance.gauss(0, 0.01))}

    claim = {**BASE, **options.pop("claim", {})}
    declared = measured_run.experiment("cnos-vs-influx", claims=[claim])
    options = {"factors": {"system": [CNOS, INFLUX]}, "blocks": 6, **options}
    measured_run.write(tmp_path, "run-1", value=value, declared=declared, **options)
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    return found


@pytest.mark.parametrize("side", [CNOS, INFLUX])
def test_a_trial_that_loads_nothing_is_not_left_out(tmp_path: Path, side: str) -> None:
    found = blocked(
        tmp_path,
        lambda levels, block: 0.0 if levels["system"] == side and block == 4 else twice(levels),
        blocks=20,
    )
    assert found.verdict == "inconclusive"
    assert f"1 of 20 trials of {side} measured a rate of 0" in sentence(found.reasons)
    assert found.cells[0].trials == 20


@pytest.mark.parametrize("side", [CNOS, INFLUX])
def test_a_system_that_loads_nothing_at_all_has_no_ratio(tmp_path: Path, side: str) -> None:
    found = blocked(tmp_path, lambda levels, block: 0.0 if levels["system"] == side else 1.0)
    assert found.verdict == "inconclusive"
    assert "all values of one side are zero" in sentence(found.reasons)


def test_a_stall_of_one_side_is_marked_and_decides_nothing_alone(tmp_path: Path) -> None:
    def stalled(levels: dict[str, Any], block: int) -> float:
        return twice(levels) / (5 if levels["system"] == CNOS and block == 2 else 1)

    found = blocked(tmp_path, stalled, blocks=12)
    assert found.verdict == "reproduced"
    assert "1 outlier, kept" in sentence(found.reasons)
    assert found.cells[0].trials == 12


# A defect outside the phase that a claim is about.


def judged_by_phase(
    tmp_path: Path,
    checks: list[dict[str, Any]],
    status: str = "invalid",
    rate: Callable[[dict[str, Any], int], float] = lambda levels, block: twice(levels),
    **options: Any,
) -> Judgement:
    """Judge a run of which one side's trials all have a defect."""

    def said(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
        return (status, "rows in cpu: 100 expected") if levels["system"] == CNOS else ("ok", None)

    claim = {"validity": "phase", **options.pop("claim", {})}
    return blocked(
        tmp_path, rate, status=said, claim=claim, measured_although=("ok", status),
        checks=lambda levels, block: checks if levels["system"] == CNOS else [], **options,
    )  # fmt: skip


def check(kind: Kind, expected: int, found: int) -> dict[str, Any]:
    """Return a check whose name says nothing, as no verdict may depend on it."""
    return {"kind": kind, "name": "?", "expected": expected, "found": found, "ok": expected == found}


MORE, FEWER = check("rows", 100, 104), check("rows", 100, 99)


def test_a_system_that_counts_more_rows_than_were_written_still_loaded_them(tmp_path: Path) -> None:
    found = judged_by_phase(tmp_path, [MORE])
    assert found.verdict == "reproduced"
    assert "6 of 6 trials of cnosdb-2.0.1 have a defect outside this phase (rows in cpu: 100" in sentence(
        found.reasons
    )
    assert found.cells[0].trials == 6


def test_checks_of_older_runs_have_the_kind_that_their_name_says(tmp_path: Path) -> None:
    more = {"name": "rows in cpu", "expected": 100, "found": 104, "ok": False}
    assert judged_by_phase(tmp_path / "more", [more]).verdict == "reproduced"
    assert judged_by_phase(tmp_path / "unknown", [{**more, "name": "cpu has rows"}]).verdict == "not run"


def test_a_claim_that_needs_valid_trials_is_not_run_on_such_a_system(tmp_path: Path) -> None:
    found = judged_by_phase(tmp_path, [MORE], claim={"validity": "trial"})
    assert found.verdict == "not run"
    assert "every trial of cnosdb-2.0.1 is invalid" in sentence(found.reasons)


@pytest.mark.parametrize(
    "checks",
    [
        [FEWER],
        [MORE, FEWER],
        [check("limits", 1000, 2000)],
        [check("other", 0, 3)],
        [],  # invalid for another reason than a check: another version, a clock that jumped
    ],
)
def test_a_trial_that_lost_rows_or_ran_otherwise_does_not_count(
    tmp_path: Path, checks: list[dict[str, Any]]
) -> None:
    found = judged_by_phase(tmp_path, checks)
    assert found.verdict == "not run"
    assert found.measured is None


def test_a_query_that_fails_leaves_the_load_of_its_trial(tmp_path: Path) -> None:
    assert judged_by_phase(tmp_path / "load", [], "failed").verdict == "reproduced"
    answers = [check("answers", 20, 3)]
    assert judged_by_phase(tmp_path / "answers", answers).verdict == "reproduced"


def test_operations_that_failed_in_the_phase_count_in_invalid_trials_too(tmp_path: Path) -> None:
    failed = [{"phase": "load", "kind": "refused", "operations": 3, "rows": 30}]
    found = judged_by_phase(
        tmp_path, [MORE], errors=lambda levels, block: failed if levels["system"] == CNOS else []
    )
    assert found.verdict == "inconclusive"
    assert "18 operations failed" in sentence(found.reasons)


@pytest.mark.parametrize(
    ("metric", "seconds", "verdict"),
    [
        ("rows_per_second", 0.4, "inconclusive"),
        ("rows_per_second", 1.0, "reproduced"),
        ("latency_p99", 0.4, "inconclusive"),
        ("settled_seconds", 0.4, "reproduced"),
    ],
)
def test_a_rate_of_a_short_phase_decides_nothing(
    tmp_path: Path, metric: str, seconds: float, verdict: str
) -> None:
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", metric): twice(levels) * math.exp(chance.gauss(0, 0.01))}

    declared = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, "metric": metric}])
    measured_run.write(
        tmp_path, "run-1", {"system": [CNOS, INFLUX]}, value, declared=declared,
        # One trial of one side is enough.
        seconds=lambda levels, block: seconds if (levels["system"], block) == (INFLUX, 3) else 10.0,
    )  # fmt: skip
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    assert found.verdict == verdict, sentence(found.reasons)
    short = "the phase load lasted 0.4 s, and one under 1 s is not judged" in sentence(found.reasons)
    assert short == (verdict == "inconclusive")


@pytest.mark.parametrize(
    ("asked", "state", "verdict"),
    [
        ("cold", "lukewarm", "inconclusive"),
        ("cold", "cold", "reproduced"),
        ("warm", "lukewarm", "reproduced"),
    ],
)
def test_a_claim_on_cold_caches_is_not_judged_on_others(
    tmp_path: Path, asked: str, state: str, verdict: str
) -> None:
    [found] = judge(
        tmp_path,
        twice,
        {},
        changes=lambda levels: {"cache_state": state if levels["system"] == CNOS else "cold"},
        plan={"phases": [{"name": "load", "workload": "query", "options": {"cache": asked}}]},
    )
    assert found.verdict == verdict, sentence(found.reasons)
    words = "load asked for cold caches, and in 5 of 5 trials of cnosdb-2.0.1"
    assert (words in sentence(found.reasons)) == (verdict == "inconclusive")


def test_a_short_phase_of_an_invalid_trial_counts_where_the_phase_does(tmp_path: Path) -> None:
    found = judged_by_phase(tmp_path, [MORE], seconds=lambda levels, block: 0.3 + block)
    assert found.verdict == "inconclusive"
    assert "lasted 0.3 s" in sentence(found.reasons)


def test_what_was_published_in_five_setups_is_not_judged_on_one(tmp_path: Path) -> None:
    fewer = {"factors": {**MANY["factors"], "batch_size": SIZES[:1]}}
    found = only(tmp_path, table, claim=FROM_FILE, **fewer)
    assert found.verdict == "inconclusive"
    assert (
        "5 cases, and the claim must hold in all of them: judged one by one, holds as published in 1 (batches of 1), "
        "4 not run" in sentence(found.reasons)
    )
