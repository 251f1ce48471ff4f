"""The estimated duration of a plan."""

import json
from dataclasses import replace
from pathlib import Path

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.budget import estimate_seconds, magnitude
from benchbook.plan.plan import Plan, plan


def measured(results: Path, made: Plan, seconds: float) -> None:
    """Write a run of a plan whose trials took this long."""
    run = results / "runs" / made.run_id
    for one in made.trials:
        (run / "trials" / f"{one.index:04d}").mkdir(parents=True)
        trial = {"cell": one.cell, "status": "ok", "duration_seconds": seconds}
        (run / "trials" / f"{one.index:04d}" / "trial.json").write_text(json.dumps(trial))
    (run / "plan.json").write_text(made.text())


def test_measured_times_count_for_the_same_work_alone(tmp_path: Path):
    """The times of an A/A run and of another title count; those of shorter phases do not."""
    quick = plan(Catalogue(), "quickstart", "quick")
    measured(tmp_path, plan(Catalogue(), "quickstart", "smoke"), 1.0)
    assert estimate_seconds(tmp_path, quick) == len(quick.trials) * quick.trial_seconds
    against_itself = plan(Catalogue(), "quickstart", "quick", against_itself=True)
    measured(tmp_path, replace(against_itself, title="Another title"), 20.0)
    assert estimate_seconds(tmp_path, quick) == len(quick.trials) * 20.0
    assert estimate_seconds(tmp_path, against_itself) == len(against_itself.trials) * 20.0
    shorter = replace(quick, phases=quick.phases[:1])
    assert estimate_seconds(tmp_path, shorter) == len(shorter.trials) * quick.trial_seconds


def test_trials_of_systems_that_cannot_be_had_take_no_time(tmp_path: Path):
    made = plan(Catalogue(), "quickstart", "smoke")
    sqlite = sum(one.levels["system"] == "sqlite" for one in made.trials)
    assert estimate_seconds(tmp_path, made) == len(made.trials) * made.trial_seconds
    assert estimate_seconds(tmp_path, made, {"duckdb"}) == sqlite * made.trial_seconds


def test_a_huge_dataset_takes_longer_than_the_profile_says(tmp_path: Path):
    made = plan(Catalogue(), "quickstart", "smoke", {"scale": ["100000000000"]})
    shown = magnitude(tmp_path, made).text()
    assert "years" in shown
    assert "PB of disk" in shown
