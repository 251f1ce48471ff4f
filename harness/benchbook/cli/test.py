"""``bench test``: run the tests of Benchbook, Python and Go."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Annotated

import typer

from benchbook.cli.options import clone
from benchbook.errors import RequestError

LIVE = "tests/live"
"""Tests that start servers and mostly wait for them, so there is one process more than cores."""
SERIAL = ("tests/browser", "tests/nix")
"""Folders whose tests share a browser or a store: they run one after the other."""
SLOWEST = ["--durations=20", "--durations-min=5"]
"""Names the slowest tests at the end of a pass, so that what a change makes slower shows."""
CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def command(
    context: typer.Context,
    only: Annotated[
        str | None, typer.Option("--only", metavar="python|go", help="Run the tests of one language.")
    ] = None,
    run_all: Annotated[bool, typer.Option("--all", help="Run the slow tests too.")] = False,
) -> int:
    """Run the tests of Benchbook, Python and Go.

    Without --all, slow tests are left out: most servers, the browser, Nix and fuzzing. Those that take
    minutes need BENCHBOOK_FULL=1 too. Tests whose server is missing are skipped and listed. Further arguments go to
    pytest, and tests then run one after the other.
    """
    if only not in (None, "python", "go"):
        raise RequestError(f'--only {only}: allowed are "python" and "go".', "Leave --only out to run both.")
    harness = clone("test") / "harness"
    every = ["--all", *SLOWEST] if run_all else []
    passes = [] if only == "go" else [context.args] if context.args else _passes(every)
    codes = []
    with tempfile.TemporaryFile() as output:
        building = _start_building(harness, output) if run_all and len(passes) > 1 else None
        for arguments in passes[:-1]:
            if building is not None and LIVE in arguments:
                building.wait()  # the tests build again what failed, and say why
            codes.append(_pytest(harness, [*every, *arguments]))
        # The last pass mostly waits, so the tests of Go run beside it.
        beside = [] if only == "python" else _start_go(harness, output)
        codes += [_pytest(harness, [*every, *arguments]) for arguments in passes[-1:]]
        codes += [one.wait() for one in beside]
        output.seek(0)
        sys.stdout.write(output.read().decode(errors="replace"))
    return next((code for code in codes if code), 0)


def _pytest(harness: Path, arguments: Sequence[str]) -> int:
    pytest = [sys.executable, "-m", "pytest", "-c", "pyproject.toml"]  # also for tests of experiments alone
    return subprocess.run([*pytest, *arguments], cwd=harness, check=False).returncode


def _start_building(harness: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start to build the servers of the live tests, which takes minutes: most of them wait for downloads."""
    command = [sys.executable, "-m", "tests.live.built"]
    return subprocess.Popen(command, cwd=harness, stdout=output, stderr=output)


def _start_go(harness: Path, output: IO[bytes]) -> list[subprocess.Popen[bytes]]:
    """Start the tests of benchload and of the clients of experiments, whose output goes to a file."""
    go = os.environ.get("BENCHBOOK_GO") or shutil.which("go")
    if go is None:
        raise RequestError(
            "There is no Go toolchain, which the tests of benchload need.",
            "Start the tests with ./bench test, which installs one.",
        )
    environment = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    modules = [harness / "benchload"]
    # Nix's offline copy has the libraries of benchload alone.
    if environment.get("GOPROXY") != "off":
        modules += sorted(path.parent for path in harness.parent.glob("experiments/*/client/go.mod"))
    return [
        subprocess.Popen([go, "test", "./..."], cwd=module, env=environment, stdout=output, stderr=output)
        for module in modules
    ]


def _passes(every: list[str]) -> list[list[str]]:
    """Return the arguments of each run of pytest: tests side by side, those with servers, and those that share."""
    beside = importlib.util.find_spec("xdist") is not None

    def parallel(processes: int) -> list[str]:
        return ["-n", str(processes), "--dist", "loadfile"] if beside else []

    cores = len(os.sched_getaffinity(0))
    apart = [f"--ignore={folder}" for folder in (LIVE, *SERIAL)]
    # In the order of tests/settings.py, where files with slow tests come first.
    in_order = ["--no-loadscope-reorder"] if beside else []
    passes = [
        ["-q", *parallel(cores), *in_order, "tests", "../experiments", "../projects", *apart],
        ["-q", *(parallel(cores + 1) if every else []), LIVE],
    ]
    return [*passes, ["-q", *SERIAL]] if every else passes
