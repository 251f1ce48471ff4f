"""Processes that leave the tree of their program are found and ended, also after their harness was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.host.identity import identity, process_space
from benchbook.process import marks, output, spawn, strays

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt others")
HARNESS = Path(__file__).resolve().parents[2]

DAEMON = (
    "( setsid sh -c 'echo $$ > {file}.part; mv {file}.part {file}; {then}' </dev/null >/dev/null 2>&1 & )"
)
"""Forks twice and makes a session of its own, as a server does that daemonises itself."""


def alive(pid):
    return identity(pid) is not None


def until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def left(file):
    assert until(file.exists)
    return int(file.read_text())


def daemon(tmp_path, then="exec sleep 60"):
    return DAEMON.format(file=tmp_path / "daemon", then=then)


def start(tmp_path, script, **more):
    return spawn.start(["/bin/sh", "-c", script], name="the server", log=tmp_path / "log", **more)


def test_a_daemon_is_in_the_tree_of_its_program_and_ends_with_it(tmp_path):
    running = start(tmp_path, f"{daemon(tmp_path)}; exec sleep 60")
    pid = left(tmp_path / "daemon")
    assert until(lambda: pid in running.tree())
    assert running.tree()[0] == running.pid
    running.stop()
    assert not alive(pid)


def test_a_daemon_whose_program_has_ended_at_once_is_ended_too(tmp_path):
    running = start(tmp_path, daemon(tmp_path))
    pid = left(tmp_path / "daemon")
    assert until(running.ending)
    assert running.tree() == []
    with pytest.raises(TrialFailed, match="exited with code 0 and left processes running in the background"):
        running.check()
    running.stop()
    assert not alive(pid)
    with pytest.raises(TrialFailed, match="The end of its log"):
        running.check()


def test_a_daemon_of_another_program_is_left_alone(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    server = start(tmp_path / "a", f"{daemon(tmp_path / 'a')}; exec sleep 60")
    client = start(tmp_path / "b", f"{daemon(tmp_path / 'b')}; exec sleep 60")
    of_server, of_client = left(tmp_path / "a" / "daemon"), left(tmp_path / "b" / "daemon")
    assert until(lambda: of_client in client.tree())
    assert of_client not in server.tree()
    client.stop()
    assert not alive(of_client)
    assert alive(of_server)
    server.stop()
    assert not alive(of_server)


def test_a_daemon_that_ignores_the_polite_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(spawn, "KILL_SECONDS", 0.2)
    running = start(tmp_path, daemon(tmp_path, "trap : TERM; while :; do sleep 0.05; done"))
    pid = left(tmp_path / "daemon")
    running.stop(grace_seconds=0.2)
    assert until(lambda: not alive(pid))


def test_a_daemon_of_a_called_program_is_ended(tmp_path):
    output.run(
        ["/bin/sh", "-c", daemon(tmp_path) + f"; while [ ! -e {tmp_path}/daemon ]; do sleep 0.01; done"], 30
    )
    assert until(lambda: not alive(left(tmp_path / "daemon")))


def test_a_daemon_that_cleared_its_environment_is_found_without_its_mark(tmp_path):
    running = start(tmp_path, f"{daemon(tmp_path, 'exec env -i sleep 60')}; exec sleep 60")
    pid = left(tmp_path / "daemon")
    # If its mark was read before it cleared its environment, it is known by that.
    assert until(lambda: pid in strays.unmarked() or pid in running.tree())
    assert running.pid not in strays.unmarked()
    running.stop()
    strays.end(strays.unmarked)
    assert until(lambda: not alive(pid))


def test_no_adopted_process_stays_a_zombie(tmp_path):
    running = start(tmp_path, f"{daemon(tmp_path, 'exit 0')}; exec sleep 60")
    pid = left(tmp_path / "daemon")
    assert until(lambda: running.tree() and not Path(f"/proc/{pid}").exists())
    assert running.ending() is None
    running.stop()


KILLED = """
import sys, time
from pathlib import Path
from benchbook.process import spawn
running = spawn.start(["/bin/sh", "-c", sys.argv[2]], name="s", log=Path(sys.argv[1]))
print("started", flush=True)
time.sleep(60)
"""


@pytest.fixture
def harness(tmp_path):
    """A harness in a process of its own, whose server is a daemon; its pid."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "log"), daemon(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(HARNESS)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"started\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_daemon_of_a_killed_harness_is_swept(tmp_path, harness):
    pid = left(tmp_path / "daemon")
    strays.sweep()
    assert alive(pid)  # its harness lives
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    assert alive(pid)
    assert pid in [one.pid for one in strays.sweep()]
    assert not alive(pid)


@pytest.mark.parametrize(
    "mark",
    [
        "",
        "/",
        "a/b/c/d/e",
        "////",
        "{boot}/1/4194305/7/0",
        "other/{space}/4194305/7/0",
        "{boot}/{space}/²/7/0",
        "{boot}/{space}/" + "9" * 5000 + "/7/0",
        "{boot}/{space}/4194305/7/0\n",
        "{boot}/{space}/4194305/7/" + "9" * 5000,
    ],
)
def test_a_process_with_a_foreign_or_malformed_mark_is_left_alone(mark):
    boot = identity(os.getpid()).rpartition(":")[0]
    text = mark.format(boot=boot, space=process_space())
    process = subprocess.Popen(["sleep", "60"], env={marks.VARIABLE: text})
    assert process.pid not in [one.pid for one in strays.sweep()]
    assert process.poll() is None
    process.kill()
    process.wait()
