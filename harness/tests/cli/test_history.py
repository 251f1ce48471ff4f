"""``bench history`` shows each metric over the recorded runs, as a table, as JSON and as a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbook.cli import history
from benchbook.cli.app import run
from benchbook.declare import catalogue
from benchbook.record import ledger
from tests.record import synthetic_run


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a results folder with two runs, beside a ledger without any."""
    for seed in (1, 2):
        synthetic_run.write(tmp_path, seed=seed, run_id=f"quickstart-2026010{seed}T000000-000{seed}")
    monkeypatch.setattr(catalogue, "root", lambda: tmp_path / "nothing published")
    return tmp_path


def test_a_row_for_each_point(results: Path, capsys: pytest.CaptureFixture[str]):
    page = results / "history.html"
    words = ["history", "quickstart", "--results", str(results), "--metric", "rows_per_second"]
    assert run([*words, "--page", str(page)]) == 0
    text = capsys.readouterr().out
    assert "0 changes in 2 series of up to 2 points, from 2 runs." in text
    assert text.count("quickstart-20260101T000000-0001") == 2  # DuckDB and SQLite
    assert "2 of them have too few points to find a change among so many series." in text
    markup = page.read_text()
    assert "History: quickstart" in markup
    assert markup.count('<figure class="bb-figure"') == 1
    assert "2 runs are too few to find a change" in markup
    assert re.search(">Profile [a-z]+, ", markup)
    assert run([*words, "--json"]) == 0
    one = json.loads(capsys.readouterr().out)[0]
    assert (one["by"], one["metric"], one["changes"]) == ("run", "rows_per_second", [])
    assert one["points"][0]["low"] < one["points"][0]["value"] < one["points"][0]["high"]


def test_one_run_is_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    synthetic_run.write(tmp_path)
    monkeypatch.setattr(catalogue, "root", lambda: tmp_path / "nothing published")
    assert run(["history", "quickstart", "--results", str(tmp_path), "--metric", "rows_per_second"]) == 0
    text = capsys.readouterr().out
    assert text.strip() == "Every metric has one point: no two runs did the same work on one processor."


def test_many_points_are_shown_if_they_changed(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(history, "MANY", 3)
    words = ["history", "quickstart", "--results", str(results), "--metric", "rows_per_second"]
    assert run(words) == 0
    short = capsys.readouterr().out
    assert short.startswith("No series has a change.")
    assert "2 series without a change are not shown: --all, or --page FILE" in short
    assert run([*words, "--all"]) == 0
    assert "quickstart-20260101T000000-0001" in capsys.readouterr().out


def test_a_withdrawn_run_is_no_point(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """It is in the results folder too, where nothing says that it was withdrawn."""
    synthetic_run.write(results, seed=3, run_id="quickstart-20260103T000000-0003")
    export = SimpleNamespace(run_id="quickstart-20260102T000000-0002", folder=results / "published")
    held = [SimpleNamespace(export=export, answers=False, withdrawal=object())]
    monkeypatch.setattr(ledger, "entries", lambda _: (held, []))
    words = ["history", "quickstart", "--results", str(results), "--metric", "rows_per_second", "--all"]
    assert run(words) == 0
    text = capsys.readouterr().out
    assert "20260101T000000" in text
    assert "20260103T000000" in text
    assert "20260102T000000" not in text


def test_an_a_a_gate_is_no_point(results: Path, capsys: pytest.CaptureFixture[str]):
    for place in (results / "runs").iterdir():
        plan = json.loads((place / "plan.json").read_text())
        (place / "plan.json").write_text(
            json.dumps(plan | {"gate": {"names": ["duckdb=HEAD", "duckdb=HEAD"]}})
        )
    assert run(["history", "quickstart", "--results", str(results)]) == 2
    assert "There is no complete run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["quickstart", "--by", "runs"], "--by runs: allowed are run, release; did you mean"),
        (["quickstart", "--by", "release"], "--by release: no run of quickstart measured two systems"),
        (["quickstart", "--metric", "rows_per_secnd"], "no such main metric"),
        (
            ["quickstart", "--page", "no/such/folder.html"],
            "--page no/such/folder.html: there is no folder no/such.",
        ),
        (["quickstrat"], "quickstart"),
        (["what-varies"], "There is no complete run of what-varies"),
    ],
)
def test_a_mistake_is_one_sentence(
    results: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["history", *words, "--results", str(results)]) == 2
    assert message in capsys.readouterr().err
    assert history.WAYS == ("run", "release")
