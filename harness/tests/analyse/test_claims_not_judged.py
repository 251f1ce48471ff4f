"""Claims that a run cannot decide: what they ask for is not in it, or its work is not comparable."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse.claim_notes import declared_later
from benchbook.declare.claim import Claim
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, INFLUX, OTHER, only, twice


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"factors": {"system": [INFLUX]}}, "cnosdb-2.0.1 is not in this run"),
        (
            {
                "status": lambda levels, block: (
                    ("skipped", "no program.") if levels["system"] == CNOS else ("ok", None)
                )
            },
            "every trial of cnosdb-2.0.1 is skipped (no program)",
        ),
        (
            {"claim": {"where": {"workers": 200}}, "factors": {"system": [CNOS, INFLUX], "workers": [100]}},
            "workers 200",
        ),
        ({"claim": {"versions": {CNOS: "2.0.1"}}}, "stated version 1.0, and the claim is about 2.0.1"),
    ],
)
def test_what_the_run_lacks_is_not_run(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    found = only(tmp_path, twice, **options)
    assert (found.verdict, words in sentence(found.reasons)) == ("not run", True), sentence(found.reasons)


def test_a_skipped_side_is_named_with_its_system_and_the_level_it_differs_in(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        twice,
        claim={"of": {"workers": 200}, "over": {"workers": 100}, "where": {"system": CNOS}},
        factors={"system": [CNOS], "workers": [100, 200]},
        status=lambda levels, block: ("skipped", "no program: nowhere."),
    )
    assert f"every trial of {CNOS}, workers 200 is skipped (no program)" in sentence(found.reasons)


def test_a_version_that_the_claim_names_counts(tmp_path: Path) -> None:
    assert only(tmp_path, twice, claim={"versions": {CNOS: "1"}}).verdict == "reproduced"


def test_a_substitute_is_shown_and_not_judged(tmp_path: Path) -> None:
    found = only(
        tmp_path, lambda levels: 2.0 if levels["system"] == OTHER else 1.0,
        claim={"substitutes": {CNOS: OTHER}}, factors={"system": [OTHER, INFLUX]},
    )  # fmt: skip
    assert found.verdict == "substitute only"
    assert found.measured == pytest.approx(2, rel=0.03)
    assert "cnosdb-2.4 is in place of cnosdb-2.0.1" in sentence(found.reasons)
    assert "for the substitute alone the answer would be: holds as published" in sentence(found.reasons)


def test_a_substitute_that_misses_a_precondition_shows_nothing(tmp_path: Path) -> None:
    cap = {
        "metric": "rows_per_second",
        "at_most": 1500,
        "why": "The tool writes at most 1,600 rows per second.",
    }
    found = only(
        tmp_path, lambda levels: 2.0 if levels["system"] == OTHER else 1.0,
        claim={"substitutes": {CNOS: OTHER}, "requires": [cap]}, factors={"system": [OTHER, INFLUX]},
    )  # fmt: skip
    assert found.verdict == "substitute only"
    said = sentence(found.reasons)
    assert "for the substitute alone the answer would be: out of reach here" in said
    assert "at most 1,500 per second is needed" in said


def test_with_failed_operations_nothing_is_judged(tmp_path: Path) -> None:
    failed = [{"phase": "load", "kind": "refused", "operations": 3, "rows": 30}]
    found = only(
        tmp_path,
        twice,
        errors=lambda levels, block: failed if block == 0 and levels["system"] == CNOS else [],
    )
    assert found.verdict == "inconclusive"
    assert sentence(found.reasons).startswith("3 operations failed")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda levels: {"dataset_digest": levels["system"]}, "2 different versions of one dataset"),
        (lambda levels: {"queries_digest": levels["system"]}, "2 different versions of one query set"),
    ],
)
def test_different_work_is_not_judged(tmp_path: Path, changes: Any, words: str) -> None:
    found = only(tmp_path, twice, changes=changes)
    assert (found.verdict, words in sentence(found.reasons)) == ("inconclusive", True), sentence(
        found.reasons
    )


@pytest.mark.parametrize(("wrong", "verdict"), [(None, "reproduced"), (CNOS, "inconclusive")])
def test_different_answers_are_not_judged(tmp_path: Path, wrong: str | None, verdict: str) -> None:
    def answers(levels: dict[str, Any]) -> list[dict[str, Any]]:
        value = 2.0 if levels["system"] == wrong else 1.0
        return [
            {"v": 1, "type": "answer", "phase": "answers", "query_type": "q", "id": f"q-{number}",
             "digest": f"{value}", "columns": ["time_ns", "max"], "row_count": 1, "rows": [[number, value]]}
            for number in range(20)
        ]  # fmt: skip

    found = only(tmp_path, twice, answers=answers)
    assert found.verdict == verdict, sentence(found.reasons)
    assert ("not judged: the answers of the systems to q differ in" in sentence(found.reasons)) == (
        wrong is not None
    )


def test_the_cases_of_a_refused_claim_show_nothing(tmp_path: Path) -> None:
    """Else a page would say "holds" beside cases whose systems gave different answers."""
    factors = {"system": [CNOS, INFLUX], "workers": [100, 200]}
    other = {"factors": factors, "changes": lambda levels: {"queries_digest": levels["system"]}}
    found = only(tmp_path, twice, **other)
    assert found.verdict == "inconclusive"
    assert len(found.cells) == 2
    assert all(
        cell.unfit and (cell.verdict, cell.answer.holds) == ("inconclusive", "open") for cell in found.cells
    )


@pytest.mark.parametrize(
    ("older", "found"),
    [
        ([BASE], 0),
        ([{**BASE, "statement": "Other words"}], 0),
        ([{**BASE, "id": "other"}], 1),
        ([{**BASE, "published": {"ratio": 9.0}}], 1),
        ([{"id": "faster", "test": "unknown"}], 1),
        ([], 1),
    ],
)
def test_runs_that_did_not_declare_the_claim_are_said(older: list[Any], found: int) -> None:
    """Whoever declares a claim, or another bound, after a run may have seen its numbers."""
    claim = Claim.model_validate(BASE)
    groups: Any = [
        [
            SimpleNamespace(run_id="a", declared={"claims": [BASE]}),
            SimpleNamespace(run_id="b", declared={"claims": older}),
        ],
        [SimpleNamespace(run_id="not-used", declared={})],
    ]
    said = declared_later(claim, {"a", "b"}, groups)
    assert [(one.code, dict(one.facts)) for one in said] == [("declared-later", {"runs": 1, "of": 2})][:found]
    assert declared_later(claim, {"a"}, groups) == []
