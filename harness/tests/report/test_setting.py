"""The table of the publication next to the rerun."""

from __future__ import annotations

import pytest

from benchbook.declare.workload import workloads
from benchbook.report.tables import setting


@pytest.mark.parametrize(
    ("fixed", "words"),
    [([], "in the phase first, each client writes for 5 s"), (["duration"], "synthetic rows")],
)
def test_a_load_that_fixes_its_end_is_described_by_its_amount(plain, monkeypatch, fixed, words):
    declared = {
        **plain.declared,
        "phases": [{"name": "first", "workload": "load", "fixed": fixed}],
        "profiles": {plain.profile: {"options": {"duration": "5s"}}},
    }
    monkeypatch.setitem(plain.__dict__, "declared", declared)
    told = setting._data(plain)
    assert words in told
    assert ("writes for" in told) == (not fixed)


@pytest.mark.parametrize(
    ("source", "rows", "words"),
    [
        ({"file": "data/trips.parquet"}, 200_000, "200,000 rows of the file trips.parquet"),
        ({"file": "corpus.tar", "format": "other"}, 0, "the file corpus.tar"),
        ({"file": "../linux-source", "format": "folder"}, 0, "the folder linux-source"),
    ],
)
def test_a_file_of_ones_own_is_not_synthetic(plain, monkeypatch, source, rows, words):
    facts = {"dataset": {"rows": rows}, "planned": {"dataset": {"source": source}}}
    monkeypatch.setattr(type(plain), "facts", lambda self, topic: facts.get(topic, {}))
    assert setting._data(plain) == words


def test_data_that_a_workload_makes_is_not_the_dataset_of_the_experiment(plain, monkeypatch):
    monkeypatch.setattr(
        type(plain), "phases_having", lambda self, trait: [(workloads()["ycsb"], name) for name in "ab"]
    )
    monkeypatch.setitem(plain.__dict__, "loads", [])
    assert setting._data(plain) == "made by the workload ycsb, with the options of its phases"


def test_only_loads_that_the_profile_runs_are_described_each_with_its_time(plain, monkeypatch):
    profile = {"options": {"duration": "5s"}, "phases": ["first", "second", "third"]}
    profile["phase_options"] = {"second": {"duration": "1m"}, "third": {"operations": 10}}
    declared = {
        **plain.declared,
        "phases": [{"name": name, "workload": "load"} for name in ("first", "second", "third", "fourth")],
        "profiles": {plain.profile: profile},
    }
    monkeypatch.setitem(plain.__dict__, "declared", declared)
    told = setting._data(plain)
    assert told.endswith(
        "; in the phase first, each client writes for 5 s in each trial; "
        "in the phase second, each client writes for 60 s in each trial"
    )


def test_datasets_of_several_scales_are_not_described_by_one_of_them(plain, monkeypatch):
    facts = {"dataset": {"rows": 720, "scale": 2, "generator": "devops", "bytes": 9000}}
    monkeypatch.setattr(type(plain), "facts", lambda self, topic: facts.get(topic, {}))
    assert setting._data(plain) == "720 synthetic rows of 2 hosts, 9.00 kB as text"
    monkeypatch.setattr(setting, "_levels", lambda run, factor: ["2", "20"] if factor == "scale" else [])
    assert setting._data(plain) == "synthetic rows of 2 and 20 hosts"
    facts["dataset"]["generator"] = "other"
    assert setting._data(plain) == "synthetic rows at the scales 2 and 20"


def test_the_machine_of_the_run_is_not_the_only_one_that_answers_rest_on(plain, monkeypatch):
    monkeypatch.setattr(setting.opening, "processors", lambda _: {"A": plain, "B": plain, "C": plain})
    monkeypatch.setattr(setting, "machine", lambda _: "2 cores of A")
    [row] = [row for row in setting.table(plain).rows if row[0] == "Machine"]
    assert row[1] == "2 cores of A; other runs on B and C"


def test_a_line_has_machine_versions_and_durability_of_the_compared_systems_alone(plain, monkeypatch):
    duckdb = [cell for cell in plain.cells if cell.system == "duckdb"]
    monkeypatch.setattr(setting, "machine", lambda _: "2 cores of A")
    assert setting.brief(plain, duckdb) == "2 cores of A. DuckDB 1.5.6: at every commit"
