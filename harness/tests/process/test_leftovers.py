"""Leftovers of a killed harness end only if they are surely the recorded processes."""

import json
import os
import subprocess

import pytest

from benchbook.process import leftovers


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def record(folder, pid, **changes):
    leftovers.register(folder, pid, "a server")
    file = folder / f"{pid}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return file


GONE = {"owner_pid": 2**22 + 1}


def test_a_process_of_a_dead_harness_is_ended_and_named(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, **GONE)
    assert leftovers.sweep(tmp_path) == [leftovers.Ended(sleeper.pid, "a server")]
    assert sleeper.wait(5) == -15
    assert not file.exists()


def test_a_process_of_a_living_harness_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid)
    assert leftovers.sweep(tmp_path) == []
    assert sleeper.poll() is None
    assert file.exists()


def test_an_owner_number_that_was_given_again_is_no_living_harness(tmp_path, sleeper):
    record(tmp_path, sleeper.pid, owner_pid=os.getpid(), owner_started="another boot:1")
    assert len(leftovers.sweep(tmp_path)) == 1


def test_a_stranger_with_the_same_number_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, started="another boot:1", **GONE)
    assert leftovers.sweep(tmp_path) == []
    assert sleeper.poll() is None
    assert not file.exists()


def test_a_record_of_another_host_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, host="elsewhere", **GONE)
    assert leftovers.sweep(tmp_path) == []
    assert file.exists()


def test_one_that_ignores_the_polite_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "GRACE_SECONDS", 0.2)
    script = "trap '' TERM; echo; while :; do sleep 0.05; done"
    process = subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    process.stdout.readline()
    record(tmp_path, process.pid, **GONE)
    assert len(leftovers.sweep(tmp_path)) == 1
    assert process.wait(5) == -9
    process.stdout.close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}'])
def test_a_broken_record_is_removed(tmp_path, text):
    (tmp_path / "1.json").write_text(text)
    assert leftovers.sweep(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_holds_no_leftovers(tmp_path):
    assert leftovers.sweep(tmp_path / "none") == []


def test_what_is_already_gone_is_not_registered(tmp_path):
    process = subprocess.Popen(["true"])
    process.wait()
    leftovers.register(tmp_path, process.pid, "x")
    assert list(tmp_path.iterdir()) == []
    leftovers.unregister(tmp_path, process.pid)
