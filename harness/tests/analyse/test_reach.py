"""Preconditions and corrections of claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.declare.claim import Claim
from benchbook.report import claim as words
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, FROM_FILE, INFLUX, MANY, judge, table, twice

CAP = {"metric": "rows_per_second", "at_most": 1500, "why": "The tool writes at most 1,600 rows per second."}
"""In these runs, the rates are 2,000 and 1,000 rows per second."""
WORKERS = {"factor": "workers", "at_least": 100, "why": "The text is about 100 workers."}


@pytest.mark.parametrize(
    ("requires", "verdict"),
    [
        ([CAP], "out of reach here"),
        ([{**CAP, "side": "of"}], "out of reach here"),
        ([{**CAP, "side": "over"}], "reproduced"),
        ([{**CAP, "at_most": 3000}], "reproduced"),
        ([{**CAP, "at_most": None, "at_least": 900}], "reproduced"),
        ([{**CAP, "at_most": 3000}, {**CAP, "at_most": None, "at_least": 1500}], "out of reach here"),
        ([{**CAP, "metric": "server_read_bytes"}], "out of reach here"),  # it was not measured
        ([WORKERS], "out of reach here"),
        ([{**WORKERS, "at_least": 12}], "reproduced"),
    ],
)
def test_a_claim_whose_precondition_is_not_met_is_out_of_reach(
    tmp_path: Path, requires: list[dict[str, Any]], verdict: str
) -> None:
    factors = {"system": [CNOS, INFLUX], "workers": [12]}
    [found] = judge(tmp_path, twice, {"requires": requires}, factors=factors)
    assert found.verdict == verdict
    assert found.measured == pytest.approx(2, rel=0.02)


FULL = {"error": "cache-max-memory-size exceeded", "why": "The publication names this error."}


@pytest.mark.parametrize(
    ("messages", "side", "verdict"),
    [
        ([], "both", "reproduced"),
        (["engine: cache-max-memory-size exceeded: (…/1073741824)"], "both", "reproduced"),
        (["timeout"], "both", "out of reach here"),
        (["timeout", "cache-max-memory-size exceeded"], "of", "out of reach here"),
        (["timeout"], "over", "reproduced"),  # only CnosDB failed
    ],
)
def test_a_claim_on_one_error_is_out_of_reach_where_operations_fail_with_another(
    tmp_path: Path, messages: list[str], side: str, verdict: str
) -> None:
    def errors(levels: dict[str, Any], block: int) -> list[dict[str, Any]]:
        failed = messages if levels["system"] == CNOS else []
        common = {"phase": "load", "kind": "server", "status": 500, "operations": 3, "rows": 30}
        return [{**common, "message": message} for message in failed]

    claim = {"metric": "acknowledged_fraction", "requires": [{**FULL, "side": side}]}
    [found] = judge(tmp_path, twice, claim, errors=errors)
    assert found.verdict == verdict
    said = '15 operations of cnosdb-2.0.1 failed with timeout, and only "cache-max-memory-size exceeded" may occur'
    assert (said in sentence(found.reasons)) == (verdict == "out of reach here")


def test_errors_of_trials_that_do_not_count_put_no_claim_out_of_reach(tmp_path: Path) -> None:
    def errors(levels: dict[str, Any], block: int) -> list[dict[str, Any]]:
        common = {"phase": "load", "kind": "connection", "status": None, "operations": 3, "rows": 30}
        return [{**common, "message": "connection reset"}] if block == 0 else []

    claim = {"metric": "acknowledged_fraction", "requires": [FULL]}
    failed = ("invalid", "the clock jumped")
    [found] = judge(
        tmp_path, twice, claim, errors=errors, status=lambda levels, block: ("ok", None) if block else failed
    )
    assert found.verdict != "out of reach here"


def test_a_machine_of_which_nothing_is_known_is_not_taken_for_a_physical_one(tmp_path: Path) -> None:
    requires = [{"machine": "physical", "why": "The device of a virtual machine is a file on others."}]
    [found] = judge(tmp_path, twice, {"requires": requires}, host={})
    assert found.verdict == "out of reach here"
    assert "this may be a virtual machine" in sentence(found.reasons)


@pytest.mark.parametrize(
    ("flag", "verdict"),
    [(True, "out of reach here"), (False, "reproduced"), ("not readable: x", "reproduced")],
)
def test_a_claim_on_hardware_is_out_of_reach_on_a_virtual_machine(
    tmp_path: Path, flag: bool | str, verdict: str
) -> None:
    requires = [{"machine": "physical", "why": "The device of a virtual machine is a file on others."}]
    host = {"virtualisation": {"hypervisor_flag": flag, "hypervisor": "none"}}
    [found] = judge(tmp_path, twice, {"requires": requires}, host=host)
    assert found.verdict == verdict
    assert ("a physical one is needed" in sentence(found.reasons)) == (verdict == "out of reach here")


@pytest.mark.parametrize("published", [{"ratio": 2.0}, {"ratio": 0.5}])
def test_it_is_neither_reproduced_nor_contradicted_and_shows_both_values(
    tmp_path: Path, published: dict[str, float]
) -> None:
    [found] = judge(tmp_path, twice, {"requires": [CAP], "published": published})
    assert found.verdict == "out of reach here"
    assert found.fit is None
    said = sentence(found.reasons)
    assert "is 2,0" in said
    assert "at most 1,500 per second is needed: The tool writes at most 1,600 rows per second;" in said
    assert "cannot be tested here" in words.meaning(found)


@pytest.mark.parametrize(
    ("needed", "verdict"),
    [("all", "out of reach here"), ("most", "out of reach here"), ("any", "reproduced")],
)
def test_the_cases_that_meet_it_are_judged_if_they_are_enough(
    tmp_path: Path, needed: str, verdict: str
) -> None:
    factors = {"system": [CNOS, INFLUX], "workers": [12, 100]}
    [found] = judge(tmp_path, twice, {"requires": [WORKERS], "in_cells": needed}, factors=factors)
    assert found.verdict == verdict
    assert "number in flight of" in sentence(found.reasons)


@pytest.mark.parametrize(("declared", "verdict"), [(False, "contradicted"), (True, "reproduced")])
def test_a_run_made_before_a_correction_is_judged_by_the_corrected_claim_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: bool, verdict: str
) -> None:
    """A run that declared the correction is judged by what it declared."""
    correction = {"date": "2026-03-02", "reason": "The page says half, not twice."}
    today = Claim.model_validate({**BASE, "published": {"ratio": 0.5}, "corrected": [correction]})
    monkeypatch.setattr(claims, "_claims_of_today", lambda *_: (today,))
    [found] = judge(tmp_path, twice, {"corrected": [correction]} if declared else {})
    assert found.verdict == verdict
    note = "the claim was declared after this run: corrected on 2026-03-02 (The page says half, not twice)"
    assert (note in sentence(found.reasons)) != declared


def test_a_run_made_before_a_claim_was_added_as_a_correction_is_judged_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another claim that is new today is none of the run's, even if it was corrected since."""
    correction = {"date": "2026-03-02", "reason": "The page says it of all cases."}
    added = Claim.model_validate({**BASE, "id": "added", "added": True, "corrected": [correction]})
    new = Claim.model_validate({**BASE, "id": "new", "corrected": [correction]})
    monkeypatch.setattr(claims, "_claims_of_today", lambda *_: (added, new))
    before, found = judge(tmp_path, twice, {})
    assert (before.id, found.id, found.verdict) == ("faster", "added", "reproduced")
    assert "the claim was declared after this run: corrected on 2026-03-02" in sentence(found.reasons)
    assert "declared after" not in sentence(before.reasons)


