"""Cells that an experiment leaves out."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.experiment import Experiment
from benchbook.errors import RequestError
from benchbook.plan.plan import plan

ROOT = Path(__file__).resolve().parents[3]
NAME = "kline-mysql-vs-kv"


def declared() -> dict[str, object]:
    return tomllib.loads((ROOT / "experiments" / NAME / "experiment.toml").read_text(encoding="utf-8"))


def test_only_cells_that_are_left_are_planned():
    made = plan(Catalogue(ROOT), NAME, "quick")
    levels = [trial.levels for trial in made.trials]
    assert {one["arm"] for one in levels if one["system"] == "mysql-8"} == {"published"}
    assert {one["arm"] for one in levels if one["system"] == "sqlite"} == {"vanilla"}
    assert {
        one["method"] for one in levels if one["in_flight"] == "published" and one["system"] == "redis-7"
    } == {"as-published"}


def test_a_choice_without_any_cell_is_refused():
    with pytest.raises(RequestError, match="leaves out every requested cell"):
        plan(Catalogue(ROOT), NAME, "quick", {"system": ["mysql-8"], "arm": ["service"]})


def test_an_unknown_factor_names_the_nearest():
    with pytest.raises(ValueError, match='there is no factor "sytem"; did you mean "system"'):
        Experiment.model_validate({**declared(), "without": [{"sytem": "sqlite"}]})


def test_a_profile_leaves_out_what_it_has_no_time_for():
    services = [one.levels for one in plan(Catalogue(ROOT), NAME, "quick").trials]
    assert {one["in_flight"] for one in services if one["arm"] == "service"} == {"published"}


def test_what_is_asked_for_is_done_whatever_a_profile_leaves_out():
    made = plan(Catalogue(ROOT), NAME, "quick", {"arm": ["service"], "system": ["redis-7"]})
    assert {one.levels["method"] for one in made.trials} == {"as-published", "corrected"}


def test_a_profile_that_names_an_unknown_factor_is_named():
    whole = declared()
    profiles = {**whole["profiles"], "quick": {**whole["profiles"]["quick"], "without": [{"stock": 10}]}}
    with pytest.raises(
        ValueError, match='profiles "quick": without: there is no factor "stock"; did you mean "stocks"'
    ):
        Experiment.model_validate({**whole, "profiles": profiles})


def test_a_profile_runs_only_the_phases_that_it_names():
    made = plan(Catalogue(ROOT), "seaweedfs-vs-postgres", "seed")
    assert [phase["name"] for phase in made.phases] == ["put", "get", "put-100"]
    assert len(plan(Catalogue(ROOT), "seaweedfs-vs-postgres", "quick").phases) == 6


def test_a_profile_that_names_an_unknown_phase_is_refused():
    whole = declared()
    profiles = {**whole["profiles"], "quick": {**whole["profiles"]["quick"], "phases": ["shrot"]}}
    with pytest.raises(
        ValueError, match=r'profiles "quick": phases: there is no phase "shrot"; allowed: .*short'
    ):
        Experiment.model_validate({**whole, "profiles": profiles})


def with_phase_options(slug: str, options: dict[str, Any]) -> Experiment:
    whole = Catalogue(ROOT).experiment(slug).model_dump()
    profiles = {**whole["profiles"], "seed": {**whole["profiles"]["seed"], "phase_options": options}}
    return Experiment.model_validate({**whole, "profiles": profiles})


def test_an_option_of_one_phase_leaves_the_other_phases_as_they_are():
    sizes = {
        phase["name"]: phase["options"]["size"]
        for phase in plan(Catalogue(ROOT), "influx-local-vs-s3fs", "seed").phases
        if phase["workload"] == "fio"
    }
    assert sizes == {"fio-read": "4g", "fio-write": "8g"}


def test_options_of_a_phase_that_the_profile_does_not_run_are_refused():
    with pytest.raises(
        ValueError,
        match=r'profiles "seed": phase_options: there is no phase "fio-write-synced"; allowed: .*load',
    ):
        with_phase_options("influx-local-vs-s3fs", {"fio-write-synced": {"size": "8g"}})


def test_an_unknown_option_of_one_phase_is_refused(monkeypatch):
    changed = with_phase_options("influx-local-vs-s3fs", {"fio-write": {"sise": "8g"}})
    monkeypatch.setattr(Catalogue, "experiment", lambda _catalogue, _slug: changed)
    with pytest.raises(
        RequestError,
        match=r'phase_options "fio-write" of the profile: there is no option "sise"; allowed: .*size',
    ):
        plan(Catalogue(ROOT), "influx-local-vs-s3fs", "seed")
