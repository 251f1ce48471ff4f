"""``bench lint``: fix the format of all code, and report what is left to fix."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer

from benchbook.cli.options import clone


def command(
    check: Annotated[bool, typer.Option("--check", help="Report only; change no file.")] = False,
) -> int:
    """Fix the format of the code and report the rest.

    Fixes with ruff and gofmt. Reports what they leave, and the findings of mypy, import-linter,
    go vet, staticcheck and shellcheck. The exit code is 1 if a check failed.
    """
    script = clone("lint") / ".ci" / "lint"
    return subprocess.run(["bash", script, *([] if check else ["--fix"])], check=False).returncode
