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


def declared(slug: str = NAME) -> dict[str, Any]:
    return tomllib.loads((ROOT / "experiments" / slug / "experiment.toml").read_text(encoding="utf-8"))


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
    with pytest.raises(
        RequestError,
        match=r'there is no factor "sytem"; allowed: arm, in_flight, memory_limit, method, .* Did you mean "system"',
    ):
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
        RequestError,
        match=r'profiles "quick": without: there is no factor "stock"; allowed: arm, .* system\. Did you mean "stocks"',
    ):
        Experiment.model_validate({**whole, "profiles": profiles})


def test_a_profile_runs_only_the_phases_that_it_names():
    made = plan(Catalogue(ROOT), "seaweedfs-vs-postgres", "seed")
    assert [phase.name for phase in made.phases] == ["put", "get", "put-100"]
    assert len(plan(Catalogue(ROOT), "seaweedfs-vs-postgres", "quick").phases) == 6


def test_a_profile_that_names_an_unknown_phase_is_refused():
    whole = declared()
    profiles = {**whole["profiles"], "quick": {**whole["profiles"]["quick"], "phases": ["shrot"]}}
    with pytest.raises(
        RequestError,
        match=r'profiles "quick": phases: there is no phase "shrot"; allowed: load, long, short\. Did you mean "short"',
    ):
        Experiment.model_validate({**whole, "profiles": profiles})


def with_phase_options(slug: str, profile: str, options: dict[str, Any]) -> Experiment:
    whole = declared(slug)
    profiles = {**whole["profiles"], profile: {**whole["profiles"][profile], "phase_options": options}}
    return Experiment.model_validate({**whole, "profiles": profiles})


def test_an_option_of_one_phase_leaves_the_other_phases_as_they_are():
    sizes = {
        phase.name: phase.options["size"]
        for phase in plan(Catalogue(ROOT), "influx-local-vs-s3fs", "seed").phases
        if phase.workload == "fio"
    }
    assert sizes == {"fio-read": "8g", "fio-write": "12g"}


def test_the_end_of_one_phase_replaces_the_shared_end():
    changed = with_phase_options("influx-local-vs-s3fs", "seed", {"1-host-1-hr": {"queries": 5}}).profiles[
        "seed"
    ]
    experiment = Catalogue(ROOT).experiment("influx-local-vs-s3fs")
    ends = {
        phase.name: [
            phase.replaced(changed.options_of(phase)).model_dump().get(end) for end in ("duration", "queries")
        ]
        for phase in experiment.phases
        if phase.name in ("load", "1-host-1-hr")
    }
    assert ends == {"load": ["10s", None], "1-host-1-hr": [None, 5]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"fio": {}},
            (
                r'phase_options: there is no phase "fio"; '
                r"allowed: 1-host-1-hr, fio-read, fio-write, fio-write-synced, inch, load, stress"
            ),
        ),
        (
            {"fio-write-synced": {"size": "8g"}},
            r'"fio-write-synced": the profile does not run this phase; it runs: fio-read, ',
        ),
        (
            {"fio-write": {"sise": "8g"}},
            r'"fio-write": the workload "fio" has no option "sise"; allowed: .*; did you mean "size"',
        ),
        (
            {"fio-write": {"size": "8 GB"}},
            r'profiles "seed": options of the phase "fio-write": size = "8 GB"',
        ),
    ],
)
def test_a_wrong_option_of_one_phase_is_refused(options, words):
    with pytest.raises((ValueError, RequestError), match=words):
        with_phase_options("influx-local-vs-s3fs", "seed", options)


def test_a_wrong_value_in_the_options_of_a_profile_names_it_and_shows_a_right_one():
    whole = declared("influx-local-vs-s3fs")
    options = {**whole["profiles"]["quick"]["options"], "size": "8 GB"}
    profiles = {**whole["profiles"], "quick": {**whole["profiles"]["quick"], "options": options}}
    words = r'profiles "quick": options of the phase "fio-read": size = "8 GB": this is not of the form '
    with pytest.raises(RequestError, match=words) as raised:
        Experiment.model_validate({**whole, "profiles": profiles})
    assert raised.value.hint == "Write it like 256k or 4g."


def test_an_option_that_a_phase_keeps_is_refused():
    with pytest.raises(ValueError, match=r'"last-loc": the phase keeps its "workers" in every profile'):
        with_phase_options("cnos-vs-influx", "queries", {"last-loc": {"workers": 2}})
