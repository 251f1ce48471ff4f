"""Single operations: every record is a row; a damaged file is reported and excludes its trial."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import duckdb
import pytest

from benchbook.record import database, duckdb_file, export, ingest, lines, opened, query
from benchbook.site import published
from tests.record import synthetic_operations


def test_every_record_of_every_file_is_a_row(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    database.enter(results, results / "runs" / run_id)
    trial = results / "runs" / run_id / "trials" / "0004"
    load, asked = lines.operations_file(trial, "load"), lines.operations_file(trial, "groupby")
    with database.open(results, read_only=True) as connection:
        of_trial = f"FROM operations WHERE trial_id = '{run_id}/0004'"
        kept = "operation, worker, intended_ns, start_ns, end_ns, rows, status"
        for phase, client, file in (
            ("load", 0, lines.numbered(load, 0)),
            ("load", 1, lines.numbered(load, 1)),
            ("groupby", 0, asked),
        ):
            chosen = f"SELECT {kept} {of_trial} AND phase = '{phase}' AND client = {client} ORDER BY ALL"
            found = connection.execute(chosen).fetchall()
            there = duckdb.execute(f"SELECT {kept} FROM read_parquet('{file}') ORDER BY ALL").fetchall()
            assert found == there
        warm = connection.execute(f"SELECT operation, warmup, count(*) {of_trial} GROUP BY ALL ORDER BY ALL")
        assert warm.fetchall() == [
            ("query", False, synthetic_operations.ASKED),
            ("warmup", True, synthetic_operations.WARM),
            ("write", False, 2 * synthetic_operations.LOADED),
        ]
    assert query.sql(results, "SELECT count(*) FROM operations WHERE phase = 'killed'").item() == 0


@pytest.mark.parametrize("content", [b"", b"P", b"PAR1", b"PAR1PAR1", b"{}" * 50])
def test_a_damaged_file_costs_its_trial_and_is_named(
    recorded: tuple[Path, str], said: list[str], content: bytes
) -> None:
    results, run_id = recorded
    file = lines.operations_file(results / "runs" / run_id / "trials" / "0002", "groupby")
    file.write_bytes(content)
    counts = database.rebuild(results, said.append)
    assert counts["trials"] == 5
    assert counts["operations"] == 5 * 36
    assert len(said) == 1
    assert "trials/0002" in said[0]


@pytest.mark.parametrize("back", [9, 20, 100, 400])
def test_a_damaged_footer_costs_its_trial_and_is_named(
    recorded: tuple[Path, str], said: list[str], back: int
) -> None:
    results, run_id = recorded
    file = lines.operations_file(results / "runs" / run_id / "trials" / "0002", "groupby")
    content = bytearray(file.read_bytes())
    content[-back - 8 : -back] = b"\xff" * 8
    file.write_bytes(content)
    counts = database.rebuild(results, said.append)
    if said:  # not every byte of a footer matters to a reader
        assert counts["trials"] == 5
        assert "trials/0002" in said[0]
    else:
        assert counts["trials"] == 6


def test_a_file_of_other_columns_is_damage_too(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    file = lines.operations_file(results / "runs" / run_id / "trials" / "0000", "groupby")
    duckdb.execute(f"COPY (SELECT 1 AS other) TO '{file}' (FORMAT parquet)")
    assert database.rebuild(results, said.append)["trials"] == 5
    assert "trials/0000" in said[0]


def test_names_of_folders_are_no_patterns(recorded: tuple[Path, str], tmp_path: Path) -> None:
    odd = tmp_path / "it's [all] *?"
    shutil.copytree(recorded[0], odd)
    trial = odd / "runs" / recorded[1] / "trials" / "0001"
    with contextlib.closing(duckdb_file.make(tmp_path / "x.duckdb")) as connection:
        assert ingest.trials(connection, [trial], print) == 1
        assert connection.table("operations").count("*").fetchone() == (36,)


def test_an_export_carries_them_byte_by_byte(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    exported = export.export_run(results, run_id, tmp_path / "out")
    name = lines.numbered(Path("trials/0003/operations/load.parquet"), 1)
    assert (exported / name).read_bytes() == (results / "runs" / run_id / name).read_bytes()
    assert not list(exported.rglob("*.part"))
    opened.import_run(exported, tmp_path / "elsewhere")
    chosen = "SELECT * FROM operations ORDER BY ALL"
    assert query.sql(tmp_path / "elsewhere", chosen).equals(query.sql(results, chosen))


def test_what_is_published_has_none(recorded: tuple[Path, str], tmp_path: Path) -> None:
    results, run_id = recorded
    made = published.publish(results, run_id, tmp_path / "data")
    assert duckdb.execute(f"SELECT count(*) FROM '{made}/tables/operations.parquet'").fetchone() == (0,)
