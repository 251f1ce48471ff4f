"""A setting that an arm offers as a factor gets its level from the cell, if every arm has it."""

from __future__ import annotations

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan.factors import factors, parse_set
from benchbook.plan.plan import Plan, plan

CATALOGUE = Catalogue()


def made(*sets: str) -> Plan:
    return plan(CATALOGUE, "cnos-vs-influx", "smoke", parse_set(list(sets)))


def test_the_level_stands_in_the_settings_of_the_cell() -> None:
    planned = made("system=cnosdb-2.4", "arm=published", "server_cores=2,64")
    arm = CATALOGUE.system("cnosdb-2.4").arms["published"]
    for trial in planned.trials:
        settings = arm.settings_at(trial.levels)
        assert settings == {**arm.settings, "deployment.cpu": trial.levels["server_cores"]}
    assert {trial.levels["server_cores"] for trial in planned.trials} == {2, 64}


def test_without_the_factor_the_declared_level_stands() -> None:
    trial = made("system=cnosdb-2.4", "arm=published").trials[0]
    assert "server_cores" not in trial.levels
    assert CATALOGUE.system("cnosdb-2.4").arms["published"].settings_at(trial.levels)["deployment.cpu"] == 64


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (
            ["arm=published", "server_cores=2"],
            ["server_cores", "(arm) published in systems/influxdb-1.8.10.toml"],
        ),
        (["system=cnosdb-2.4", "arm=vanilla,published", "server_cores=2"], ["(arm) vanilla"]),
        (["system=cnosdb-2.4", "arm=vanilla", "server_cores=2"], ['no factor "server_cores"']),
        (["system=cnosdb-2.4", "arm=published", "server_cores=two"], ['"two" is not a whole number']),
    ],
)
def test_what_an_arm_does_not_offer_is_refused(sets: list[str], words: list[str]) -> None:
    with pytest.raises(RequestError) as told:
        made(*sets)
    for word in words:
        assert word in f"{told.value}"


def test_an_arm_that_a_profile_leaves_out_need_not_exist() -> None:
    experiment = CATALOGUE.experiment("cnos-vs-influx")
    profile = experiment.profiles["seed"].model_copy(
        update={
            "factors": {"system": ["cnosdb-2.4", "influxdb-1.8.10"], "arm": ["published", "as-published"]},
            "without": [{"system": "cnosdb-2.4", "arm": "as-published"}],
        }
    )
    dataset = CATALOGUE.dataset(experiment.dataset)
    assert "as-published" not in CATALOGUE.system("cnosdb-2.4").arms
    assert factors(experiment, profile, {}, dataset, CATALOGUE)["arm"] == ["published", "as-published"]
    with pytest.raises(RequestError, match='there is no arm "as-published"'):
        # An entry of the profile has no effect on what the user asks for.
        factors(experiment, profile, {"arm": ["as-published"]}, dataset, CATALOGUE)
