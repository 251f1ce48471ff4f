"""A file of a trial that was removed, cut or added after the trial's end keeps the trial out of the database."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.record import database, evidence, export, folder, opened, runs
from benchbook.record.private import Scrubber


@pytest.fixture
def ended(recorded: tuple[Path, str]) -> tuple[Path, str]:
    """The synthetic run with all trials as ``write_trial`` ends them."""
    results, run_id = recorded
    for place in folder.trial_folders(results / "runs" / run_id):
        folder.write_trial(place, folder.read_object(place / folder.TRIAL_FILE))
    return results, run_id


def entered(results: Path, said: list[str]) -> int:
    database.rebuild(results, said.append)
    with database.open(results, read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM trials").fetchone()
    return int(found[0]) if found else 0


def removed(path: Path) -> None:
    path.unlink()


def cut_at_a_line(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) > 1
    path.write_bytes(b"".join(lines[:-1]))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


LINES = ("events.jsonl", "telemetry.jsonl", "answers.jsonl")


@pytest.mark.parametrize("name", [*LINES, "operations"])
@pytest.mark.parametrize("attack", [removed, cut_at_a_line, emptied, changed])
def test_a_file_that_changed_keeps_its_trial_out(
    ended: tuple[Path, str], said: list[str], name: str, attack: Callable[[Path], None]
) -> None:
    results, run_id = ended
    place = results / "runs" / run_id / "trials" / "0002"
    path = place / name
    if name == "operations":
        path = next(iter(sorted(path.iterdir())))
        if attack is cut_at_a_line:
            return  # it has no lines
    assert entered(results, said) == 6
    assert said == []
    attack(path)
    assert entered(results, said) == 5
    [sentence] = said
    assert sentence.startswith(f"Left out: {path} ")
    assert "the trial ended" in sentence
    assert [one["trial_id"] for one in runs.left(results, run_id, said.append)] == [f"{run_id}/0002"]
    assert path.exists() is (attack is not removed)  # nothing is changed


@pytest.mark.parametrize("name", ["more.jsonl", "operations/load~7.parquet"])
def test_a_file_that_was_added_keeps_its_trial_out(
    ended: tuple[Path, str], said: list[str], name: str
) -> None:
    results, run_id = ended
    path = results / "runs" / run_id / "trials" / "0002" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}\n")
    assert entered(results, said) == 5
    assert said == [f"Left out: {path} is new: the trial ended without it."]


def test_a_trial_of_an_earlier_benchbook_is_read_as_before(
    recorded: tuple[Path, str], said: list[str]
) -> None:
    results, run_id = recorded
    place = results / "runs" / run_id / "trials" / "0002"
    assert "files" not in folder.read_object(place / "trial.json")
    cut_at_a_line(place / "events.jsonl")
    assert entered(results, said) == 6


@pytest.mark.parametrize(
    "files",
    [
        5,
        [],
        "x",
        {"events.jsonl": 5},
        {"events.jsonl": {"bytes": -1, "sha256": ""}},
        {"../../../../etc/passwd": {"bytes": 1, "sha256": ""}},
        {},
    ],
)
def test_digests_that_benchbook_does_not_write_are_a_sentence(
    ended: tuple[Path, str], said: list[str], files: Any
) -> None:
    results, run_id = ended
    path = results / "runs" / run_id / "trials" / "0002" / "trial.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "files": files}))
    assert entered(results, said) == 5
    assert len(said) == 1


def test_a_named_pipe_in_place_of_a_file_is_a_sentence(ended: tuple[Path, str], said: list[str]) -> None:
    results, run_id = ended
    path = next(iter((results / "runs" / run_id / "trials" / "0002" / "operations").iterdir()))
    path.unlink()
    os.mkfifo(path)
    assert entered(results, said) == 5
    assert said[0].startswith(f"Left out: {path} has changed since the trial ended")


@pytest.mark.parametrize("private", [False, True])
def test_an_export_states_the_files_that_it_holds(
    ended: tuple[Path, str], tmp_path: Path, said: list[str], private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, run_id = ended
    monkeypatch.setattr(export, "scrubber", lambda: Scrubber((("babbage", "XXXX"),)))
    place = results / "runs" / run_id / "trials" / "0002"
    with (place / "events.jsonl").open("a") as events:
        events.write('{"phase":"load","type":"error","kind":"timeout","message":"no answer of babbage"}\n')
    folder.write_trial(place, folder.read_object(place / folder.TRIAL_FILE))
    made = export.export_run(results, run_id, tmp_path / "made", private=private, say=said.append)
    exported = made / "trials" / "0002"
    same = (exported / "events.jsonl").read_bytes() == (place / "events.jsonl").read_bytes()
    assert same is private
    assert evidence.state(exported) == folder.read_object(exported / "trial.json")["files"]
    opened.import_run(made, tmp_path / "mine", said.append)
    assert entered(tmp_path / "mine", said) == 6
    assert said == [f"{run_id}: 6 trials are in {tmp_path / 'mine'}."]


@pytest.mark.parametrize("private", [False, True])
def test_an_export_does_not_hide_a_change(
    ended: tuple[Path, str], tmp_path: Path, said: list[str], private: bool
) -> None:
    results, run_id = ended
    place = results / "runs" / run_id / "trials" / "0002"
    before = evidence.state(place)
    cut_at_a_line(place / "events.jsonl")
    made = export.export_run(results, run_id, tmp_path / "made", private=private, say=said.append)
    assert folder.read_object(made / "trials" / "0002" / "trial.json")["files"] == before
    assert all("events.jsonl has changed since the trial ended" in one for one in said)
    opened.import_run(made, tmp_path / "mine", said.append)
    assert said[-1] == f"{run_id}: 5 trials are in {tmp_path / 'mine'}."
