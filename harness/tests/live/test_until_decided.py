"""``bench run --until-decided`` on the real embedded systems: looks, kills and budgets."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from bench import HARNESS, WITHOUT_REPORT, environment, need_benchload

from benchbook.record import looks

DECLARED = """
title = "Two embedded databases, with claims"
question = "Which of SQLite and DuckDB needs less disk?"
dataset = "devops"

[factors]
system = ["sqlite", "duckdb"]

[[phases]]
name = "load"
workload = "load"
options = { batch_size = 5000, workers = 1 }

[profiles.quick]
trials = 3
trial_seconds = 1
dataset = { scale = 4, end = "2016-01-01T13:00:00Z", interval = "60s" }

[[claims]]
id = "disk"
statement = "SQLite needs more disk than DuckDB, or less"
source = "nowhere"
test = "equal"
phase = "trial"
metric = "disk_bytes"
of = { system = "sqlite" }
over = { system = "duckdb" }
"""


@pytest.fixture(autouse=True)
def _load_tool() -> None:
    need_benchload()


UNDECIDED = f"""
from benchbook.analyse import stopping
stopping.SETTLED, stopping.HOPELESS = (), 0
{WITHOUT_REPORT}"""
"""Benchbook whose looks neither decide a claim nor give one up, so that a run lasts until its maximum."""


def begin(
    root: Path, *arguments: str, declared: str = DECLARED, report: bool = False, program: str = WITHOUT_REPORT
) -> subprocess.Popen[str]:
    """Start a command on a checkout whose one experiment is the pair; ``report`` says whether a run renders it."""
    started = ["-m", "benchbook"] if report else ["-c", program]
    checkout = HARNESS.parent
    if not root.exists():
        (root / "experiments" / "pair").mkdir(parents=True)
        (root / "experiments" / "pair" / "experiment.toml").write_text(declared)
        for name in ("systems", "storage", "datasets"):
            (root / name).symlink_to(checkout / name)
        (root / "reports").mkdir()
        shutil.copy(checkout / "reports" / "quickstart.qmd", root / "reports" / "pair.qmd")
    return subprocess.Popen(
        [sys.executable, "-P", *started, *arguments, "--results", str(root / "results")],
        env=environment(BENCHBOOK_ROOT=str(root)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def bench(
    root: Path, *arguments: str, declared: str = DECLARED, report: bool = False
) -> subprocess.CompletedProcess[str]:
    process = begin(root, *arguments, declared=declared, report=report)
    out, err = process.communicate(timeout=240)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def runs(root: Path) -> list[Path]:
    return sorted((root / "results" / "runs").iterdir())


def facts(run: Path) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((run / "run.json").read_text())
    return held


def test_a_run_stops_when_its_claim_is_decided(tmp_path: Path) -> None:
    done = bench(tmp_path / "root", "run", "pair", "--until-decided", "--no-aa", report=True)
    assert done.returncode == 0, done.stderr
    [run] = runs(tmp_path / "root")
    held = facts(run)
    assert held["sequential"]["maximum"] == 12
    assert [look["block"] for look in held["looks"]] == [3]
    assert held["looks"][-1]["decided"] == ["disk"]
    assert held["looks"][-1]["stopped"] == "every claim is decided"
    assert held["finished_at"]
    assert len(list(run.glob("trials/*/trial.json"))) == 6
    assert Path(done.stdout.splitlines()[-1]).is_file()
    shown = bench(tmp_path / "root", "claims", "pair")
    assert "The run ended after 3 blocks (at most 12), and its claims were judged once" in shown.stdout
    assert "nothing to resume" in bench(tmp_path / "root", "resume").stderr


def test_the_a_a_run_comes_first_and_only_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    done = bench(root, "run", "pair", "--until-decided")
    assert done.returncode == 0, done.stderr
    noise, first = sorted(runs(root), key=lambda run: facts(run)["started_at"])
    trials = json.loads((noise / "plan.json").read_text())["trials"]
    assert {trial["levels"].get("aa") for trial in trials} == {"A", "B"}
    assert facts(first)["sequential"]["noise_run"] == noise.name
    assert noise.name in [one["run_id"] for one in facts(first)["earlier_runs"]]
    assert bench(root, "run", "pair", "--until-decided").returncode == 0
    assert len(runs(root)) == 3


@pytest.mark.parametrize("trials", [2, 7])
def test_a_killed_run_goes_on_with_its_looks(tmp_path: Path, trials: int) -> None:
    root = tmp_path / "root"
    asked = ["run", "pair", "--until-decided", "--no-aa", "--trials", "5"]
    process = begin(root, *asked, program=UNDECIDED)
    while len(list(root.glob("results/runs/*/trials/*/trial.json"))) < trials:
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    [run] = runs(root)
    before = looks.read(run)
    done = bench(root, "resume")
    assert done.returncode == 0, done.stderr
    found = looks.read(run)
    assert found[: len(before)] == before
    assert found[-1]["stopped"]
    blocks = [look["block"] for look in found]
    assert blocks == sorted(set(blocks))
    assert blocks[0] == 3


def test_a_run_that_is_killed_in_its_a_a_run_continues_with_both(tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = begin(root, "run", "pair", "--until-decided")
    while len(list(root.glob("results/runs/*/trials/*/trial.json"))) < 3:
        time.sleep(0.02)
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    assert len(runs(root)) == 2
    done = bench(root, "resume")
    assert done.returncode == 0, done.stderr
    assert all(facts(run)["finished_at"] for run in runs(root))
    assert sum("looks" in facts(run) for run in runs(root)) == 1
    assert "nothing to resume" in bench(root, "resume").stderr


def test_claims_that_no_trial_can_decide_end_a_run_at_its_first_look(tmp_path: Path) -> None:
    root = tmp_path / "root"
    open_claim = DECLARED + 'underspecified = "the size of the data"\n'
    done = bench(root, "run", "pair", "--until-decided", "--no-aa", declared=open_claim)
    assert done.returncode == 0, done.stderr
    [run] = runs(root)
    [look] = facts(run)["looks"]
    assert look["given_up"]["disk"]["reasons"] == [{"code": "final", "facts": {"holds": "not comparable"}}]
    assert look["stopped"] == "more blocks could not decide the 1 claim left"


def test_a_budget_ends_a_run_before_its_first_look(tmp_path: Path) -> None:
    root = tmp_path / "root"
    done = bench(root, "run", "pair", "--until-decided", "--no-aa", "--budget", "1ms", "--yes")
    assert done.returncode == 0, done.stderr
    [run] = runs(root)
    [look] = looks.read(run)
    assert look["block"] == 1
    assert "the budget of 0.001 s has no room for another block" in look["stopped"]
    assert len(list(run.glob("trials/*/trial.json"))) == 2
    assert "the budget of 0.001 s" in bench(root, "claims", "pair").stdout


def test_a_budget_that_is_too_small_for_an_answer_is_reported_before_the_start(tmp_path: Path) -> None:
    done = bench(tmp_path / "root", "run", "pair", "--until-decided", "--budget", "1ms")
    assert done.returncode == 2
    assert (
        "--budget 0.001 s is too small to judge a claim: the first look comes after 3 blocks" in done.stderr
    )
    assert "give --budget 6s or more" in done.stderr
    assert not list((tmp_path / "root" / "results").glob("runs/*"))


def test_the_a_a_run_ends_when_its_share_of_the_budget_is_spent(tmp_path: Path) -> None:
    """Trials that take longer than estimated leave the rest of the budget to the answer."""
    root = tmp_path / "root"
    short = DECLARED.replace("trial_seconds = 1", "trial_seconds = 0.001")
    assert short != DECLARED
    done = bench(root, "run", "pair", "--until-decided", "--budget", "4s", declared=short)
    assert done.returncode == 0, done.stderr
    noise, first = sorted(runs(root), key=lambda run: facts(run)["started_at"])
    [end] = looks.read(noise)
    assert end["block"] < json.loads((noise / "plan.json").read_text())["trials_per_cell"]
    assert "no room for another block" in end["stopped"]
    assert facts(noise)["finished_at"]
    assert list(first.glob("trials/*/trial.json"))


def test_a_budget_without_room_for_the_a_a_run_leaves_it_out(tmp_path: Path) -> None:
    done = bench(tmp_path / "root", "run", "pair", "--until-decided", "--budget", "1ms", "--yes")
    assert "the A/A run is left out" in done.stderr
    assert len(runs(tmp_path / "root")) == 1


def test_requests_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for words, said in (
        (["--budget", "1h"], "--budget belongs to --until-decided"),
        (["--no-aa"], "--no-aa belongs to --until-decided"),
        (["--until-decided", "--trials", "2"], "allowed are 3 to 400"),
        (["--until-decided", "--budget", "soon"], "not a duration"),
    ):
        done = bench(tmp_path / "root", "run", "pair", *words)
        assert done.returncode == 2, words
        assert said in done.stderr
    assert not list((tmp_path / "root" / "results").glob("runs/*"))


def test_an_experiment_without_claims_has_nothing_to_decide(tmp_path: Path) -> None:
    done = bench(
        tmp_path / "root", "run", "pair", "--until-decided", declared=DECLARED.partition("[[claims]]")[0]
    )
    assert done.returncode == 2
    assert "declares no claims to decide" in done.stderr
