"""Processes of systems: process group, end of the log, termination."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.process import spawn

HARNESS = Path(__file__).resolve().parents[2]


def start(tmp_path, script, **more):
    return spawn.start(["/bin/sh", "-c", script], name="the server", log=tmp_path / "log", **more)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_benchload_is_found_next_to_the_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.delenv("BENCHBOOK_BENCHLOAD", raising=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "benchload").touch()
    assert spawn.find_benchload() == tmp_path / "bin" / "benchload"
    named = tmp_path / "another"
    named.touch()
    monkeypatch.setenv("BENCHBOOK_BENCHLOAD", str(named))
    assert spawn.find_benchload() == named


def test_a_process_leads_a_group_of_its_own(tmp_path):
    running = start(tmp_path, "sleep 60")
    assert os.getpgid(running.pid) == running.pid != os.getpgid(0)
    assert running.ending() is None
    running.stop()
    assert not alive(running.pid)


def test_stopping_ends_the_whole_group_and_closes_the_record(tmp_path):
    running = start(tmp_path, "sleep 61 & sleep 61 & wait", registry=tmp_path / "processes")
    assert until(lambda: len(running.tree()) == 3)
    assert [path.name for path in (tmp_path / "processes").iterdir()] == [f"{running.pid}.json"]
    tree = running.tree()
    running.stop()
    assert until(lambda: not any(map(alive, tree)))
    assert list((tmp_path / "processes").iterdir()) == []
    running.stop()  # twice is no mistake


def test_one_that_ignores_the_polite_signal_is_killed(tmp_path):
    running = start(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    assert until(lambda: (tmp_path / "log").read_text() == "ready\n")
    running.stop(grace_seconds=0.2)
    assert not alive(running.pid)


def test_death_is_told_with_the_last_words(tmp_path):
    running = start(tmp_path, "echo starting; echo no space left >&2; exit 3")
    running.wait_ending(5)
    with pytest.raises(
        TrialFailed, match=r"the server exited with code 3\. The end of its log: starting \| no space"
    ):
        running.check()
    running.stop()


def test_death_by_a_signal_names_it(tmp_path):
    running = start(tmp_path, "sleep 60")
    os.kill(running.pid, signal.SIGKILL)
    running.wait_ending(5)
    assert running.ending() == "was ended by SIGKILL"
    running.stop()
    assert running.ending() == "was ended by SIGKILL"


def test_a_program_that_cannot_be_started_is_told(tmp_path):
    with pytest.raises(TrialFailed, match=r"the server could not be started: No such file.*missing-program"):
        spawn.start(["./missing-program"], name="the server", log=tmp_path / "log")


def test_a_registry_that_cannot_be_written_leaves_no_process(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialFailed, match="cannot be written"):
        start(tmp_path, "sleep 60", registry=tmp_path / "file" / "processes")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process when its starter dies")
def test_it_dies_with_the_harness_even_by_kill_9(tmp_path):
    script = (
        "import sys, time; from pathlib import Path; from benchbook.process import spawn\n"
        "running = spawn.start(['sleep', '60'], name='s', log=Path(sys.argv[1]))\n"
        "print(running.pid, flush=True); time.sleep(60)"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        env={**os.environ, "PYTHONPATH": str(HARNESS)},
        stdout=subprocess.PIPE,
    )
    pid = int(harness.stdout.readline())
    assert alive(pid)
    harness.kill()
    harness.wait()
    harness.stdout.close()
    assert until(lambda: not alive(pid))


def test_last_words_of_a_silent_or_missing_log(tmp_path):
    (tmp_path / "empty").write_text("\n\n")
    assert spawn.log_end(tmp_path / "empty") == "(empty)"
    assert spawn.log_end(tmp_path / "missing") == "(empty)"


def test_last_words_are_the_last_lines_of_a_long_log(tmp_path):
    (tmp_path / "log").write_text("".join(f"line {n}\n" for n in range(10_000)))
    assert spawn.log_end(tmp_path / "log", lines=2) == "line 9998 | line 9999"
