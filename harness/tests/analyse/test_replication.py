"""Cases: what several runs did alike, and only that."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import replication
from benchbook.analyse.processors import Between, estimate
from benchbook.analyse.replication import Case
from benchbook.analyse.run import Run
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run

Write = Callable[..., Run]
LOAD = {"name": "load", "workload": "load", "options": {"batch_size": 5000}}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a run in which CnosDB is ``ratio`` times as fast."""
    count = itertools.count()

    def written(
        ratio: float = 2.0,
        phases: tuple[dict[str, Any], ...] = (LOAD,),
        claim: dict[str, Any] = BASE,
        **options: Any,
    ) -> Run:
        number = next(count)
        chance = random.Random(number)

        def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
            faster = ratio if levels["system"] != INFLUX else 1.0
            rate = 1000 * faster * math.exp(chance.gauss(0, 0.01))
            return {
                (one["name"], name): number
                for one in phases
                for name, number in (("rows_per_second", rate), ("server_cpu_seconds", 1000 / rate))
            }

        declared = measured_run.experiment("cnos-vs-influx", claims=[claim], phases=list(phases))
        factors = options.pop("factors", {"system": [CNOS, INFLUX]})
        planned = {"planned": {"phases": list(phases), "dataset": {}}}
        place = tmp_path / str(number)
        run_id = measured_run.write(place, f"run-{number}", factors, value, declared=declared, **options)
        run = Run(place, run_id)
        run._topics.update(planned)
        return run

    return written


def found(*runs: Run) -> dict[tuple[str, str | None], list[Case]]:
    made: dict[tuple[str, str | None], list[Case]] = {}
    for one in replication.cases("x", list(enumerate(runs))):
        made.setdefault((one.metric, one.claim), []).append(one)
    return made


def test_equal_work_is_one_case_for_each_metric_and_one_for_the_claim(write: Write):
    cases = found(write(2.0), write(2.5))
    assert {key: len(held) for key, held in cases.items()} == {
        ("rows_per_second", None): 1, ("server_cpu_seconds", None): 1, ("rows_per_second", BASE["id"]): 1,
    }  # fmt: skip
    [case] = cases["rows_per_second", None]
    assert (case.kind, len(case.processors)) == ("speed", 2)
    made = estimate([[one.fit for one in held] for held in case.processors.values()], Between(0.1))
    assert (made.processors, made.runs) == (2, 2)
    assert math.exp(made.mean.centre) == pytest.approx(math.sqrt(2.0 * 2.5), rel=0.02)
    assert cases["server_cpu_seconds", None][0].kind == "processor time"


def test_a_claim_on_several_phases_is_a_case_for_each(write: Write):
    phases = (LOAD, {**LOAD, "name": "again"})
    across = {"phases": ["load", "again"], "across": ["phase"]}
    claim = {key: value for key, value in BASE.items() if key != "phase"} | across
    cases = found(write(2.0, phases, claim), write(2.5, phases, claim))["rows_per_second", BASE["id"]]
    assert sorted((one.phase, len(one.found)) for one in cases) == [("again", 2), ("load", 2)]
    assert all(one.expected is not None for one in cases)


@pytest.mark.parametrize(
    "other",
    [
        {"phases": ({**LOAD, "options": {"batch_size": 1000}},)},
        {"profile": "seed"},
        {"factors": {"system": [CNOS, INFLUX], "workers": [8]}},
    ],
    ids=["options", "profile", "setup"],
)
def test_other_work_is_another_case(write: Write, other: dict[str, Any]):
    cases = found(write(), write(**other))
    assert [len(one.processors) for one in cases["rows_per_second", None]] == [1, 1]


def test_an_option_that_a_plan_did_not_know_is_the_default(write: Write):
    from benchbook.declare.workload import workloads

    default = workloads()["load"].options().model_dump(mode="json")["workers"]
    known = {**LOAD, "options": {**LOAD["options"], "workers": default}}
    assert len(found(write(), write(phases=(known,)))["rows_per_second", None]) == 1


def test_noise_between_equal_setups_is_always_part_of_an_estimate(write: Write):
    [case] = found(write())["rows_per_second", None]
    [one] = case.found
    assert one.fit.error == pytest.approx(math.hypot(one.alone.error, 0.02), rel=1e-6)
