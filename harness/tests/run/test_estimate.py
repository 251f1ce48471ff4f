"""The estimated duration of a plan."""

from pathlib import Path

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.budget import estimate_seconds, magnitude
from benchbook.plan.plan import plan


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
