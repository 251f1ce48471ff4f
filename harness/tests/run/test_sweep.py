"""Resuming a complete run removes what a harness killed after its last trial left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchbook.cli import resume
from benchbook.cli.app import run
from benchbook.record import seal
from benchbook.run.scratch import sweep_scratch
from benchbook.storage.local import Storage
from tests.record import synthetic_run


def test_a_corrupt_trial_of_the_latest_run_is_found_whatever_the_runs_are_called(tmp_path: Path) -> None:
    small = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}
    for run_id, day in (("quickstart-1", 1), ("aa-1", 2)):
        synthetic_run.write(tmp_path, run_id=run_id, experiment=run_id.partition("-")[0], **small)
        plan = tmp_path / "runs" / run_id / "plan.json"
        plan.write_text(
            json.dumps(json.loads(plan.read_text()) | {"created_at": f"2026-03-0{day}T09:30:00+00:00"})
        )
        seal.seal_plan(plan.parent, plan.read_bytes())
        facts = tmp_path / "runs" / run_id / "run.json"
        facts.write_text(
            json.dumps(json.loads(facts.read_text()) | {"created_at": f"2026-03-0{day}T09:30:00+00:00"})
        )
    assert resume._latest_unfinished(tmp_path) is None
    (tmp_path / "runs" / "aa-1" / "trials" / "0000" / "trial.json").write_text("{")
    assert resume._latest_unfinished(tmp_path) == "aa-1"


def test_resume_of_whole_runs_sweeps_the_folders_of_dead_harnesses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthetic_run.write(tmp_path, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    left = tmp_path / "scratch" / "999999-1"
    left.mkdir(parents=True)
    (left / "data").write_text("of a trial")
    assert run(["resume", "--results", str(tmp_path)]) == 0
    assert "nothing to resume" in capsys.readouterr().err
    assert not left.exists()


@pytest.mark.parametrize("name", ["scratch", "processes", "mounts"])
def test_a_linked_folder_is_refused_and_its_target_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    results, home = tmp_path / "results", tmp_path / "home"
    synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    (home / "999999-1").mkdir(parents=True)
    (home / "documents").mkdir()
    (home / "1.json").write_text("{")
    (results / name).symlink_to(home)
    assert run(["resume", "--results", str(results)]) == 2
    assert f"{results / name} is a link, not a folder" in capsys.readouterr().err
    assert sorted(path.name for path in home.iterdir()) == ["1.json", "999999-1", "documents"]


def test_a_sweep_leaves_what_benchbook_did_not_make(tmp_path: Path) -> None:
    synthetic_run.write(tmp_path, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    home = tmp_path / "home"
    home.mkdir()
    (home / "file").write_text("precious")
    kept = ("thesis", "2026-11", "2024-2025", "999999-gone", "1-2-3", "0-1")
    for name in kept:
        (tmp_path / "scratch" / name).mkdir(parents=True)
    (tmp_path / "scratch" / "999999-2").symlink_to(home)
    for name in ("processes", "mounts"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "package.json").write_text('{"name": "mine"}')
    assert run(["resume", "--results", str(tmp_path)]) == 0
    assert sorted(path.name for path in (tmp_path / "scratch").iterdir()) == sorted([*kept, "999999-2"])
    assert (home / "file").read_text() == "precious"
    assert (tmp_path / "processes" / "package.json").exists()
    assert (tmp_path / "mounts" / "package.json").exists()


def test_deeply_nested_folders_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "scratch" / "999999-1"
    left.mkdir(parents=True)
    at = os.open(left, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    storage = Storage(left)
    assert storage.bytes() == 0
    assert storage.cached_bytes() == 0
    sweep_scratch(tmp_path)
    assert not left.exists()
