from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import polars as pl
import pytest

from benchbook.errors import RequestError
from benchbook.record import export, query
from benchbook.record.tables import TABLES
from benchbook.site import published
from tests.record import synthetic_run


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def page(stage: Path, run_id: str) -> Path:
    """Replace the report stage."""
    made = stage / "runs" / run_id / "report.html"
    made.write_text(f"<html>{run_id}")
    return made


def test_an_export_has_the_rows_of_its_run_alone(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    synthetic_run.write(results, run_id="other", experiment="aa", blocks=1, instances=1, telemetry_seconds=1)
    output = export.export_run(results, run_id, tmp_path / "out", render=page)
    assert output == tmp_path / "out"
    assert (output / "report.html").read_text() == f"<html>{run_id}"
    for table in TABLES:
        rows = pl.read_parquet(output / "tables" / f"{table.name}.parquet")
        assert rows.columns == [column.name for column in table.columns]
        if table.owner == "run_id":
            assert rows["run_id"].unique().to_list() == [run_id]
        elif table.name != "schema_version" and rows.height:
            assert rows["trial_id"].str.starts_with(f"{run_id}/").all()
    assert pl.read_parquet(output / "tables" / "trials.parquet").height == 6
    assert query.sql(results, "SELECT count(*) FROM trials").item() == 8
    for name in ("run.json", "plan.json", "declared/experiment.toml", "queries/groupby.jsonl"):
        assert (output / name).read_bytes() == (results / "runs" / run_id / name).read_bytes()


def test_the_values_for_pages_are_those_of_the_trials_that_count(
    recorded: tuple[Path, str], tmp_path: Path
) -> None:
    results, run_id = recorded
    held = json.loads((export.export_run(results, run_id, tmp_path / "out") / "values.json").read_text())
    assert (held["kind"], held["version"], held["run_id"]) == ("benchbook-values", 1, run_id)
    assert held["experiment"] == "quickstart"
    counted = query.sql(
        results,
        "SELECT cell, block, phase, metric, value FROM trials JOIN measurements USING (trial_id) WHERE status = 'ok'",
    )
    found = {
        (trial["cell"], trial["block"], phase, metric, value)
        for trial in held["trials"] for phase, values in trial["values"].items() for metric, value in values.items()
    }  # fmt: skip
    assert found == set(counted.iter_rows())
    assert len(found) == counted.height > 0


def test_the_manifest_names_every_file_with_its_digest(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    output = export.export_run(results, run_id, tmp_path / "out")
    manifest = json.loads((output / "manifest.json").read_text())
    found = files(output)
    del found["manifest.json"]
    assert {entry["file"]: entry["sha256"] for entry in manifest["files"]} == found
    assert manifest["rows"]["trials"] == 6
    again = export.export_run(results, run_id, tmp_path / "again")
    assert files(again) == files(output)


def test_nothing_is_overwritten_unless_asked(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    output = tmp_path / "out"
    output.mkdir()
    export.export_run(results, run_id, output)
    before = files(output)
    with pytest.raises(RequestError, match="already contains files"):
        export.export_run(results, run_id, output)
    export.export_run(results, run_id, output, overwrite=True)
    assert files(output) == before
    for name in ("NOTES.md", "thesis/thesis.tex", ".git/config", "queries/mine.jsonl"):
        (output / name).parent.mkdir(exist_ok=True)
        (output / name).write_text("mine")
        with pytest.raises(RequestError, match=f"not of an earlier export: {name}. Nothing was changed"):
            export.export_run(results, run_id, output, overwrite=True)
        assert (output / name).read_text() == "mine"
        (output / name).unlink()
    assert files(output) == before
    for stated in ("{}", '{"kind": "npm"}', "[", json.dumps({"files": []})):
        (tmp_path / "app").mkdir(exist_ok=True)
        (tmp_path / "app" / "manifest.json").write_text(stated)  # of another program
        (tmp_path / "app" / "main.js").write_text("mine")
        with pytest.raises(RequestError, match=r"manifest\.json"):
            export.export_run(results, run_id, tmp_path / "app", overwrite=True)
        assert files(tmp_path / "app").keys() == {"manifest.json", "main.js"}
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(RequestError, match="is no earlier export"):
        export.export_run(results, run_id, other, overwrite=True)
    assert files(other).keys() == {"thesis.txt"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app", "mine", "out", "results"]


def test_the_current_folder_may_be_an_export(
    recorded: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    export.export_run(*recorded, Path())
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_a_file_is_no_place_for_an_export(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    (tmp_path / "file").write_text("mine")
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RequestError, match=r"--output .*/file is a file, not a folder\.") as caught:
            export.export_run(results, run_id, output, overwrite=True)
        assert "--output DIR" in str(caught.value.hint)
    assert (tmp_path / "file").read_text() == "mine"


def test_what_killed_exports_left_is_removed_by_the_next(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    home = tmp_path / "home"
    dead = home / ".out.4194305.part"  # no process has a larger id than 4194304
    (dead / "results" / "runs").mkdir(parents=True)
    (dead / "export").mkdir()
    living = home / f".out.{os.getppid()}.part"
    mine = home / ".notes.4194305.part"
    for folder in (living / "results", mine / "pages", home / "out.4194305.part" / "results"):
        folder.mkdir(parents=True)
    (home / ".a.4194305.part").write_text("a file")
    (home / ".b.4194305.part").symlink_to(living)
    export.export_run(results, run_id, home / "new")
    assert sorted(path.name for path in home.iterdir()) == sorted(
        ["new", ".a.4194305.part", ".b.4194305.part", living.name, mine.name, "out.4194305.part"]
    )
    assert (living / "results").is_dir()


def test_an_unknown_run_leaves_nothing(recorded: tuple[Path, str], tmp_path: Path) -> None:
    with pytest.raises(RequestError, match='There is no run "quickstrat"') as caught:
        export.export_run(recorded[0], "quickstrat", tmp_path / "out")
    assert caught.value.hint == 'Did you mean "quickstart"?'
    assert not (tmp_path / "out").exists()


def test_a_published_run_keeps_the_intervals_of_clients_without_their_histograms(
    recorded: tuple[Path, str], tmp_path: Path
) -> None:
    results, run_id = recorded
    events = results / "runs" / run_id / "trials" / "0000" / "events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    of_clients = [
        {**line, "type": "client-interval", "client": 1} for line in lines if line["type"] == "interval"
    ]
    events.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *of_clients]))
    whole = export.export_run(results, run_id, tmp_path / "out") / "tables"
    thin = published.publish(results, run_id, tmp_path / "data") / "tables"
    kept, given = (pl.read_parquet(folder / "client_intervals.parquet") for folder in (thin, whole))
    assert given.height == len(of_clients)
    assert given["histogram"].null_count() < given.height
    assert kept["histogram"].null_count() == kept.height
    assert kept.drop("histogram").equals(given.drop("histogram"))
    assert pl.read_parquet(thin / "intervals.parquet")["histogram"].null_count() == 0


def test_a_linked_run_is_refused(tmp_path: Path) -> None:
    results, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    run_id = synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    run = results / "runs" / run_id
    run.rename(elsewhere)
    run.symlink_to(elsewhere)
    with pytest.raises(RequestError, match=f"{run_id} is a link"):
        export.export_run(results, run_id, tmp_path / "export")
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("name", ["queries", "declared", "trials", "tables"])
def test_a_linked_folder_of_a_run_is_refused(tmp_path: Path, name: str) -> None:
    results, home = tmp_path / "results", tmp_path / "home"
    run_id = synthetic_run.write(results, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    export.export_run(results, run_id, tmp_path / "before")
    run = results / "runs" / run_id
    home.mkdir()
    if (run / name).exists():
        (run / name).rename(tmp_path / "moved")
    (home / "id_ed25519").write_text("private")
    (run / name).symlink_to(home)
    refused = name != "tables" or export.folder.from_tables(run)
    if refused:
        with pytest.raises(RequestError, match=f"{name} is a link"):
            export.export_run(results, run_id, tmp_path / "export")
        assert not (tmp_path / "export").exists()
    else:
        export.export_run(results, run_id, tmp_path / "export")
    assert not [
        path
        for path in (tmp_path).rglob("id_ed25519")
        if home not in path.parents and run not in path.parents
    ]
