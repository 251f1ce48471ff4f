from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.errors import RequestError
from benchbook.record import database, duckdb_file, ingest, query
from benchbook.record.tables import TABLES
from tests.record.entering import enter_trial


def contents(results: Path) -> dict[str, list[tuple[object, ...]]]:
    with database.open(results, read_only=True) as connection:
        return {
            table.name: sorted(connection.execute(f"SELECT * FROM {table.name}").fetchall(), key=repr)
            for table in TABLES
        }


def test_a_run_is_entered_with_everything_in_its_folders(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    assert database.enter(results, results / "runs" / run_id) == 6
    held = {name: len(rows) for name, rows in contents(results).items()}
    assert held["runs"] == 1
    assert held["trials"] == 6
    assert held["levels"] == 24
    assert held["answers"] == 6 * 4 * 3
    assert held["telemetry"] == 6 * 2 * 10
    assert held["intervals"] == 6 * 5 * 6
    assert held["histograms"] == 6 * 9
    assert all(held[table.name] for table in TABLES if table.name not in ("errors", "client_intervals"))
    row = query.sql(results, 'SELECT * FROM trials WHERE "index" = 3').to_dicts()[0]
    trial = json.loads((results / "runs" / run_id / "trials" / "0003" / "trial.json").read_text())
    assert row["trial_id"] == f"{run_id}/0003"
    assert row["duration_seconds"] == trial["duration_seconds"]
    assert json.loads(row["program"]) == trial["program"]


@given(order=st.lists(st.integers(0, 5), min_size=1, max_size=8), whole=st.booleans())
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_entering_again_in_any_order_changes_nothing(
    recorded: tuple[Path, str], order: list[int], whole: bool
) -> None:
    results, run_id = recorded
    run = results / "runs" / run_id
    (results / duckdb_file.FILE).unlink(missing_ok=True)
    database.rebuild(results)
    before = contents(results)
    for number in order:
        assert enter_trial(results, run / "trials" / f"{number:04d}")
    if whole:
        assert database.enter(results, run) == 6
    assert contents(results) == before


def test_one_trial_at_a_time_gives_what_a_rebuild_gives(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    run = results / "runs" / run_id
    kept = run.parent / "kept"
    (run / "trials").rename(kept)
    (run / "trials").mkdir()
    database.enter(results, run)
    for number in (4, 0, 2, 1, 5, 3):
        place = run / "trials" / f"{number:04d}"
        (kept / place.name).rename(place)
        enter_trial(results, place)
    one_by_one = contents(results)
    (results / duckdb_file.FILE).unlink()
    counts = database.rebuild(results)
    assert contents(results) == one_by_one
    assert counts == {name: len(rows) for name, rows in one_by_one.items()}


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("trial.json", b"", "is not a complete trial"),
        ("trial.json", b"\x00\xff garbage", "is not a complete trial"),
        ("trial.json", b"[1, 2]", "is not a complete trial"),
        ("telemetry.jsonl", b'{"phase":"load","seconds":0.5,"scope":"ser', "telemetry.jsonl"),
        ("telemetry.jsonl", b'{"phase":"load","seconds":"half","scope":"server"}\n', "telemetry.jsonl"),
        ("telemetry.jsonl", b'{"phase":"load"}\n', "telemetry.seconds"),
        ("events.jsonl", b"\x00\x01\n", "events.jsonl"),
        ("events.jsonl", b'[{"type":"interval"}]\n', "events.jsonl"),
        ("events.jsonl", b'{"type":"histogram","phase":"load"}\n', "histograms"),
        ("answers.jsonl", b'{"type":"answer","id":{"a":1},"rows":[', "answers.jsonl"),
        ("answers.jsonl", b'{"type":"answer","query_type":"groupby"}\n', "answers.query_id"),
    ],
)
def test_a_corrupt_trial_is_named_and_left_out_alone(
    recorded: tuple[Path, str], said: list[str], file: str, content: bytes, words: str
) -> None:
    results, run_id = recorded
    broken = results / "runs" / run_id / "trials" / "0002"
    (broken / file).write_bytes(content)
    assert database.rebuild(results, said.append)["trials"] == 5
    assert len(said) == 1
    assert str(broken) in said[0]
    assert words in said[0]
    assert (broken / file).read_bytes() == content
    assert not enter_trial(results, broken, said.append)
    left = query.sql(results, "SELECT DISTINCT trial_id FROM telemetry UNION SELECT trial_id FROM levels")
    assert len(left) == 5
    assert database.catch_up(results, said.append) == 0


