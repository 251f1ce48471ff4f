"""Outcomes of a run: verdicts on its claims, or on its comparisons if it has none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from benchbook.analyse.run import open_run
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.claim import OWN
from benchbook.declare.publication import Publication
from benchbook.record import database
from benchbook.report import claim
from benchbook.site import outcome, overview
from benchbook.site.outcome import outcomes
from tests.record import synthetic_run

FACTOR = 400_000 / 180_000
"""The factor by which the synthetic DuckDB loads faster."""


def run_with_claims(results: Path, *published: float):
    run_id = synthetic_run.write(results)
    path = results / "runs" / run_id / "run.json"
    facts = json.loads(path.read_text())
    facts["declared"]["experiment"]["claims"] = [
        {
            "id": f"faster-{number}",
            "statement": f"DuckDB loads {ratio} times as fast as SQLite",
            "source": "a page that does not exist",
            "test": "ratio",
            "phase": "load",
            "metric": "rows_per_second",
            "of": {"system": "duckdb"},
            "over": {"system": "sqlite"},
            "published": {"ratio": ratio},
            "margin": 0.2,
        }
        for number, ratio in enumerate(published)
    ]
    path.write_text(json.dumps(facts))
    database.rebuild(results)
    return open_run(results, run_id)


def test_claims_have_their_verdicts_and_a_picture(tmp_path):
    run = run_with_claims(tmp_path / "results", FACTOR, 0.5)
    found = outcomes(run)
    assert [one.statement for one in found] == [
        f"DuckDB loads {ratio} times as fast as SQLite" for ratio in (FACTOR, 0.5)
    ]
    assert [one.verdict for one in found] == ["holds", "reversed"]
    assert found[1].published == 0.5
    rows = [overview.row(run, one, None) for one in outcome.published_claims(run)]
    made = overview.figure("Two claims", rows)
    [reversed_] = [
        row for row in made.markup.split("<li ") if "DuckDB loads 0.5 times as fast as SQLite" in row[:600]
    ]
    assert "published 0.500" in reversed_
    assert "reversed here" in reversed_
    assert "← SQLite 3.45.1 faster" in reversed_
    assert "DuckDB 1.5.6 faster →" in reversed_


def test_without_claims_every_comparison_with_the_baseline(made):
    plain = made()
    found = outcomes(plain)
    assert {one.verdict for one in found} <= {"better", "worse", "undecided", "no difference"}
    assert found[0].statement == "SQLite 3.45.1 compared with DuckDB 1.5.6: Rows loaded per second"
    assert found[0].verdict == "worse"
    said = outcome.tool_finding(plain)
    assert said.startswith("DuckDB 1.5.6 ")
    assert "Rows loaded per second: 2.28 times better in 1 of 1." in said


def test_a_baseline_that_is_undecided_once_has_not_won_everything(made, monkeypatch):
    plain = made()
    [one, *_] = outcome.compared(plain)
    for undecided, head in (
        (0, "was better than SQLite 3.45.1 in all 3 comparisons"),
        (2, "compared with SQLite"),
    ):
        open_ = replace(one, outcome=replace(one.outcome, verdict="undecided"))
        held = [*[one] * (3 - undecided), *[open_] * undecided]
        monkeypatch.setattr(outcome, "compared", lambda _, held=held: held)
        assert head in outcome.tool_finding(plain)


def test_claims_on_other_setups_leave_the_comparisons(tmp_path):
    run = run_with_claims(tmp_path / "results", FACTOR)
    path = run.results / "runs" / run.run_id / "run.json"
    facts = json.loads(path.read_text())
    facts["declared"]["experiment"]["claims"][0]["of"] = {"system": "mysql-9.7"}
    path.write_text(json.dumps(facts))
    database.rebuild(run.results)
    found = outcomes(open_run(run.results, run.run_id))
    assert found[0].statement == "SQLite 3.45.1 compared with DuckDB 1.5.6: Rows loaded per second"
    assert {one.word for one in found} == {""}


def test_different_answers_leave_nothing_to_judge(made):
    run = made(wrong_answers_of="sqlite")
    assert outcomes(run) == []
    assert outcome.tool_finding(run).startswith("No comparison")


def test_a_question_of_ours_is_no_published_claim(tmp_path):
    run = run_with_claims(tmp_path / "results", FACTOR, 0.5)
    path = run.results / "runs" / run.run_id / "run.json"
    facts = json.loads(path.read_text())
    facts["declared"]["experiment"]["claims"][0]["statement"] = f"{OWN} a question"
    path.write_text(json.dumps(facts))
    database.rebuild(run.results)
    again = open_run(run.results, run.run_id)
    assert [one.id for one in outcome.published_claims(again)] == ["faster-1"]
    assert outcome.groups(outcome.published_claims(again)) == {"reversed": 1}


def test_the_lead_claim_is_on_the_first_conclusion_else_the_first_ratio(tmp_path, monkeypatch):
    run = run_with_claims(tmp_path / "results", FACTOR, 0.5)
    named = Publication(title="A page", claimed="DuckDB is faster.", of="Ducks", over="the lite one")
    first = outcome.lead(run)
    assert first is not None
    assert first.id == "faster-0"
    monkeypatch.setattr(Catalogue, "claims", lambda *_: {"faster-1": {"conclusion": 1}})
    lead = outcome.lead(run)
    assert lead is not None
    assert lead.id == "faster-1"
    said = claim.found(run, lead)
    assert said.startswith("DuckDB 1.5.6 loaded 2.2")
    assert "times as many rows per second as SQLite 3.45.1 (95 % CI " in said
    assert said.endswith("; the claim is a ratio of 0.500.")  # quickstart reruns no publication
    assert outcome.ends(lead, outcome.names(run, lead, named)) == ("lite one faster", "Ducks faster")
    assert "trials of each side" in outcome.caveat(run, lead)
