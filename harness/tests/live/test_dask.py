"""Dask on this machine: the commands of docs/several-machines.md, and a scheduler or worker that does not fit."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from bench import HARNESS, SMALL, begin, bench, environment, need_benchload, rows

from benchbook.process.network import free_ports
from benchbook.process.wait import until

PAGE = (HARNESS.parent / "docs" / "several-machines.md").read_text(encoding="utf-8")
LOCAL = ("--host", "127.0.0.1", "--no-dashboard")

PARAMIKO = '''
"""In place of paramiko: a machine that is this one. Its scheduler listens on loopback alone."""

import os, signal, subprocess


class AutoAddPolicy: ...


class _Output:
    def __init__(self, process):
        self.process, self.channel = process, self
        os.set_blocking(process.stdout.fileno(), False)

    def readline(self):
        line = self.process.stdout.readline()
        if not line:
            raise TimeoutError
        return line.decode()

    def settimeout(self, seconds): ...

    def exit_status_ready(self):
        return self.process.poll() is not None

    def recv_exit_status(self):
        return self.process.returncode

    def send(self, text):
        os.killpg(self.process.pid, signal.SIGINT)

    def close(self): ...

    def send_ignore(self): ...


class SSHClient:
    def set_missing_host_key_policy(self, policy): ...

    def connect(self, **options): ...

    def exec_command(self, command, get_pty):
        command = command.replace("dask_scheduler ", "dask_scheduler --host 127.0.0.1 ")
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        process = subprocess.Popen(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**kept, "SHELL": "/bin/bash"}, start_new_session=True,
        )
        self.output = _Output(process)
        return None, self.output, self.output

    def get_transport(self):
        return self.output

    def close(self): ...
'''


@contextlib.contextmanager
def running(*command: str, log: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in its own session and interrupt it at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=env, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def documented(beginning: str) -> list[list[str]]:
    """Return the commands of the page that begin like this, each as its words."""
    lines = [line.strip() for line in PAGE.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(beginning)]


def dask(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "benchbook", "dask", *words]


def without_benchbook() -> dict[str, str]:
    """Return the environment of a shell that knows nothing of Benchbook."""
    return {name: text for name, text in os.environ.items() if not name.startswith(("BENCHBOOK_", "PYTHON"))}


@contextlib.contextmanager
def cluster(
    at: str, folder: Path, scheduler: Sequence[str] = (), env: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a scheduler at an address and a worker of each kind; give the scheduler.

    ``scheduler`` is its command and ``env`` its environment; by default those of this Benchbook.
    """
    folder.mkdir()
    begun = [*(scheduler or dask("scheduler")), *LOCAL, "--port", at.rpartition(":")[2]]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(running(*begun, log=folder / "scheduler", env=env or environment()))
        for resource in ("server", "client"):
            more = ["--resources", f"{resource}=1", "--nthreads", "2", "--local-directory", str(folder)]
            worker = dask("worker", at, *LOCAL, *more)
            stack.enter_context(running(*worker, log=folder / resource, env=environment()))
        yield process


def test_the_documented_commands(tmp_path: Path) -> None:
    need_benchload()
    [scheduler], workers = documented("./bench dask scheduler"), documented("./bench dask worker")
    assert [one[one.index("--resources") + 1] for one in workers] == ["server=1", "client=1"]
    [port] = free_ports(1)
    at, env = f"tcp://127.0.0.1:{port}", environment()
    with contextlib.ExitStack() as stack:
        more = [*LOCAL, "--port", str(port)]
        stack.enter_context(running(*dask(*scheduler[2:], *more), log=tmp_path / "scheduler", env=env))
        for number, one in enumerate(workers):
            words = [
                word.replace("tcp://HOST:8786", at).replace("/data", str(tmp_path / "data"))
                for word in one[2:]
            ]
            stack.enter_context(running(*dask(*words, *LOCAL), log=tmp_path / f"worker-{number}", env=env))
        done = bench("run", *SMALL, "--cluster", at, "--results", str(tmp_path / "results"))
    assert done.returncode == 0, done.stderr
    assert [one["status"] for one in rows(tmp_path / "results", "select status from trials")] == ["ok"] * 4


