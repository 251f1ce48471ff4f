"""``bench clean`` shows sizes, asks, and removes only what Benchbook wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.record import seal
from benchbook.record.runs import run_ids

HASH = "0123456789abcdef"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a results folder with four finished runs of this user, one of another, and one that is unfinished."""
    for variable in ("XDG_STATE_HOME", "BENCHBOOK_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    made = tmp_path / "results"
    for day, (mine, finished) in enumerate([(True, True)] * 4 + [(False, True), (True, False)], start=1):
        run_id = f"quickstart-202601{day:02d}T000000-aaaa"
        folder = made / "runs" / run_id
        (folder / "trials" / "0000" / "logs").mkdir(parents=True)
        (folder / "trials" / "0000" / "logs" / "server.log").write_bytes(b"x" * 100_000)
        created = f"2026-01-{day:02d}T00:00:00+00:00"
        plan = {
            "run_id": run_id,
            "experiment": "quickstart",
            "profile": "smoke",
            "created_at": created,
            "trials": [],
        }
        text = json.dumps(plan)
        (folder / "plan.json").write_text(text)
        (folder / "run.json").write_text(json.dumps({"finished_at": created if finished else None}))
        (folder / "report.html").write_text("<html>")
        if mine:
            assert seal.seal_plan(folder, text.encode())
    return made


def clean(results: Path, *words: str) -> int:
    return run(["clean", *words, "--results", str(results)])


def test_without_yes_it_shows_sizes_and_removes_nothing(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert clean(results) == 2
    out, err = capsys.readouterr()
    assert "quickstart-20260101T000000-aaaa 0.1" in out
    assert "20260102" not in out
    assert "Cannot ask" in err
    assert len(run_ids(results)) == 6


def test_old_runs_of_this_user_are_removed(results: Path) -> None:
    assert clean(results, "runs", "--keep", "1", "--yes") == 0
    assert [one[11:19] for one in run_ids(results)] == ["20260104", "20260105", "20260106"]


def test_as_many_as_there_are_can_be_kept(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(results, "runs", "--keep", "9", "--yes") == 0
    assert capsys.readouterr().out == "There is nothing to remove.\n"
    assert len(run_ids(results)) == 6


def test_files_of_the_user_stay(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").touch()
    old = results / "runs" / "quickstart-20260101T000000-aaaa"
    (old / "notes.md").write_text("mine")
    (old / "trials" / "0001").symlink_to(mine)
    assert clean(results, "runs", "--yes") == 0
    assert "Benchbook did not write notes.md" in capsys.readouterr().out
    assert sorted(one.name for one in old.rglob("*")) == ["notes.md"]
    assert (mine / "kept").exists()


def test_of_the_cache_only_entries_of_benchbook_are_removed(results: Path, tmp_path: Path) -> None:
    systems = tmp_path / "BENCHBOOK_CACHE" / "systems"
    for name in (f"redis-7-{HASH}", f"pandas-1.0-{HASH}", "mine"):
        (systems / name).mkdir(parents=True)
    (systems / f"pandas-1.0-{HASH}" / "environment.json").touch()
    (systems / f"linked-{HASH}").symlink_to(systems / "mine")
    assert clean(results, "caches", "--yes") == 0
    assert sorted(one.name for one in systems.iterdir()) == [f"linked-{HASH}", "mine", f"pandas-1.0-{HASH}"]
    assert clean(results, "environments", "--yes") == 0
    assert sorted(one.name for one in systems.iterdir()) == [f"linked-{HASH}", "mine"]
    assert len(run_ids(results)) == 6
