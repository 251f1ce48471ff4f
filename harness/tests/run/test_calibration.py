"""The client's ceiling is measured on the cores that clients of trials use."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.declare import plugin
from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import Phase
from benchbook.errors import Unavailable
from benchbook.process import spawn
from benchbook.run import benchload
from benchbook.run import ceiling as ceilings
from benchbook.run.benchload import load_client
from benchbook.run.ceiling import ceiling

IOT = {
    "name": "iot", "title": "IoT", "description": "A few trucks.", "generator": "iot", "seed": 1,
    "parameters": {
        "scale": 5, "start": "2022-01-01T00:00:00Z", "end": "2022-01-01T00:10:00Z", "interval": "50s",
    },
}  # fmt: skip


DRIVERS = {
    "another": "postgresql", "cannot-take-it": "elasticsearch", "own-client": "dolphindb", "objects": "seaweedfs",
}  # fmt: skip
"""System → its driver; other systems speak the protocol of the null server."""


@pytest.fixture
def context(tmp_path: Path) -> Any:
    try:
        binary = spawn.find_benchload()
    except Unavailable as reason:
        pytest.skip(str(reason))
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core cannot be divided")

    def of(*pinnings: str) -> Any:
        trials = [
            SimpleNamespace(levels={"system": "a-server", "pinning": one}, program="a-server", cell=one)
            for one in pinnings
        ]
        phases = [Phase(name="load", workload="load", options={"batch_size": 500, "workers": 1})]
        return SimpleNamespace(
            plan=SimpleNamespace(profile="smoke", systems=lambda: ["a-server"], phases=phases, trials=trials),
            system=lambda name: SimpleNamespace(
                name=name, version="1", embedded=False, driver=DRIVERS.get(name, "influxdb1")
            ),
            programs={}, benchload=binary, scratch=tmp_path, results=tmp_path, cluster=None,
            observer=SimpleNamespace(note=lambda _: None),
        )  # fmt: skip

    return of


def test_the_ceiling_is_that_of_the_cores_of_a_trial(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started: dict[str, set[int]] = {}
    begin = spawn.start

    def watched(command: Any, **more: Any) -> Any:
        running = begin(command, **more)
        started[str(command[1])] = os.sched_getaffinity(running.pid)
        return running

    monkeypatch.setattr(spawn, "start", watched)
    [found] = ceiling(context("always", "always"), Dataset.model_validate(IOT))
    assert found["rows_per_second"] > 0
    assert found["errors"] == 0
    assert started == {"null-server": set(found["server_cores"]), "load": set(found["client_cores"])}
    assert not set(found["server_cores"]) & set(found["client_cores"])
    assert list((context("off").results / "processes").glob("*.json")) == []


def test_queries_have_a_ceiling_by_phase_and_workers(
    context: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ceilings, "SECONDS", 0.3)
    dataset = Dataset.model_validate(IOT)
    asked = context("off", "off")
    file = benchload.queries(asked.benchload, dataset, "last-loc", 5, tmp_path)
    asked.plan.profile = "quick"
    asked.plan.phases = [Phase(name="last", workload="query", options={"type": "last-loc", "queries": 5})]
    asked.query_files = {(dataset.flags(), "last-loc", 5): file}
    monkeypatch.setattr(ceilings, "trial_dataset", lambda plan, levels: dataset)
    for trial, workers in zip(asked.plan.trials, ("1", "2"), strict=True):
        trial.levels["workers"] = workers
    found = [one for one in ceiling(asked, dataset) if "phase" in one]
    assert [(one["phase"], one["workers"]) for one in found] == [("last", 1), ("last", 2)]
    assert all(one["operations"] > 5 and one["errors"] == 0 for one in found)
    assert all(one["duration_ns"] >= 0.3e9 for one in found)


def test_trials_with_other_cores_have_a_ceiling_of_their_own(context: Any) -> None:
    found = ceiling(context("off", "always"), Dataset.model_validate(IOT))
    assert [one["client_cores"] is None for one in found] == [True, False]


def test_each_kind_of_load_has_a_ceiling_that_lasts(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "SECONDS", 0.3)
    asked = context("off", "off", "off")
    asked.plan.profile = "quick"
    for trial, workers in zip(asked.plan.trials, ("1", "2", "2"), strict=True):
        trial.levels["workers"] = workers
    found = ceiling(asked, Dataset.model_validate(IOT))
    assert [(one["batch_size"], one["workers"]) for one in found] == [(500, 1), (500, 2)]
    assert all(one["duration_ns"] >= 0.3e9 for one in found)
    assert all(one["errors"] == 0 for one in found)


def test_other_protocols_have_a_ceiling_without_a_connection(
    context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceilings, "SECONDS", 0.3)
    systems = ("a-server", *DRIVERS)
    asked = context(*["off"] * len(systems))
    asked.plan.profile = "quick"
    for trial, system in zip(asked.plan.trials, systems, strict=True):
        trial.levels["system"] = system
    [sent, encoded] = ceiling(asked, Dataset.model_validate(IOT))
    assert "systems" not in sent
    assert (encoded["systems"], encoded["batch_size"], encoded["workers"]) == (["another"], 500, 1)
    assert encoded["workload"] == "load-dry-run"
    assert encoded["rows_per_second"] > 0
    assert encoded["duration_ns"] >= 0.3e9


@pytest.mark.parametrize("do", ["put", "get", "mixed"])
def test_objects_have_a_ceiling_without_a_connection(
    context: Any, monkeypatch: pytest.MonkeyPatch, do: str
) -> None:
    monkeypatch.setattr(ceilings, "SECONDS", 0.3)
    dataset = Dataset.model_validate(
        {**IOT, "generator": "blob", "parameters": {"count": 50, "size": "4KiB"}, "name": "blob"}
    )
    monkeypatch.setattr(ceilings, "trial_dataset", lambda plan, levels: dataset)
    asked = context("off", "off")
    asked.plan.profile = "quick"
    asked.plan.phases = [
        Phase(name=do, workload="blob", options={"do": do, "workers": 2}),
        Phase(name="delete", workload="blob", options={"do": "delete"}),
    ]
    [found] = ceiling(asked, dataset)
    assert (found["phase"], found["cells"], found["workers"]) == (do, ["off"], 2)
    assert found["errors"] == 0
    assert found["rows_per_second"] > 0
    assert found["duration_ns"] >= 0.3e9


def test_reads_of_bars_have_a_ceiling_without_a_connection(
    context: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ceilings, "SECONDS", 0.3)
    dataset = Dataset.model_validate(
        {**IOT, "generator": "kline", "name": "kline", "parameters": {
            "stocks": 2, "start": "2020-01-01T00:00:00Z", "days": 10,
        }}
    )  # fmt: skip
    monkeypatch.setattr(ceilings, "trial_dataset", lambda plan, levels: dataset)
    asked = context("off")
    asked.benchload = load_client("kline-mysql-vs-kv")
    asked.folder, asked.query_files, asked.plan.profile = tmp_path, {}, "quick"
    options = {"read": "long", "requests": 20, "in_flight": 3}
    asked.plan.phases = [Phase(name="long", workload="kline", options=options)]
    kline = plugin.own("kline-mysql-vs-kv", "workload")["kline"]
    kline.prepare(asked, dataset, kline.options.model_validate(options))
    [_, found] = ceiling(asked, dataset)
    assert (found["phase"], found["cells"], found["workers"]) == ("long", ["off"], 3)
    assert found["errors"] == 0
    assert found["operations"] > 20
