"""Outcomes of a run: verdicts on its claims, or on its comparisons if it has none."""

from __future__ import annotations

import json
from pathlib import Path

from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown
from benchbook.site import index
from benchbook.site.index import outcomes
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
    for trial in (results / "runs" / run_id).glob("trials/*/trial.json"):
        said = json.loads(trial.read_text())
        for phase in said["phases"]:
            phase["duration_seconds"] += 2.0  # a phase under a second decides nothing
        trial.write_text(json.dumps(said))
    database.rebuild(results)
    return open_run(results, run_id)


def test_claims_have_their_verdicts_and_a_picture(tmp_path):
    run = run_with_claims(tmp_path / "results", FACTOR, 0.5)
    found = outcomes(run)
    assert [one.row for one in found] == ["faster-0", "faster-1"]
    assert found[0].verdict in ("reproduced", "direction only")
    assert found[1].verdict == "contradicted"
    assert found[1].published == 0.5
    figure = index.chart(run)
    assert isinstance(figure, Figure)
    assert "DuckDB loads 0.5 times as fast as SQLite: contradicted" in figure.alt
    assert "<svg" in figure.svg()


def test_without_claims_every_comparison_with_the_baseline(plain):
    found = outcomes(plain)
    assert {one.verdict for one in found} <= {"better", "worse", "no difference claimed"}
    assert found[0].row == "load, rows/s, SQLite 3.45.1"
    assert found[0].verdict == "worse"


def test_different_answers_leave_nothing_to_judge(made):
    said = index.chart(made(wrong_answers_of="sqlite"))
    assert isinstance(said, Markdown)
