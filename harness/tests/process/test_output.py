"""What a program prints is kept within a size, and it ends within its time, whatever it leaves behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchbook.process import launch, output


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_both_streams_and_the_exit_code_are_returned():
    ran = launch.call(["/bin/sh", "-c", "echo out; printf 'err\\377' >&2; exit 3"])
    assert (ran.stdout, ran.stderr, ran.returncode) == ("out\n", "err\ufffd", 3)
    assert launch.call(["/bin/sh", "-c", "kill -9 $$"]).returncode == -9
    assert len(launch.call([sys.executable, "-c", "print('x' * 1000000)"]).stdout) == 1_000_001
    with pytest.raises(FileNotFoundError):
        launch.call(["./missing-program"])


def test_it_reads_no_input_and_takes_a_folder_and_an_environment(tmp_path):
    ran = launch.call(["/bin/sh", "-c", "cat; pwd; echo $MINE"], cwd=tmp_path, env={"MINE": "1"})
    assert ran.stdout == f"{tmp_path}\n1\n"


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_endless_output_ends_the_program_and_what_it_started(tmp_path, monkeypatch, stream):
    """A program that printed endlessly for its version took 24 GB, and the machine."""
    monkeypatch.setattr(output, "MOST_BYTES", 1 << 20)
    script = f"sleep 60 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/own; exec yes {stream}"
    with pytest.raises(OSError, match="sh printed more than 1 MiB and was ended"):
        output.run(["/bin/sh", "-c", script], 60, most_bytes=1 << 20)
    for name in ("own", "child"):
        until_gone(int((tmp_path / name).read_text()))


def test_a_program_that_does_not_end_is_killed_with_what_it_started(tmp_path):
    script = f"sleep 60 & echo $! > {tmp_path}/child; wait"
    with pytest.raises(subprocess.TimeoutExpired):
        launch.call(["/bin/sh", "-c", script], 0.5)
    until_gone(int((tmp_path / "child").read_text()))


def until_gone(pid):
    for _ in range(500):
        if not alive(pid):
            return
        time.sleep(0.02)
    os.kill(pid, 9)
    pytest.fail(f"process {pid} is left")


def test_a_process_that_is_left_with_the_pipe_does_not_hold_the_harness(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "PIPE_SECONDS", 0.1)
    script = f"setsid sleep 60 & echo $! > {tmp_path}/left; echo version 1"
    assert launch.call(["/bin/sh", "-c", script], None).stdout == "version 1\n"
    until_gone(int((tmp_path / "left").read_text()))
