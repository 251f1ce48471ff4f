"""Resuming a complete run removes what a harness killed after its last trial left."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.cli.app import run
from tests.record import synthetic_run


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