def test_a_corrected_claim_is_judged_by_the_published_numbers_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    correction = {"date": "2026-03-02", "reason": "Its numbers are in a file now."}
    today = Claim.model_validate({**BASE, **FROM_FILE, "corrected": [correction]})
    monkeypatch.setattr(claims, "_claims_of_today", lambda *_: (today,))
    monkeypatch.setattr(claims, "_numbers", lambda _: {})
    [found] = judge(tmp_path, table, {}, factors=MANY["factors"])
    assert found.verdict == "reproduced"
    assert {cell.published_over for cell in found.cells} == {25_000, 490_000, 570_000, 610_000, 540_000}


def test_a_case_that_misses_it_is_not_judged_and_hides_no_contradiction(tmp_path: Path) -> None:
    """Of two cases that must hold, one goes the other way and one cannot be tested."""
    factors = {"system": [CNOS, INFLUX], "workers": [12, 100]}
    [found] = judge(tmp_path, twice, {"requires": [WORKERS], "published": {"ratio": 0.5}}, factors=factors)
    assert found.verdict == "contradicted"
    assert [cell.unfit.code if cell.unfit else None for cell in found.cells] == ["out-of-reach", None]
    assert [cell.verdict for cell in found.cells] == ["inconclusive", "contradicted"]


def test_a_precondition_of_some_cases_is_needed_there_alone(tmp_path: Path) -> None:
    """The claim names batches of 20,000 rows, and the profile has batches of 2,000 in their place."""
    requires = [{**CAP, "where": {"batch_size": [10_000, 20_000]}}]
    factors = {"system": [CNOS, INFLUX], "batch_size": [100, 1000, 2000]}
    in_place = {"batch_size": {"1000": 100, "10000": 1000, "20000": 2000}}
    cells = [{"levels": {"batch_size": rows}, "ratio": 2.0} for rows in (1000, 10_000, 20_000)]
    claim = {"across": ["batch_size"], "published": {"cells": cells}, "requires": requires}
    [found] = judge(tmp_path, twice, claim, factors=factors, in_place=in_place)
    unfit = [cell.unfit.code if cell.unfit else None for cell in found.cells]
    assert unfit == [None, "out-of-reach", "out-of-reach"]
    assert found.verdict == "out of reach here"
    said = sentence(found.reasons)
    assert "2 of 3 cases cannot be tested here; the first of them: rows loaded per second of" in said


def test_agreement_has_no_precondition() -> None:
    agree = {**BASE, "test": "agree", "published": None, "requires": [WORKERS]}
    with pytest.raises(ValueError, match='test "agree" compares answers, which need no precondition'):
        Claim.model_validate(agree)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at_least": 1}, "exactly one of `at_least` and `at_most`; found at_least and at_most"),
        ({"at_most": None}, "exactly one of `at_least` and `at_most`; found none"),
        (
            {"factor": "workers"},
            "exactly one of `metric`, `factor`, `error` and `machine`; found metric and factor",
        ),
        ({"metric": None}, "exactly one of `metric`, `factor`, `error` and `machine`; found none"),
        ({"metric": None, "error": "full"}, "`at_least` and `at_most` are bounds of `metric` and `factor`"),
        ({"metric": None, "factor": "workers", "phase": "load"}, "`phase` belongs to `metric`"),
    ],
)
def test_a_precondition_has_one_value_and_one_bound(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Claim.model_validate({**BASE, "requires": [{**CAP, **change}]})
