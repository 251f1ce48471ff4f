"""``bench test``: run the tests of Benchbook, Python and Go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Annotated

import typer

from benchbook.errors import RequestError

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def command(
    context: typer.Context,
    only: Annotated[
        str | None, typer.Option("--only", metavar="python|go", help="Run the tests of one language.")
    ] = None,
) -> int:
    """Run the tests of Benchbook, Python and Go.

    A test whose server is missing is skipped by name. Further arguments go to pytest.
    """
    from benchbook.declare.catalogue import root

    if only not in (None, "python", "go"):
        raise RequestError(f'--only {only}: allowed are "python" and "go".')
    harness = root() / "harness"
    codes = []
    if only != "go":
        pytest = [sys.executable, "-m", "pytest", *context.args]
        codes.append(subprocess.run(pytest, cwd=harness, check=False).returncode)
    if only != "python":
        go = os.environ.get("BENCHBOOK_GO") or shutil.which("go")
        if go is None:
            raise RequestError(
                "There is no Go toolchain to test benchload with.", "Start the tests with ./bench test."
            )
        environment = {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        done = subprocess.run([go, "test", "./..."], cwd=harness / "benchload", env=environment, check=False)
        codes.append(done.returncode)
    return next((code for code in codes if code), 0)
