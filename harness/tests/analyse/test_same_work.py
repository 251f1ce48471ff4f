"""Cells with different data, queries or configurations are not compared; answers are, within a tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from benchbook.analyse import rules
from benchbook.analyse.reason import because
from benchbook.analyse.run import Run, open_run
from benchbook.analyse.same_work import mixture, tolerance
from benchbook.analyse.values import Cell
from benchbook.declare.catalogue import root
from benchbook.record import objects
from benchbook.record.objects import Objects
from benchbook.record.opened import opened
from tests.claims import measured_run

PLAN = {
    "dataset": {"name": "frames", "float_tolerance": 1e-6},
    "phases": [{"name": "q", "workload": "query", "options": {"workers": 4}}],
}


def planned_as_declared(run: Run) -> bool:
    """Return whether the tolerance and the workers are those of ``PLAN``."""
    in_flight = rules._in_flight(run)(run.cells[0], "q")
    return (tolerance(run), in_flight) == (1e-6, 4)


def test_what_was_planned_is_read_from_the_database(tmp_path: Path) -> None:
    run_id = measured_run.write(tmp_path, "one", {"system": ["a"]}, lambda *_: {}, plan=PLAN)
    for file in ("plan.json", "run.json"):
        (tmp_path / "runs" / run_id / file).write_text("{}")
    assert planned_as_declared(open_run(tmp_path, run_id))


def test_a_machine_that_reads_object_storage_compares_with_the_tolerance_of_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drive/bucket").mkdir(parents=True)
    drive = fs.SubTreeFileSystem(str(tmp_path / "drive"), fs.LocalFileSystem())
    monkeypatch.setattr(Objects, "files", lambda _: drive)
    monkeypatch.setattr(Objects, "put", put)
    run_id = measured_run.write(tmp_path / "here", "one", {"system": ["a"]}, lambda *_: {}, plan=PLAN)
    run = tmp_path / "here/runs" / run_id
    objects.push(Objects("s3://bucket/team"), run, sorted((run / "trials").iterdir()))
    monkeypatch.setenv("BENCHBOOK_CACHE", str(tmp_path / "another machine"))
    assert planned_as_declared(open_run(objects.folder_of("s3://bucket/team"), run_id))


def test_tables_of_an_older_benchbook_are_completed_from_their_plan(tmp_path: Path) -> None:
    with opened(tmp_path, str(root() / "reports/data/dataframes-join"), floors=False) as held:
        assert tolerance(Run(held.results, held.run_id)) == 1e-6


def put(store: Objects, name: str, content: bytes) -> None:
    """Write an object to a disk, which unlike object storage needs the folder first."""
    place = f"{store.prefix}/{name}"
    store.files().create_dir(place.rpartition("/")[0])
    with store.files().open_output_stream(place) as out:
        out.write(content)


def cell(name: str, **held: Any) -> Cell:
    made = {
        "datasets": ("d",), "queries": ("q",), "configurations": ("c",), "arm": "vanilla", "levels": {}, "ok": 3,
        "trials": 3, "statuses": (), "reason": None, "versions": ("1",),
    }  # fmt: skip
    return Cell(name, name, **{**made, **held})


def test_the_same_work_is_no_mixture() -> None:
    assert mixture([cell("a"), cell("b", configurations=("another",))]) == []


def test_other_data_and_other_queries_are_told_unless_the_data_is_what_is_compared() -> None:
    sides = [cell("a"), cell("b", datasets=("e",), queries=("r",))]
    assert mixture(sides) == [
        because("versions-differ", what="dataset", number=2),
        because("versions-differ", what="query set", number=2),
    ]
    assert mixture(sides, data_differ=True) == []


def test_trials_of_one_cell_under_two_configurations_are_told() -> None:
    assert mixture([cell("a", configurations=("c", "d"))]) == [
        because("configurations-differ", cell="a", number=2)
    ]
