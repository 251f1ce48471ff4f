"""``bench gate`` on commands: a slowed one is found, a killed gate continues, and failures have their exit code."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench import WITHOUT_REPORT, environment, need_benchload

from benchbook.record import looks

SYSTEM = 'name = "tool"\ntitle = "Tool"\n\n[source]\ncommand = "tool"\n'
EXPERIMENT = """
title = "A tool"
question = "Is the new build slower?"
dataset = "devops"

[factors]
system = ["tool"]

[[phases]]
name = "run"
workload = "program"
options = { duration = "0.05s" }

[profiles.quick]
trial_seconds = 0.5
dataset = { scale = 1, end = "2016-01-01T01:00:00Z", interval = "60s" }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    need_benchload()
    (tmp_path / "benchbook.toml").write_text('name = "gates"\n')
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "tool.toml").write_text(SYSTEM)
    (tmp_path / "experiments" / "tool").mkdir(parents=True)
    (tmp_path / "experiments" / "tool" / "experiment.toml").write_text(EXPERIMENT)
    for name, does in {"fast": "sleep 0.01", "slow": "sleep 0.05", "other": "echo other; sleep 0.05"}.items():
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo 1.0; exit; }}\n{does}\n')
        program.chmod(0o755)
    return tmp_path


def begin(project: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WITHOUT_REPORT, *words], cwd=project, text=True,
        env=environment(BENCHBOOK_RESULTS=str(project / "results")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def gate(project: Path, base: str, head: str, *words: str) -> tuple[int, str, str]:
    process = begin(project, "gate", "tool", "--base", f"tool={base}", "--head", f"tool={head}", *words)
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def test_a_slowed_command_is_found_and_the_run_states_why_it_ended(project: Path) -> None:
    code, out, err = gate(project, "./fast", "./slow", "--json", "--output", f"junit={project}/gate.xml")
    assert code == 5, err
    held = json.loads(out)
    assert held["answer"] == "slower"
    assert held["metrics"][0]["loss"] > 0.5
    assert 'failures="1"' in (project / "gate.xml").read_text()
    run = project / "results" / "runs" / held["run_id"]
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["gate"]["names"] == ["tool=./fast", "tool=./slow"]
    assert recorded["looks"][-1]["stopped"] == "slower"
    assert recorded["finished_at"]
    programs = recorded["programs"]
    assert programs["tool from base"]["digest"] != programs["tool from head"]["digest"]


def test_a_killed_gate_continues_with_its_looks(project: Path) -> None:
    words = [
        "gate",
        "tool",
        "--base",
        "tool=./fast",
        "--head",
        "tool=./fast",
        "--budget",
        "25s",
        "--margin",
        "0.1%",
    ]
    process = begin(project, *words)
    while len(list(project.glob("results/runs/*/trials/*/trial.json"))) < 9:
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    [run] = (project / "results" / "runs").iterdir()
    before = looks.read(run)
    process = begin(project, "resume")
    out, err = process.communicate(timeout=240)
    assert process.returncode == 6, err
    found = looks.read(run)
    assert found[: len(before)] == before
    assert found[-1]["share"] == 1.0
    assert "Open after" in out
    assert "tool=./fast (base)" in out


def test_other_answers_and_skipped_trials_have_their_exit_codes(project: Path) -> None:
    code, out, err = gate(project, "./fast", "./other")
    assert code == 4, err
    assert "differ" in out
    assert gate(project, "./fast", "./none")[0] == 2
