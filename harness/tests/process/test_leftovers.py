"""Leftovers of a killed harness end only if they are surely the recorded processes."""

import json
import os
import subprocess

import pytest

from benchbook.host.identity import identity, process_space
from benchbook.process import leftovers, marks
from benchbook.process.wait import until


def of_a_dead_harness():
    """Return the environment of a process that a harness started which is dead now."""
    boot, _, ticks = identity(os.getpid()).rpartition(":")
    return os.environ | {marks.VARIABLE: f"{boot}/{process_space()}/{2**22 + 1}/{ticks}/0"}


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"], start_new_session=True, env=of_a_dead_harness())
    until(
        lambda: marks.mark_of(process.pid), 10
    )  # Popen returns just before the kernel shows the environment
    yield process
    process.kill()
    process.wait()


def record(folder, number, **changes):
    leftovers.register(folder, number, "a server")
    file = folder / f"{number}.json"
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


def test_a_record_of_another_machine_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, boot="another", machine="elsewhere", **GONE)
    assert leftovers.sweep(tmp_path) == []
    assert file.exists()


def test_a_record_of_another_container_of_this_machine_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, process_space=1, **GONE)
    assert leftovers.sweep(tmp_path) == []
    assert file.exists()


def test_a_record_from_before_this_machine_started_again_is_removed(tmp_path, sleeper):
    file = record(
        tmp_path, sleeper.pid, boot="another", process_space=1, owner_started="another:1", started="another:2"
    )
    assert leftovers.sweep(tmp_path) == []
    assert sleeper.poll() is None
    assert not file.exists()


def test_another_host_name_makes_no_other_machine(tmp_path, sleeper, monkeypatch):
    file = record(tmp_path, sleeper.pid, **GONE)
    monkeypatch.setattr("socket.gethostname", lambda: "renamed")
    assert leftovers.sweep(tmp_path) == [leftovers.Ended(sleeper.pid, "a server")]
    assert not file.exists()


def test_one_that_ignores_the_polite_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "GRACE_SECONDS", 0.2)
    script = "trap '' TERM; echo; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        ["/bin/sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True, env=of_a_dead_harness()
    )
    process.stdout.readline()
    record(tmp_path, process.pid, **GONE)
    assert len(leftovers.sweep(tmp_path)) == 1
    assert process.wait(5) == -9
    process.stdout.close()


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '{"pid": "x"}', '{"owner_pid": Infinity, "owner_started": "x"}', '{"owner_pid": NaN}',
        '{"owner_pid": [1], "owner_started": 1}', '{"owner_pid": 1e999, "owner_started": "x"}', "\x00\udcff",
        "[" * 9000, "1" * 70_000,
    ],
)  # fmt: skip
def test_a_file_that_no_harness_wrote_is_left_alone(tmp_path, text):
    (tmp_path / "1.json").write_bytes(text.encode(errors="surrogateescape"))
    assert leftovers.sweep(tmp_path) == []
    assert (tmp_path / "1.json").read_bytes() == text.encode(errors="surrogateescape")


@pytest.mark.parametrize("changes", [{"pid": float("inf")}, {"pid": "x"}, {"pid": None}, {"pid": -1}])
def test_a_record_with_a_wrong_process_is_left_alone(tmp_path, sleeper, changes):
    file = record(tmp_path, sleeper.pid, **GONE, **changes)
    assert leftovers.sweep(tmp_path) == []
    assert sleeper.poll() is None
    assert file.exists()


def test_a_record_does_not_end_a_process_that_no_harness_started(tmp_path):
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    record(tmp_path, process.pid, **GONE)
    assert leftovers.sweep(tmp_path) == []
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_record_of_another_user_is_left_alone(tmp_path, sleeper):
    file = record(tmp_path, sleeper.pid, **GONE)
    os.chown(file, 65534, 65534)
    assert leftovers.sweep(tmp_path) == []
    assert sleeper.poll() is None
    assert file.exists()


def test_records_behind_a_link_are_left_alone(tmp_path, sleeper):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    file = record(real, sleeper.pid, **GONE)
    assert leftovers.sweep(link) == []
    assert sleeper.poll() is None
    assert file.exists()


def test_a_named_pipe_and_a_folder_among_the_records_stop_no_sweep(tmp_path, sleeper):
    os.mkfifo(tmp_path / "0.json")
    (tmp_path / "1.json").mkdir()
    record(tmp_path, sleeper.pid, **GONE)
    assert len(leftovers.sweep(tmp_path)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.json", "1.json"]


def test_a_missing_folder_holds_no_leftovers(tmp_path):
    assert leftovers.sweep(tmp_path / "none") == []


def test_what_is_already_gone_is_not_registered(tmp_path):
    process = subprocess.Popen(["true"])
    process.wait()
    leftovers.register(tmp_path, process.pid, "x")
    assert list(tmp_path.iterdir()) == []
    leftovers.unregister(tmp_path, process.pid)