def test_a_trial_that_becomes_corrupt_keeps_what_was_entered(
    recorded: tuple[Path, str], said: list[str]
) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0001"
    database.rebuild(results)
    before = contents(results)
    (place / "answers.jsonl").write_text("{")
    assert not enter_trial(results, place, said.append)
    assert contents(results) == before


def test_files_that_are_absent_hold_nothing(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0001"
    for name in ("events.jsonl", "telemetry.jsonl", "answers.jsonl"):
        (place / name).unlink()
    assert enter_trial(results, place, said.append)
    assert said == []


def test_a_folder_with_signs_of_patterns_and_spaces(
    recorded: tuple[Path, str], tmp_path: Path, said: list[str]
) -> None:
    source, run_id = recorded
    results = tmp_path / "it's [a] *new* folder, a=1"
    shutil.move(source, results)
    (results / "runs" / run_id / "trials" / "0002" / "events.jsonl").write_text("{")
    assert database.rebuild(results, said.append)["trials"] == 5
    assert query.sql(results, "SELECT count(DISTINCT trial_id) FROM telemetry").item() == 5
    assert "0002" in said[0]


def test_corrupt_run_facts_leave_the_trials(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    run = results / "runs" / run_id
    database.rebuild(results)
    (run / "run.json").write_text('{"run_id": ')
    assert database.enter(results, run, said.append) == 6
    assert str(run) in said[0]
    (run / "run.json").write_text(
        json.dumps({"run_id": run_id, "experiment": "e", "profile": "p", "order_seed": "x"})
    )
    assert database.enter(results, run, said.append) == 6
    assert "wrong type" in said[1]


def test_errors_with_numbers_or_words_as_status(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    path = results / "runs" / run_id / "trials" / "0000" / "trial.json"
    trial = json.loads(path.read_text())
    trial["errors"] = [
        {
            "phase": "load",
            "kind": "refused",
            "status": 413,
            "message": "too large",
            "operations": 3,
            "rows": 60,
        },
        {"phase": "load", "kind": "timeout", "status": None, "message": "30 s", "operations": 1, "rows": 20},
    ]
    path.write_text(json.dumps(trial))
    assert enter_trial(results, path.parent)
    found = query.sql(results, "SELECT kind, status, rows FROM errors ORDER BY kind").rows()
    assert found == [("refused", "413", 60), ("timeout", None, 20)]


def test_response_time_is_the_latency_where_a_loop_has_one(recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0000"
    lines = [json.loads(line) for line in (place / "events.jsonl").read_text().splitlines()]
    whole = next(line for line in lines if line["type"] == "histogram" and line["operation"] == "query")
    lines.append({**whole, "kind": "response", "count": 7})
    (place / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert enter_trial(results, place)
    found = query.sql(
        results,
        f"SELECT kind, count FROM histograms WHERE phase = '{whole['phase']}' AND NOT warmup"
        f" AND trial_id = '{run_id}/0000' ORDER BY 1",
    )
    assert found.rows() == [("latency", 7), ("service", 200)]


def test_a_failure_of_the_database_is_not_blamed_on_a_trial(
    recorded: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    def full(*_: object) -> None:
        raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    results, run_id = recorded
    database.rebuild(results)
    before = contents(results)
    monkeypatch.setattr(ingest.lines, "insert", full)
    with pytest.raises(RequestError, match="No space left"):
        enter_trial(results, results / "runs" / run_id / "trials" / "0000", said.append)
    assert said == []
    assert contents(results) == before
