"""The journal of a run: a finished trial that is removed or changed is named when the run is continued, once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchbook.record import journal, seal


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a run with four finished trials, two of them ok."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "results" / "runs" / "r-1"
    for number, status in enumerate(["ok", "failed", "ok", "skipped"]):
        end(folder, number, status)
    return folder


def end(folder: Path, number: int, status: str = "ok", value: int = 1, *, begin: bool = True) -> Path:
    place = folder / "trials" / f"{number:04d}"
    place.mkdir(parents=True, exist_ok=True)
    if begin:
        journal.begun(folder, place, f"r-1/{number:04d}")
    (place / "trial.json").write_text(json.dumps({"status": status, "value": value}))
    journal.ended(folder, place, f"r-1/{number:04d}", status)
    return place


def head(folder: Path) -> Path:
    return folder.parents[2] / "state" / "benchbook" / journal.HEADS / "r-1"


def found(folder: Path) -> list[tuple[str, str]]:
    return [(one["trial_id"], one["why"]) for one in journal.altered(folder)]


def test_what_nobody_touched_is_not_altered(run: Path):
    assert found(run) == []
    assert found(run.parent / "never begun") == []


def test_a_removed_or_changed_trial_is_named_with_its_status(run: Path):
    shutil.rmtree(run / "trials" / "0001")
    (run / "trials" / "0002" / "trial.json").write_text('{"status": "ok", "value": 2}')
    altered = journal.altered(run)
    assert altered == [
        {"trial_id": "r-1/0001", "status": "failed", "why": "removed"},
        {"trial_id": "r-1/0002", "status": "ok", "why": "changed"},
    ]
    for number in (1, 2):
        assert (f"r-1/{number:04d}", ["removed", "changed"][number - 1]) in found(run), (
            "until it has run again"
        )
        end(run, number, value=3)
    assert found(run) == []
    shutil.rmtree(run / "trials" / "0001")
    assert found(run) == [("r-1/0001", "removed")]


def without_a_line(text: str, number: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:number] + lines[number + 1 :])


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: None,
        lambda text: "",
        lambda text: without_a_line(text, 0),
        lambda text: without_a_line(text, 1),
        lambda text: without_a_line(text, 3),
        lambda text: text.replace('"failed"', '"ok"'),
        lambda text: text + '{"event": "told"}\n',
        lambda text: text + "[" * 100_000 + "\n",
        lambda text: text * 2,
    ],
)
def test_an_edited_journal_is_noticed_and_begins_again(run: Path, edit):
    file = run / journal.FILE
    text = edit(file.read_text())
    file.unlink()
    if text is not None:
        file.write_text(text)
    shutil.rmtree(run / "trials" / "0001")
    assert found(run) == [("", "journal")]
    journal.begin_again(run)
    assert found(run) == []
    end(run, 1)
    shutil.rmtree(run / "trials" / "0001")
    assert found(run) == [("r-1/0001", "removed")]


def test_a_lost_head_is_noticed(run: Path):
    head(run).unlink()
    assert found(run) == [("", "journal")]


@pytest.mark.parametrize("lost", ["head", "half a line"])
def test_a_killed_harness_leaves_a_journal_that_fits(run: Path, lost: str):
    journal.begun(run, run / "trials" / "0004", "r-1/0004")
    before = head(run).read_text()
    end(run, 4, begin=False)
    if lost == "head":
        head(run).write_text(before)
    else:
        file = run / journal.FILE
        text = file.read_text()
        file.write_text(text[: -len(text.splitlines()[-1]) // 2])
        head(run).write_text(before)
    assert found(run) == []
    end(run, 5)
    assert found(run) == []
    shutil.rmtree(run / "trials" / "0005")
    assert found(run) == [("r-1/0005", "removed")]


def test_a_journal_of_another_run_or_user_does_not_fit(run: Path, monkeypatch: pytest.MonkeyPatch):
    other = run.with_name("r-2")
    shutil.copytree(run, other)
    assert found(other) == [("", "journal")]
    monkeypatch.setattr(seal, "_key", lambda: b"0" * seal.KEY_BYTES)
    assert found(run) == [("", "journal")]


def test_a_trial_whose_other_files_changed_is_named(run: Path):
    assert journal.altered(run, {"r-1/0002", "r-1/0009"}) == [
        {"trial_id": "r-1/0002", "status": "ok", "why": "changed"}
    ]


def test_a_state_that_takes_no_seal_accuses_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "full"))
    (tmp_path / "full" / "benchbook").mkdir(parents=True)
    (tmp_path / "full" / "benchbook" / journal.HEADS).write_text("in the way")
    folder = tmp_path / "results" / "runs" / "r-1"
    for number in range(3):
        end(folder, number)
    assert found(folder) == []


def test_a_journal_shows_whose_run_it_is(run: Path, monkeypatch: pytest.MonkeyPatch):
    assert journal.is_own(run)
    monkeypatch.setattr(seal, "_key", lambda: b"0" * seal.KEY_BYTES)
    assert not journal.is_own(run)


def test_a_removed_run_leaves_nothing_behind(run: Path):
    journal.forget(run)
    assert not head(run).exists()


def test_a_trial_that_began_and_did_not_end_is_counted_each_time(run: Path):
    assert journal.stopped(run) == []
    places = [run / "trials" / f"{number:04d}" for number in (4, 5)]
    for place, times in zip(places, (3, 1), strict=True):
        for _ in range(times):
            journal.begun(run, place, f"r-1/{place.name}")
    assert journal.stopped(run) == [
        {"trial_id": "r-1/0004", "times": 3},
        {"trial_id": "r-1/0005", "times": 1},
    ]
    assert found(run) == [], "what never ended was not removed"
    end(run, 5, begin=False)
    journal.begun(run, run / "trials" / "0006", "r-1/0006")
    end(run, 6, begin=False)
    assert journal.stopped(run) == [{"trial_id": "r-1/0004", "times": 3}], "0005 ended after its only begin"
    end(run, 4, begin=False)
    assert journal.stopped(run) == [{"trial_id": "r-1/0004", "times": 2}], "the last of three begins ended"
    assert found(run) == []


def test_a_journal_that_began_again_lacks_trials(run: Path):
    """The attack: remove unwelcome trials, the journal and its last seal, and continue the run."""
    shutil.rmtree(run / "trials" / "0003")
    (run / journal.FILE).unlink()
    head(run).unlink()
    assert found(run) == [], "a run without a journal: there was no key for seals"
    end(run, 3)
    assert found(run) == [("", "journal")]


def test_lines_of_begins_cannot_be_taken_out(run: Path):
    journal.begun(run, run / "trials" / "0004", "r-1/0004")
    end(run, 5)
    lines = (run / journal.FILE).read_text().splitlines(keepends=True)
    (run / journal.FILE).write_text("".join(line for line in lines if journal.BEGUN not in line))
    assert found(run) == [("", "journal")]
