from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.record import folder, ingest, trial, trial_record
from benchbook.record.tables import BY_NAME

NAME = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
NUMBER = st.none() | st.floats(-1e30, 1e30)
FILE_NAME = st.from_regex("[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)
COUNT = st.integers(0, 2**63 - 1)
TRIALS = st.fixed_dictionaries(
    {
        "experiment": FILE_NAME,
        "profile": st.sampled_from(["smoke", "quick"]),
        "system": FILE_NAME,
        "cell": NAME,
        "levels": st.dictionaries(NAME, NAME | st.integers() | st.booleans() | st.none(), max_size=3),
        "block": COUNT,
        "position": COUNT,
        "index": st.just(7),
        "status": st.sampled_from(["ok", "failed", "skipped", "invalid"]),
        "phases": st.just([]),
        "measurements": st.lists(
            st.fixed_dictionaries(
                {
                    "phase": NAME,
                    "metric": NAME,
                    "value": NUMBER,
                    "unit": NAME,
                    "direction": st.sampled_from(["higher", "lower", "none"]),
                }
            ),
            max_size=4,
        ),
        "errors": st.just([]),
        "checks": st.lists(
            st.fixed_dictionaries({"name": NAME, "expected": COUNT, "ok": st.booleans()}), max_size=2
        ),
    },
    optional={
        "reason": st.none() | NAME,
        "duration_seconds": NUMBER,
        "program": st.none() | st.dictionaries(NAME, NAME, max_size=2),
        "started_at": st.datetimes().map(lambda moment: moment.isoformat()),
        "a_field_of_tomorrow": st.integers(),
    },
)


@given(value=TRIALS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_trial_is_read_as_it_was_written(tmp_path: Path, value: dict[str, Any]) -> None:
    place = tmp_path / "r" / "trials" / "0007"
    value = {"trial_id": "r/0007", "run_id": "r", **value}
    folder.write_trial(place, value)
    assert trial.read(place, whole=True) == {**value, "files": {}}
    for table, held in ingest.of_trial(trial.read(place)).items():
        assert ingest.arrow(table, held).num_rows == len(held)
        assert all(len(row) == len(BY_NAME[table].columns) for row in held)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "fine"}, "status: must be 'ok'"),
        ({"block": "0"}, "block: must be a whole number"),
        ({"block": -1}, "block: must be at least 0"),
        ({"index": 2**63}, "index: must be less than"),
        ({"measurements": None}, "measurements: must be a list"),
        ({"measurements": [{"phase": "load"}]}, "measurements.0.metric: is missing (and 3 more)"),
        ({"levels": []}, "levels: must be a table"),
        ({"started_at": "yesterday"}, "Invalid isoformat string"),
        ({"started_at": 12}, "started_at: must be text"),
        ({"trial_id": "other/0000"}, 'says it is trial "other/0000"'),
    ],
)
def test_a_wrong_field_is_named(recorded: tuple[Path, str], change: dict[str, Any], words: str) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0000"
    held = json.loads((place / "trial.json").read_text())
    (place / "trial.json").write_text(json.dumps({**held, **change}))
    with pytest.raises(ValueError, match=re.escape(words)) as caught:
        trial.read(place)
    assert str(place / "trial.json") in str(caught.value)


@pytest.mark.parametrize("change", [{}, {"levels": ["changed", "in", "this", "schema"]}])
def test_a_trial_of_a_newer_benchbook_is_named(recorded: tuple[Path, str], change: dict[str, Any]) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0000"
    held = json.loads((place / "trial.json").read_text())
    (place / "trial.json").write_text(json.dumps({**held, "schema": 2, **change}))
    with pytest.raises(ValueError, match="was written by a newer Benchbook: its schema is 2"):
        trial.read(place)


@pytest.mark.parametrize(
    "field", ["trial_id", "run_id", "system", "status", "index", "measurements", "checks"]
)
def test_a_missing_field_is_named(recorded: tuple[Path, str], field: str) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0000"
    held = json.loads((place / "trial.json").read_text())
    del held[field]
    (place / "trial.json").write_text(json.dumps(held))
    with pytest.raises(ValueError, match=f"{field}: is missing"):
        trial.read(place)


@given(content=st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_garbage_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "r" / "trials" / "0000"
    place.mkdir(parents=True, exist_ok=True)
    (place / "trial.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"trial\.json"):
        trial.read(place)


@pytest.mark.parametrize("name", ["trial.json", "events.jsonl", "added.jsonl"])
def test_a_named_pipe_or_an_endless_device_in_a_trial_is_a_sentence(
    recorded: tuple[Path, str], name: str
) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0000"
    for make in (lambda: os.mkfifo(place / name), lambda: (place / name).symlink_to("/dev/zero")):
        (place / name).unlink(missing_ok=True)
        make()
        with pytest.raises(ValueError, match=f"{name}.* not a regular file"):
            trial.read(place)


@pytest.mark.parametrize(
    "change",
    [
        {"index": 7}, {"trial_id": "quickstart-1/0003"}, {"run_id": "quickstart-1"}, {"experiment": "../X/evil"},
        {"profile": "a\0"}, {"system": "x" * 5_000}, {"arm": ""}, {"duration_seconds": 1e308}, {"start_seconds": 1e31},
    ],
    ids=repr,
)  # fmt: skip
def test_a_trial_of_another_run_or_without_a_name_is_left_out(
    recorded: tuple[Path, str], change: dict[str, object]
) -> None:
    where = recorded[0] / "runs" / recorded[1] / "trials" / "0003"
    file = where / "trial.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ValueError, match=str(file)):
        trial.read(where)


@pytest.mark.parametrize(
    ("table", "model"),
    [
        ("trials", trial_record.Trial),
        ("phases", trial_record.Phase),
        ("measurements", trial_record.Measurement),
        ("errors", trial_record.Failure),
        ("checks", trial_record.Check),
    ],
)
def test_the_record_has_the_fields_of_its_tables(table: str, model: type) -> None:
    columns = {column.name for column in BY_NAME[table].columns}
    others = {"schema", "levels", "phases", "measurements", "errors", "checks", "files"}
    assert set(model.__annotations__) - others | {"trial_id"} == columns
