"""Opening and importing runs from a results folder, an export or published data."""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
from pathlib import Path

import polars as pl
import pytest

from benchbook.errors import RequestError
from benchbook.record import database, export, manifest, opened, query, runs
from benchbook.record.tables import SCHEMA_VERSION, TABLES
from tests.claims import measured_run

DRAWN = [("server", "cpu_seconds")]


def digests(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


@pytest.fixture(params=["whole", "published"])
def exported(
    request: pytest.FixtureRequest, recorded: tuple[Path, str], tmp_path: Path
) -> tuple[Path, str, str]:
    results, run_id = recorded
    if request.param == "whole":
        return export.export_run(results, run_id, tmp_path / "data" / "export"), run_id, request.param
    return export.publish_run(results, run_id, tmp_path / "data", DRAWN), run_id, request.param


def rows(results: Path, *but: str) -> dict[str, list[tuple]]:
    with database.open(results, read_only=True) as connection:
        return {
            table.name: connection.execute(f"SELECT * FROM {table.name} ORDER BY ALL").fetchall()
            for table in TABLES
            if table.name not in but
        }


THINNED = ("telemetry", "intervals", "operations")


def test_a_folder_is_opened_with_its_rows_and_stays_unchanged(
    exported: tuple[Path, str, str], recorded: tuple[Path, str], tmp_path: Path
) -> None:
    folder, run_id, form = exported
    database.rebuild(recorded[0])
    before = digests(folder)
    with opened.opened(tmp_path / "no results", f"{folder}/") as found:
        assert found.run_ids == (run_id,)
        assert found.temporary
        but = THINNED if form == "published" else ()
        assert rows(found.results, *but) == rows(recorded[0], *but)
        place = found.results / "runs" / run_id
        (place / "report.html").write_text("a report that is rendered here")
    assert not place.exists()
    assert digests(folder) == before
    assert not (tmp_path / "no results").exists()


def test_a_run_in_its_results_folder_is_named_by_its_folder_too(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    with opened.opened(Path("elsewhere"), str(results / "runs" / run_id)) as found:
        assert (found.results, found.run_ids, found.temporary) == (results, (run_id,), False)
        assert query.sql(found.results, "SELECT count(*) FROM trials").item() == 6


def test_an_export_is_read_from_its_trials_where_they_are_needed(
    recorded: tuple[Path, str], tmp_path: Path
) -> None:
    results, run_id = recorded
    folder = export.export_run(results, run_id, tmp_path / "export")
    with opened.opened(results, str(folder), from_trials=True) as found:
        again = export.export_run(found.results, run_id, tmp_path / "again")
    assert digests(again) == digests(folder)


def test_tables_of_an_older_version_are_read_from_trials_or_with_null(
    exported: tuple[Path, str, str], recorded: tuple[Path, str]
) -> None:
    folder, _, form = exported
    trials = folder / "tables" / "trials.parquet"
    pl.read_parquet(trials).drop("config_digest").write_parquet(trials)
    (folder / "tables" / "client_intervals.parquet").unlink()
    stated = json.loads((folder / manifest.FILE).read_text())
    (folder / manifest.FILE).unlink()
    kept = {key: value for key, value in stated.items() if key not in ("files", "kind", "schema")}
    manifest.write(folder, kept)
    path = folder / manifest.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 1}))
    with opened.opened(recorded[0], str(folder)) as found:
        held = query.sql(found.results, "SELECT count(config_digest) AS n FROM trials").item()
    assert held == (6 if form == "whole" else 0)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Results with two runs and an A/A run of one experiment, in a ledger: one of each."""
    chance = random.Random(1)

    def noisy(levels: dict[str, object], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): 1000 * math.exp(chance.gauss(0, 0.03))}

    systems = {"system": ["influxdb-1.8.10", "cnosdb-2.0.1"]}
    results = tmp_path / "results"
    for number, (run_id, factors) in enumerate(
        (("run-1", systems), ("aa-1", {**systems, "aa": ["A", "B"]}), ("run-2", systems))
    ):
        created = f"2026-03-0{number + 1}T09:00:00+00:00"
        measured_run.write(results, run_id, factors, noisy, blocks=4, database=False, created=created)
    for run_id in ("run-1", "aa-1"):
        export.publish_run(results, run_id, tmp_path / "data", DRAWN)
    return tmp_path


def ids(results: Path) -> list[str]:
    return sorted(query.sql(results, "SELECT run_id FROM runs")["run_id"].to_list())


def test_the_a_a_runs_of_the_same_machine_come_along(machine: Path) -> None:
    [aa, plain] = sorted((machine / "data" / "cnos-vs-influx").iterdir())
    with opened.opened(machine, str(plain)) as found:
        assert found.run_id == "run-1"
        assert ids(found.results) == ["aa-1", "run-1"]
    with opened.opened(machine, str(plain), floors=False) as found:
        assert ids(found.results) == ["run-1"]
    with opened.opened(machine, str(aa)) as found:
        assert ids(found.results) == ["aa-1"]


def test_a_damaged_neighbour_is_left_out_by_name(machine: Path, said: list[str]) -> None:
    [aa, plain] = sorted((machine / "data" / "cnos-vs-influx").iterdir())
    (aa / "plan.json").write_text("{}")
    with opened.opened(machine, str(plain), say=said.append) as found:
        assert ids(found.results) == ["run-1"]
    assert f"Left out: {aa} is damaged" in said[0]


def test_runs_of_several_places_are_opened_together(machine: Path) -> None:
    [_, plain] = sorted((machine / "data" / "cnos-vs-influx").iterdir())
    with opened.opened(machine / "results", str(plain), "run-2") as found:
        assert found.run_ids == ("run-1", "run-2")
        assert ids(found.results) == ["aa-1", "run-1", "run-2"]
    with opened.opened(machine / "results", "run-1", "run-2") as found:
        assert not found.temporary


@pytest.mark.parametrize(
    ("spoil", "message", "hint"),
    [
        (
            lambda one: (one / "plan.json").write_text("{}"),
            "files have changed since the export: plan.json",
            "Copy the export again",
        ),
        (lambda one: (one / "run.json").unlink(), "files are missing: run.json", "Copy the export again"),
        (lambda one: (one / manifest.FILE).write_text("{"), "is not valid JSON", "Copy the export again"),
        (
            lambda one: (one / manifest.FILE).write_text("{}"),
            "must have kind, schema, run_id",
            "Name a folder that",
        ),
        (lambda one: (one / manifest.FILE).unlink(), "is not the folder of a run", "Name a folder that"),
        (shutil.rmtree, "does not exist", "Name a folder that"),
        (
            lambda one: (one / manifest.FILE).write_text(
                (one / manifest.FILE).read_text().replace(f'"schema": {SCHEMA_VERSION}', '"schema": 99')
            ),
            "written by a newer Benchbook",
            "Update Benchbook",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_one_sentence(
    recorded: tuple[Path, str], tmp_path: Path, spoil: object, message: str, hint: str
) -> None:
    folder = export.publish_run(*recorded, tmp_path / "data", DRAWN)
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(RequestError, match=message) as caught, opened.opened(recorded[0], str(folder)):
        pass
    assert str(folder) in caught.value.message
    assert hint in str(caught.value.hint)


def test_a_folder_of_several_runs_names_one_of_them(machine: Path) -> None:
    with (
        pytest.raises(RequestError, match="but 2 runs are in its subfolders") as caught,
        opened.opened(machine, str(machine / "data")),
    ):
        pass
    assert str(machine / "data" / "cnos-vs-influx") in str(caught.value.hint)


def test_the_folder_of_an_experiment_means_the_run_that_its_page_shows(
    machine: Path, said: list[str]
) -> None:
    with opened.opened(machine, str(machine / "data" / "cnos-vs-influx"), say=said.append) as found:
        assert found.run_id == "run-1"
        assert ids(found.results) == ["aa-1", "run-1"]
    assert "has 2 runs; this is the latest that counts: run-1" in said[0]


def test_an_export_cannot_be_resumed(machine: Path) -> None:
    [_, plain] = sorted((machine / "data" / "cnos-vs-influx").iterdir())
    with pytest.raises(RequestError, match="cannot be continued") as caught:
        opened.in_results(machine / "results", str(plain))
    assert "rerun" in str(caught.value.hint)
    where = machine / "results" / "runs" / "run-1"
    assert opened.in_results(machine, str(where)) == (machine / "results", "run-1")


def test_an_imported_run_lists_rebuilds_and_exports_as_it_was_published(
    exported: tuple[Path, str, str], tmp_path: Path, said: list[str]
) -> None:
    folder, run_id, form = exported
    results = tmp_path / "mine"
    assert opened.import_run(folder, results, said.append) == run_id
    assert said == [f"{run_id}: 6 trials are in {results}."]
    before = rows(results)
    assert opened.import_run(folder, results, said.append) == run_id  # again, as once
    database.rebuild(results)
    assert database.catch_up(results, said.append) == 0
    assert rows(results) == before
    [listed] = runs.listing(results)
    assert (listed["run"], listed["trials"], listed["state"]) == (run_id, 6, "whole")
    assert runs.unfinished(results) == runs.left(results, run_id) == []
    if form == "published":
        with pytest.raises(RequestError, match="was not begun by you") as refused:
            export.publish_run(results, run_id, tmp_path / "again", DRAWN)
        assert "--machine NAME" in str(refused.value.hint)
        again = export.publish_run(results, run_id, tmp_path / "again", DRAWN, machine="lab-1")
        differing = {name for name, digest in digests(again).items() if digests(folder).get(name) != digest}
        assert differing == {manifest.FILE}
        assert manifest.read(again).machine == "lab-1"
        kept = opened.import_run(again, tmp_path / "theirs", said.append)
        assert (
            manifest.read(export.publish_run(tmp_path / "theirs", kept, tmp_path / "third", DRAWN)).machine
            == "lab-1"
        )
    trial = query.trial(results, f"{run_id}/0003")
    assert trial is not None
    assert trial["index"] == 3
    assert trial["measurements"]
    assert query.trial(results, f"{run_id}/9999") is None


def test_damaged_tables_leave_out_their_run_alone(
    recorded: tuple[Path, str], machine: Path, said: list[str]
) -> None:
    results = machine / "mine"
    for place in sorted((machine / "data" / "cnos-vs-influx").iterdir()):
        shutil.copytree(place, results / "runs" / place.name)
    database.rebuild(results, said.append)
    said.clear()
    file = results / "runs" / "aa-1" / "tables" / "measurements.parquet"
    file.write_bytes(file.read_bytes()[:100])
    counts = database.rebuild(results, said.append)
    assert counts["runs"] == 1
    assert len(said) == 1
    assert str(results / "runs" / "aa-1") in said[0]
    other = results / "runs" / "run-1" / "tables" / "runs.parquet"
    shutil.copyfile(results / "runs" / "aa-1" / "tables" / "runs.parquet", other)
    said.clear()
    assert database.rebuild(results, said.append)["runs"] == 0
    assert 'its tables do not belong to its plan: table runs has a row of the run "aa-1"' in said[1]


@pytest.mark.parametrize("name", ["latest", "quickstart", "quickstart-2026"])
def test_a_name_without_a_slash_is_a_run_of_the_results(name: str) -> None:
    assert not opened.is_folder(name)


def test_a_folder_named_without_a_slash_gets_a_hint(
    recorded: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export.export_run(*recorded, tmp_path / "my-export")
    monkeypatch.chdir(tmp_path)
    for results in (recorded[0], tmp_path / "none"):
        with pytest.raises(RequestError) as caught, opened.opened(results, "my-export"):
            pass
        assert caught.value.hint == "For the folder of this name, write ./my-export"
