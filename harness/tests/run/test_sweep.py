"""Resuming a complete run removes what a harness killed after its last trial left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.cli import resume
from benchbook.cli.app import run
from benchbook.record import seal
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
