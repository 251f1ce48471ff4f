"""Import of an export: the same rows, or an error for a changed export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

import polars as pl
import pytest

from benchbook.errors import RequestError
from benchbook.record import database, export, manifest, opened
from benchbook.record.tables import TABLES


@pytest.fixture
def exported(recorded: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    results, run_id = recorded
    return export.export_run(results, run_id, tmp_path / "export"), run_id


def rows(results: Path) -> dict[str, list[tuple]]:
    with database.open(results, read_only=True) as connection:
        return {
            table.name: connection.execute(f"SELECT * FROM {table.name} ORDER BY ALL").fetchall()
            for table in TABLES
        }


def test_elsewhere_it_has_the_same_rows(recorded, exported, tmp_path, said):

    elsewhere = tmp_path / "elsewhere"
    assert opened.import_run(exported[0], elsewhere, said.append) == exported[1]
    database.rebuild(recorded[0])
    assert rows(elsewhere) == rows(recorded[0])
    assert said == [f"{exported[1]}: 6 trials are in {elsewhere}."]


def test_twice_is_as_once(exported, tmp_path, said):
    elsewhere = tmp_path / "elsewhere"
    opened.import_run(exported[0], elsewhere, said.append)
    before = rows(elsewhere)
    opened.import_run(exported[0], elsewhere, said.append)
    assert rows(elsewhere) == before
    again = export.export_run(elsewhere, exported[1], tmp_path / "again")
    assert (again / manifest.FILE).read_bytes() == (exported[0] / manifest.FILE).read_bytes()


@pytest.mark.parametrize("name", ["run.json", "tables/trials.parquet", "trials/0003/events.jsonl"])
def test_a_damaged_export_is_refused_by_the_file_that_is(exported, tmp_path, name, said):
    with (exported[0] / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(RequestError, match=f"files have changed since the export: {name}"):
        opened.import_run(exported[0], tmp_path / "elsewhere", said.append)
    (exported[0] / name).unlink()
    with pytest.raises(RequestError, match=f"files are missing: {name}"):
        opened.import_run(exported[0], tmp_path / "elsewhere", said.append)
    assert not (tmp_path / "elsewhere").exists()


def test_a_newer_schema_is_refused(exported, tmp_path):
    path = exported[0] / manifest.FILE
    stated = json.loads(path.read_text())
    path.write_text(json.dumps({**stated, "schema": stated["schema"] + 1}))
    with pytest.raises(RequestError, match="written by a newer Benchbook"):
        opened.import_run(exported[0], tmp_path / "elsewhere")


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "trials/../../outside"])
def test_a_file_outside_of_the_export_is_refused(exported, tmp_path, name):
    path = exported[0] / manifest.FILE
    stated = json.loads(path.read_text())
    stated["files"].append({"file": name, "bytes": 1, "sha256": "0"})
    path.write_text(json.dumps(stated))
    with pytest.raises(RequestError, match="lies outside the export"):
        opened.import_run(exported[0], tmp_path / "elsewhere")


def test_a_link_is_refused(exported, tmp_path):
    file = exported[0] / "run.json"
    file.rename(tmp_path / "run.json")
    file.symlink_to(tmp_path / "run.json")
    with pytest.raises(RequestError, match="is a link"):
        opened.import_run(exported[0], tmp_path / "elsewhere")


def test_another_run_of_the_same_id_is_left_as_it_is(exported, tmp_path, said):
    elsewhere = tmp_path / "elsewhere"
    opened.import_run(exported[0], elsewhere, said.append)
    there = elsewhere / "runs" / exported[1] / "trials" / "0001" / "trial.json"
    there.write_text(there.read_text().replace('"ok"', '"failed"', 1))
    before = there.read_bytes()
    with pytest.raises(RequestError, match="Nothing was changed"):
        opened.import_run(exported[0], elsewhere, said.append)
    assert there.read_bytes() == before


def test_what_is_no_export_is_told(tmp_path):
    with pytest.raises(RequestError, match=r"it has no manifest\.json"):
        opened.import_run(tmp_path, tmp_path / "elsewhere")


def test_an_interrupted_copy_leaves_no_run(exported, tmp_path, monkeypatch):
    copied = []

    def copy(source: Path, target: IO[bytes], entry: manifest.Entry, copied_to=manifest._copied) -> bool:
        if str(tmp_path / "elsewhere") in target.name:
            copied.append(target)
            if len(copied) > 3:
                raise OSError(28, "No space left on device")
        return copied_to(source, target, entry)

    monkeypatch.setattr(manifest, "_copied", copy)
    with pytest.raises(RequestError, match="No space left"):
        opened.import_run(exported[0], tmp_path / "elsewhere")
    assert list((tmp_path / "elsewhere" / "runs").iterdir()) == []


def signed(where: Path, **facts: object) -> None:
    """Write the manifest of what is in a folder now, as a sender can."""
    stated = json.loads((where / manifest.FILE).read_text())
    (where / manifest.FILE).unlink()
    kept = {name: value for name, value in stated.items() if name not in ("kind", "schema", "files")}
    manifest.write(where, {**kept, **facts})


@pytest.mark.parametrize(
    "name", ["quickstart", "quickstart-2026", "latest", "quickstart-20260301T093000-44CB"]
)
def test_an_id_that_could_be_taken_for_another_name_is_refused(exported, tmp_path, name):
    """The attack: a run whose id is the name of the experiment is what ``claims quickstart`` then shows."""
    folder, run_id = exported
    for file in [folder / "run.json", folder / "plan.json", *folder.glob("trials/*/trial.json")]:
        file.write_text(file.read_text().replace(run_id, name))
    signed(folder, run_id=name)
    with pytest.raises(RequestError, match="is not an id that a run gets"):
        opened.import_run(folder, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


def test_tables_that_are_not_those_of_the_trials_are_refused(exported, tmp_path):
    """The attack: whoever looks at the folder sees other numbers than whoever imports it."""
    folder, _ = exported
    file = folder / "tables" / "measurements.parquet"
    held = pl.read_parquet(file).with_columns(pl.col("value") * 3)
    held.write_parquet(file)
    signed(folder)
    with pytest.raises(RequestError, match="tables and the files of its trials differ in measurements"):
        opened.import_run(folder, tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("after", [0, 3, 8])
def test_a_file_that_is_replaced_after_the_check_is_refused(exported, tmp_path, monkeypatch, after):
    """The attack: a sender who can write to the folder swaps a file, or a link to a secret, in between."""
    folder, _ = exported
    secret = tmp_path / "secret"
    secret.write_text("private")
    copied = []

    def copy(source: Path, target: IO[bytes], entry: manifest.Entry, really=manifest._copied) -> bool:
        copied.append(source)
        if len(copied) == after + 1:
            source.unlink()
            source.symlink_to(secret)
        return really(source, target, entry)

    monkeypatch.setattr(manifest, "_copied", copy)
    with pytest.raises(RequestError, match="files have changed since the export"):
        opened.import_run(folder, tmp_path / "elsewhere")
    assert "private" not in "".join(
        path.read_text(errors="replace") for path in (tmp_path / "elsewhere").rglob("*") if path.is_file()
    )
