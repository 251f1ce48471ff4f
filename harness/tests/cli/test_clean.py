"""``bench clean`` shows sizes, asks, and removes only what Benchbook wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.record import seal
from benchbook.record.runs import run_ids
from benchbook.run.scratch import Neighbour

HASH = "0123456789abcdef"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a results folder with four finished runs of this user, one of another, and one that is unfinished."""
    for variable in ("XDG_STATE_HOME", "BENCHBOOK_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(
        "benchbook.cli.clean.neighbours", list
    )  # a run on this machine is none of these tests
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


def test_a_named_run_is_kept_however_old(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(results, "runs", "--keep", "0", "--except", "quickstart-20260102", "--yes") == 0
    assert [one[11:19] for one in run_ids(results)] == ["20260102", "20260105", "20260106"]
    assert clean(results, "runs", "--keep", "0", "--except", "quickstart-2027", "--yes") == 2
    assert 'There is no run "quickstart-2027"' in capsys.readouterr().err
    assert len(run_ids(results)) == 3


def test_as_many_as_there_are_can_be_kept(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(results, "runs", "--keep", "9", "--yes") == 0
    assert re.fullmatch(
        r"There is nothing to remove\. .*results \(results\) has \d.* MB.*\.\n", capsys.readouterr().out
    )
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
    """The lock that an entry was filled under lies beside it; names alone prove nothing."""
    systems = tmp_path / "BENCHBOOK_CACHE" / "systems"
    for name in (f"redis-7-{HASH}", f"pandas-1.0-{HASH}", "mine", "backup-20261127", f"copy-{HASH}"):
        (systems / name).mkdir(parents=True)
    (systems / f"pandas-1.0-{HASH}" / "environment.json").touch()
    (systems / f"linked-{HASH}").symlink_to(systems / "mine")
    for name in ("redis-7", "pandas-1.0", "linked"):
        (systems / f".{name}-{HASH}.lock").touch()

    def left() -> list[str]:
        return sorted(one.name for one in systems.iterdir() if one.suffix != ".lock")

    mine = ["backup-20261127", f"copy-{HASH}", f"linked-{HASH}", "mine"]
    assert clean(results, "caches", "--yes") == 0
    assert left() == [*mine, f"pandas-1.0-{HASH}"]
    assert clean(results, "environments", "--yes") == 0
    assert left() == mine
    assert len(run_ids(results)) == 6


def test_an_entry_that_is_half_removed_is_not_taken_for_a_whole_one(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tmp_path / "BENCHBOOK_CACHE" / "systems" / f"redis-7-{HASH}"
    entry.mkdir(parents=True)
    entry.with_name(f".{entry.name}.lock").touch()

    def interrupted(folder: Path) -> None:
        if folder.exists():
            raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("benchbook.cli.clean.guarded.remove_tree", interrupted)
        assert clean(results, "caches", "--yes") != 0
    assert [one.name for one in entry.parent.iterdir() if one.is_dir()] == [f".{entry.name}.removed"]
    assert clean(results, "caches", "--yes") == 0
    assert not [one for one in entry.parent.iterdir() if one.is_dir()]


def test_a_run_that_is_half_removed_is_not_resumed(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []

    def first(path: Path) -> None:
        removed.append(path.name)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("benchbook.cli.clean._remove", first)
    assert clean(results, "runs", "--yes") != 0
    assert removed == ["plan.json"]


def test_the_cache_stays_while_a_run_is_in_progress(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = tmp_path / "BENCHBOOK_CACHE" / "systems" / f"redis-7-{HASH}"
    entry.mkdir(parents=True)
    entry.with_name(f".{entry.name}.lock").touch()
    monkeypatch.setattr("benchbook.cli.clean.neighbours", lambda: [Neighbour("quickstart-x", 7)])
    assert clean(results, "--yes") == 2
    assert "quickstart-x (pid 7) is in progress" in capsys.readouterr().err
    assert entry.is_dir()
    assert clean(results, "runs", "--yes") == 0
