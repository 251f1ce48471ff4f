"""Options of a storage as factors, and phases that apply to some cells only."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.experiment import Experiment, Phase
from benchbook.errors import RequestError
from benchbook.plan.factors import parse_set
from benchbook.plan.plan import Plan, plan

ROOT = Path(__file__).resolve().parents[3]
NAME = "influx-local-vs-s3fs"
CATALOGUE = Catalogue(ROOT)


def made(*sets: str) -> Plan:
    return plan(CATALOGUE, NAME, "smoke", parse_set(list(sets)))


def declared(**changes: Any) -> Experiment:
    text = (ROOT / "experiments" / NAME / "experiment.toml").read_text(encoding="utf-8")
    held: dict[str, Any] = tomllib.loads(text)
    held["phases"][0] |= changes
    return Experiment.model_validate(held)


def test_options_of_s3fs_are_factors_of_the_types_they_have() -> None:
    planned = made(
        "storage=minio-s3fs", "disk_cache=true,false", "parallel_count=5,20", "multipart_size_mib=64"
    )
    levels = [trial.levels for trial in planned.trials]
    assert {one["disk_cache"] for one in levels} == {True, False}
    assert {one["parallel_count"] for one in levels} == {5, 20}
    typed = CATALOGUE.storage("minio-s3fs").typed(levels[0])
    assert typed.model_dump() == {
        "disk_cache": levels[0]["disk_cache"], "parallel_count": levels[0]["parallel_count"],
        "multipart_size_mib": 64, "stat_cache_entries": 100_000, "request_retries": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["storage=local", "disk_cache=true"], ['factor "disk_cache"']),
        (["storage=minio-s3fs", "disk_cach=true"], ['Did you mean "disk_cache"']),
        (
            ["storage=minio-s3fs", "parallel_count=0"],
            ['options of the storage "minio-s3fs"', "parallel_count"],
        ),
        (["storage=minio-s3fs", "multipart_size_mib=many"], ['"many" is not a whole number']),
        (["storage=minio-s3fs", "disk_cache=perhaps"], ["disk_cache"]),
    ],
)
def test_a_wrong_option_of_a_storage_is_one_sentence(sets: list[str], words: list[str]) -> None:
    with pytest.raises(RequestError) as caught:
        made(*sets)
    for word in words:
        assert word in str(caught.value)


def test_a_phase_is_done_in_the_cells_that_it_names_and_no_others() -> None:
    planned = made()
    done = {
        (trial.levels["cache"], phase.name)
        for trial in planned.trials
        for phase in planned.phases
        if phase.done_at(trial.levels)
    }
    assert {name for cache, name in done if cache == "cold"} == {"load", "1-host-1-hr"}
    assert {name for cache, name in done if cache == "warm"} == {phase.name for phase in planned.phases}


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ({"cach": "warm"}, 'Did you mean "cache"'),
        ({"cache": "hot"}, '"hot" is not a level of cache; allowed: warm, cold'),
    ],
)
def test_only_names_factors_and_levels_of_the_experiment(only: dict[str, str], words: str) -> None:
    with pytest.raises((ValueError, RequestError), match=words):
        declared(only=only)


@pytest.mark.parametrize("left_out", ["cold", ["cold", "cool"]])
def test_a_phase_is_left_out_without_its_levels(left_out: object) -> None:
    phase = Phase(name="ask", workload="query", options={"type": "1-host-1-hr"}, without={"cache": left_out})
    assert phase.done_at({"cache": "warm"})
    assert phase.done_at({})
    assert not phase.done_at({"cache": "cold"})


def test_without_names_a_factor_of_the_experiment() -> None:
    with pytest.raises(
        RequestError,
        match=r'phases "fio-read": without: there is no factor "cach"; allowed: arm, cache, .* Did you mean "cache"',
    ):
        declared(without={"cach": "warm"})
