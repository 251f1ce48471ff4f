from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.errors import RequestError
from benchbook.record import database, folder, query, trial

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=st.dictionaries(st.text(), JSON, max_size=5))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_written_is_read_again(tmp_path: Path, value: dict[str, object]) -> None:
    path = tmp_path / "any.json"
    try:
        folder.write_json(path, value)
    except UnicodeEncodeError:  # half of a surrogate pair is no text
        return
    assert folder.read_object(path) == value
    assert [entry.name for entry in tmp_path.iterdir()] == ["any.json"]


def test_a_value_that_json_cannot_hold_is_refused_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "trial.json"
    folder.write_json(path, {"value": 1})
    with pytest.raises(ValueError, match="JSON"):
        folder.write_json(path, {"value": float("nan")})
    assert folder.read_object(path) == {"value": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["trial.json"]


@pytest.mark.parametrize(
    ("status", "left"), [("failed", '{"a":1}\n'), ("invalid", '{"a":1}\n'), ("ok", '{"a":1}\n{"a"')]
)
def test_half_a_line_is_cut_off_where_the_trial_failed(tmp_path: Path, status: str, left: str) -> None:
    (tmp_path / "telemetry.jsonl").write_text('{"a":1}\n{"a"')
    (tmp_path / "events.jsonl").write_text("{")
    folder.write_trial(tmp_path, {"status": status})
    assert (tmp_path / "telemetry.jsonl").read_text() == left
    assert (tmp_path / "events.jsonl").read_text() == ("{" if status == "ok" else "")


@pytest.mark.parametrize("how", ["symlink_to", "hardlink_to", "dangling", "pipe", "folder", "device"])
def test_a_file_that_a_program_replaced_fails_its_trial_and_is_not_followed(tmp_path: Path, how: str) -> None:
    mine, place = tmp_path / "mine.txt", tmp_path / "0000"
    mine.write_text("first line\nwithout an end")
    (place / "logs").mkdir(parents=True)
    (place / "events.jsonl").write_text("{}\n")
    answers = place / "answers.jsonl"
    if how == "pipe":
        os.mkfifo(answers)
    elif how == "folder":
        (answers / "deep").mkdir(parents=True)
    elif how == "device":
        answers.symlink_to("/dev/zero")
    elif how == "dangling":
        answers.symlink_to(tmp_path / "nothing")
    else:
        getattr(answers, how)(mine)
    written = folder.write_trial(place, {"status": "ok", "reason": None})
    assert written == folder.read_object(place / "trial.json")
    assert written["status"] == "failed"
    assert written["reason"].startswith("answers.jsonl in the folder of the trial was replaced by a link")
    assert list(written["files"]) == ["events.jsonl"]
    assert not os.path.lexists(answers)
    assert mine.read_text() == "first line\nwithout an end"


def test_a_link_in_place_of_a_folder_of_a_trial_is_not_followed(tmp_path: Path) -> None:
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "0000"
    elsewhere.mkdir()
    (elsewhere / "load.parquet").write_text("mine")
    place.mkdir()
    (place / "operations").symlink_to(elsewhere)
    assert folder.write_trial(place, {"status": "ok"})["status"] == "failed"
    assert (elsewhere / "load.parquet").read_text() == "mine"
    other = tmp_path / "0001"
    other.symlink_to(elsewhere)
    assert folder.write_trial(other, {"status": "ok", "reason": None})["files"] == {}
    assert [path.name for path in elsewhere.iterdir()] == ["load.parquet"]


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_full_disk_leaves_no_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(RequestError, match=r"trial\.json cannot be written: No space left") as caught:
        folder.write_trial(tmp_path / "0000", {"trial_id": "a/0000"})
    assert "--results" in str(caught.value.hint)
    assert list((tmp_path / "0000").iterdir()) == []


def test_a_file_size_limit_met_in_the_middle_of_a_write_leaves_no_trial(tmp_path: Path) -> None:
    code = """
    import resource, signal, sys
    from pathlib import Path
    from benchbook.errors import RequestError
    from benchbook.record import folder
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        folder.write_trial(Path(sys.argv[1]), {"text": "x" * 100_000})
    except RequestError as error:
        print(error)
    """
    done = _python(code, tmp_path / "0000")
    assert "cannot be written: File too large" in done.stdout, done.stderr
    assert list((tmp_path / "0000").iterdir()) == []


def test_a_results_folder_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(RequestError, match=r"Not a directory|File exists"):
        folder.write_json(tmp_path / "results" / "plan.json", {})


def test_corrupt_trials_are_said_by_name_and_stay(recorded: tuple[Path, str], said: list[str]) -> None:
    results, run_id = recorded
    run = results / "runs" / run_id
    broken = run / "trials" / "0002" / "trial.json"
    broken.write_text(broken.read_text()[:200])
    (run / "trials" / "0004" / "trial.json").unlink()
    (run / "trials" / "0005" / ".trial.json.1.part").write_text("{")
    read = list(trial.read_all(run, said.append))
    assert [trial["index"] for trial in read] == [0, 1, 3, 5]
    assert len(said) == 1
    assert str(broken) in said[0]
    assert broken.exists()


def test_kill_9_of_a_writer_leaves_only_whole_trials(
    recorded: tuple[Path, str], tmp_path: Path, said: list[str]
) -> None:
    source, run_id = recorded
    template = source / "runs" / run_id / "trials" / "0000" / "trial.json"
    code = """
    import json, sys
    from pathlib import Path
    from benchbook.record import folder
    template = json.loads(Path(sys.argv[2]).read_text())
    run = Path(sys.argv[1])
    folder.write_json(run / "plan.json", {"run_id": run.name, "experiment": "e", "profile": "quick", "trials": []})
    for number in range(9999):
        trial = {**template, "trial_id": f"{run.name}/{number:04d}", "run_id": run.name, "index": number}
        place = run / "trials" / f"{number:04d}"
        place.mkdir(parents=True)
        (place / "events.jsonl").write_text("")
        folder.write_trial(place, trial)
        print(number, flush=True)
    """
    total = 0
    for attempt in range(4):
        results = tmp_path / f"killed-{attempt}"
        run = results / "runs" / "r"
        writer = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), run, template],
            stdout=subprocess.PIPE,
            text=True,
            cwd=_harness(),
        )
        assert writer.stdout is not None
        for _ in range(3 + 7 * attempt):
            writer.stdout.readline()
        time.sleep(0.003 * attempt)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        present = sorted((run / "trials").glob("*/trial.json"))
        for path in present:
            json.loads(path.read_text())
        assert len(present) >= 3 + 7 * attempt
        assert database.enter(results, run, said.append) == len(present)
        assert query.sql(results, "SELECT count(*) FROM trials").item() == len(present)
        total += len(present)
    assert total >= 54
    assert said == []


def _harness() -> Path:
    return Path(__file__).resolve().parents[2]


def _python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        cwd=_harness(),
    )


def test_a_file_where_a_folder_belongs_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(RequestError, match=r"runs is a file, not a folder\.") as caught:
        folder.write_whole(tmp_path / "runs" / "quickstart-1" / "plan.json", b"{}")
    assert "space" not in str(caught.value.hint)


def test_a_results_folder_that_is_removed_is_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(RequestError, match="was removed while Benchbook was working"),
        folder.write_failures_explained(tmp_path),
    ):
        (tmp_path / "gone" / "trial.json").read_text()