def test_dask_ssh_as_documented(tmp_path: Path) -> None:
    """The environment's Python finds Benchbook and benchload, although no variable names them."""
    need_benchload()
    bare = without_benchbook()
    look = "from benchbook.process.spawn import find_benchload; find_benchload()"
    if subprocess.run([sys.executable, "-P", "-c", look], env=bare, cwd=tmp_path, check=False).returncode:
        pytest.skip("./bench did not make this Python environment, so it does not hold Benchbook")
    [command] = documented("dask ssh")
    [port] = free_ports(1)
    at = f"tcp://127.0.0.1:{port}"
    (tmp_path / "hosts.txt").write_text("127.0.0.1\n")
    (tmp_path / "stub/paramiko").mkdir(parents=True)
    (tmp_path / "stub/paramiko/__init__.py").write_text(PARAMIKO)
    (tmp_path / "stub/paramiko/buffered_pipe.py").write_text("class PipeTimeout(Exception): ...\n")
    (tmp_path / "stub/paramiko/ssh_exception.py").write_text(
        "class PasswordRequiredException(Exception): ...\nclass SSHException(Exception): ...\n"
    )
    here = {"/opt/benchbook/.bench/venv/bin/python": sys.executable, "hosts.txt": str(tmp_path / "hosts.txt")}
    words = [here.get(word, word) for word in command[1:]]
    ssh = [sys.executable, "-m", "dask", *words, "--scheduler-port", str(port)]
    server = dask("worker", at, "--nthreads", "2", "--resources", "server=1", *LOCAL)
    server += ["--local-directory", str(tmp_path / "data")]
    with (
        running(*ssh, log=tmp_path / "ssh", env={**bare, "PYTHONPATH": str(tmp_path / "stub")}),
        running(*server, log=tmp_path / "server", env=bare),
    ):
        done = bench("run", *SMALL, "--cluster", at, "--results", str(tmp_path / "results"), report=False)
    assert done.returncode == 0, done.stderr + (tmp_path / "ssh").read_text(errors="replace")


@pytest.mark.parametrize(
    ("package", "words"),
    [("another", "has another Benchbook (sha256:"), ("none", "cannot import this Benchbook (")],
)
def test_a_scheduler_of_another_benchbook_is_refused_in_a_sentence(
    package: str, words: str, tmp_path: Path
) -> None:
    need_benchload()
    other = tmp_path / "other"
    if package == "another":
        shutil.copytree(HARNESS / "benchbook", other / "benchbook")
        with (other / "benchbook/errors.py").open("a") as file:
            file.write("# another revision\n")
    else:
        (other / "benchbook").mkdir(parents=True)
        (other / "benchbook/__init__.py").write_text(
            "raise ModuleNotFoundError('No module named benchbook')\n"
        )
    [port] = free_ports(1)
    at = f"tcp://127.0.0.1:{port}"
    scheduler = [sys.executable, "-P", "-m", "dask", "scheduler"]
    env = {**without_benchbook(), "PYTHONPATH": str(other)}
    with cluster(at, tmp_path / "cluster", scheduler, env):
        assert until(lambda: b"at:" in (tmp_path / "cluster/scheduler").read_bytes(), 60)
        done = bench("run", *SMALL, "--cluster", at, "--results", str(tmp_path / "results"), report=False)
    assert done.returncode == 2, done.stderr
    assert f"The scheduler {at}" in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results/runs").exists()


def test_a_lost_scheduler_stops_the_run_which_then_continues(tmp_path: Path) -> None:
    need_benchload()
    results = tmp_path / "results"
    [port] = free_ports(1)
    at = f"tcp://127.0.0.1:{port}"
    with (
        cluster(at, tmp_path / "first") as scheduler,
        begin("run", *SMALL, "--cluster", at, "--results", str(results), report=False) as run,
    ):
        assert until(lambda: any(results.glob("runs/*/trials/0000/trial.json")), 120)
        os.killpg(scheduler.pid, signal.SIGKILL)
        _, err = run.communicate(timeout=120)
    assert run.returncode == 2, err
    assert f"The Dask scheduler {at} no longer answers" in err
    assert "bench resume" in err
    assert "Traceback" not in err
    with cluster(at, tmp_path / "second"):
        done = bench("resume", "--results", str(results), report=False)
    assert done.returncode == 0, done.stderr
    trials = rows(results, 'select trial_id, status from trials order by "index"')
    assert [one["status"] for one in trials] == ["ok"] * 4
