"""A plan contains every trial in order; an invalid request is reported in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan import plan as planning
from benchbook.plan.factors import parse_set
from benchbook.plan.plan import Plan, plan, trial_dataset

CATALOGUE = Catalogue()


def made(*sets: str, **options: Any) -> Plan:
    return plan(CATALOGUE, "quickstart", chosen=parse_set(list(sets)), **options)


def test_quickstart() -> None:
    planned = made(order_seed=1)
    assert planned.systems() != []
    assert len(planned.trials) == 5 * len(planned.cells())
    assert [trial.index for trial in planned.trials] == list(range(len(planned.trials)))
    assert len({trial.trial_id for trial in planned.trials}) == len(planned.trials)


def test_the_text_reads_back_as_the_same_plan() -> None:
    planned = made(order_seed=1)
    assert Plan.parse(json.loads(planned.text())) == planned


def test_plans_of_an_earlier_benchbook_are_still_read() -> None:
    planned = made(order_seed=1)
    assert Plan.parse({**json.loads(planned.text()), "precision": {"asked": 0.05, "trials": 9}}) == planned


def test_set_replaces_levels_and_keeps_types() -> None:
    planned = made("system=duckdb", "batch_size=100,2000")
    assert {trial.levels["batch_size"] for trial in planned.trials} == {100, 2000}
    assert planned.cells() != made("system=duckdb").cells()


def test_a_dataset_parameter_can_be_a_factor() -> None:
    planned = made("system=duckdb", "scale=8,9")
    assert {trial_dataset(planned, trial.levels).typed().scale for trial in planned.trials} == {8, 9}


def test_the_profile_replaces_parameters_and_options() -> None:
    smoke, quick = made(profile_name="smoke"), made()
    assert smoke.dataset.parameters["scale"] == 8
    assert (smoke.phases[1].options["queries"], smoke.phases[1].options["duration"]) == (25, None)
    assert (quick.phases[1].options["queries"], quick.phases[1].options["duration"]) == (None, "1s")


@pytest.mark.parametrize(
    ("sets", "options", "words"),
    [
        (["sytem=duckdb"], {}, ['factor "sytem"', 'Did you mean "system"']),
        (["system=duckdbb"], {}, ['system "duckdbb"', 'Did you mean "duckdb"']),
        (["arm=vanila"], {}, ['arm "vanila"', 'Did you mean "vanilla"']),
        (["storage=locl"], {}, ['storage "locl"', 'Did you mean "local"']),
        (["batch_size=many"], {}, ['"many" is not a whole number']),
        (["batch_size=0"], {}, ["batch_size = 0"]),
        (["scale=0"], {}, ["scale = 0"]),
        (["batch_size"], {}, ["FACTOR=LEVEL"]),
        (["batch_size=1,"], {}, ["FACTOR=LEVEL"]),
        (["batch_size=1,1"], {}, ["given twice"]),
        (["batch_size=1", "batch_size=2"], {}, ["set twice"]),
        ([], {"profile_name": "quik"}, ['profile "quik"', 'Did you mean "quick"']),
        ([], {"profile_name": "published"}, ['profile "published"', "quick"]),
        ([], {"trials": 0}, ["--trials 0"]),
    ],
)
def test_a_wrong_request_is_one_sentence(sets: list[str], options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(RequestError) as caught:
        made(*sets, **options)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_smoke_covers_every_workload() -> None:
    for slug in CATALOGUE.names("experiment"):
        smoke = plan(CATALOGUE, slug, "smoke")
        declared = CATALOGUE.experiment(slug)
        assert {phase.workload for phase in smoke.phases} == {phase.workload for phase in declared.phases}
        for factor, levels in declared.factors.items():
            planned = {trial.levels[factor] for trial in smoke.trials}
            assert len(planned) >= min(2, len(levels)), factor


@pytest.mark.parametrize(
    ("key", "value"), [("run_id", "../../../evil"), ("trial_id", "x/../../evil"), ("trial_id", "r-1/0001")]
)
def test_a_name_in_a_plan_cannot_leave_its_folder(key: str, value: str) -> None:
    data = json.loads(made(order_seed=1).text())
    if key == "run_id":
        data["run_id"] = value
    else:
        data["trials"][0]["trial_id"] = value
    with pytest.raises(ValueError, match=r"is not the id of a run|trial 0 is called"):
        Plan.parse(data)


MANY = ",".join(map(str, range(1, 4001)))


@pytest.mark.parametrize("command", [["plan", "--json"], ["plan"], ["run", "--yes"], ["aa"]])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trials", "100000"], "10,000"),
        (["--set", f"batch_size={MANY}", "--set", f"workers={MANY}"], "100,000"),
        (["--order-seed", str(2**63)], "--order-seed"),
        (["--order-seed", "-1"], "--order-seed"),
    ],
)
def test_a_run_that_is_too_large_is_refused_before_anything_is_expanded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    options: list[str],
    words: str,
) -> None:
    monkeypatch.setattr(planning, "blocks", lambda *_: pytest.fail("the trials were expanded"))
    name, *more = command
    assert run([name, "quickstart", *more, *options, "--results", str(tmp_path / "results")]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    assert not (tmp_path / "results").exists()


def test_too_many_trials_in_a_declaration_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = planning.profile_named

    def large(slug: str, experiment: Any, name: str) -> Any:
        return declared(slug, experiment, name).model_copy(update={"trials": 10**9})

    monkeypatch.setattr(planning, "profile_named", large)
    with pytest.raises(RequestError, match=r"1,000,000,000 trials\), but a run has at most 10,000") as caught:
        made()
    assert "--trials N" in str(caught.value.hint)


def test_the_largest_seed_and_run_are_planned() -> None:
    assert made(order_seed=2**63 - 1).order_seed == 2**63 - 1
    cells = len(made().cells())
    assert len(made(trials=10_000 // cells).trials) == 10_000 // cells * cells
