"""``bench test``: run the tests of Benchbook, Python and Go."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from typing import Annotated

import typer

from benchbook.errors import RequestError

SERIAL = ("tests/live", "tests/browser", "tests/nix")
"""Folders whose tests measure, or share a server: they run one after the other."""
CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def command(
    context: typer.Context,
    only: Annotated[
        str | None, typer.Option("--only", metavar="python|go", help="Run the tests of one language.")
    ] = None,
    run_all: Annotated[bool, typer.Option("--all", help="Run the slow tests too.")] = False,
) -> int:
    """Run the tests of Benchbook, Python and Go.

    Without --all, slow tests are left out: most servers, the browser, Nix, kills and fuzzing. Tests whose server is
    missing are skipped and listed. Further arguments go to pytest, and tests then run one after the other.
    """
    from benchbook.declare.catalogue import root

    if only not in (None, "python", "go"):
        raise RequestError(f'--only {only}: allowed are "python" and "go".', "Leave --only out to run both.")
    harness = root() / "harness"
    codes = []
    if only != "go":
        every = ["--all"] if run_all else []
        for arguments in [context.args] if context.args else _passes(every):
            pytest = [sys.executable, "-m", "pytest", *every, *arguments]
            codes.append(subprocess.run(pytest, cwd=harness, check=False).returncode)
    if only != "python":
        go = os.environ.get("BENCHBOOK_GO") or shutil.which("go")
        if go is None:
            raise RequestError(
                "There is no Go toolchain, which the tests of benchload need.",
                "Start the tests with ./bench test, which installs one.",
            )
        environment = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        done = subprocess.run([go, "test", "./..."], cwd=harness / "benchload", env=environment, check=False)
        codes.append(done.returncode)
    return next((code for code in codes if code), 0)


def _passes(every: list[str]) -> list[list[str]]:
    """Return the arguments of two runs of pytest: tests side by side, then those that need the machine alone."""
    serial = SERIAL if every else SERIAL[:1]
    parallel = ["-n", "auto", "--dist", "loadfile"] if importlib.util.find_spec("xdist") else []
    return [["-q", *parallel, "tests", *(f"--ignore={folder}" for folder in SERIAL)], ["-q", *serial]]
