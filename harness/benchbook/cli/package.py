"""``bench package``: build the wheels of Benchbook."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli.options import clone
from benchbook.errors import BenchbookError, RequestError

BUILDER_VARIABLE = "BENCHBOOK_BUILDER"
"""Names the Python that has hatchling; ./bench sets it."""
MACHINES = ("x86_64", "aarch64")
DATE = "315532800"
"""Date of all files in a wheel: 1980, the first that a zip file can have."""


def command(
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder for the wheels.", show_default=True)
    ] = Path("dist"),
) -> None:
    """Build the wheels of Benchbook, for x86_64 and aarch64.

    Each contains benchload and the built-in experiments, systems, datasets and storages, and works outside of a clone.
    The same sources and the same Go give the same bytes. Prints the path of each wheel.
    """
    from benchbook.record.folder import require_folder

    require_folder(output, "--output")
    harness, builder = clone("package") / "harness", os.environ.get(BUILDER_VARIABLE)
    if builder is None:
        raise RequestError(
            "package needs hatchling, which ./bench brings.", "Run it in a clone: ./bench package"
        )
    output.mkdir(parents=True, exist_ok=True)
    for machine in MACHINES:
        with tempfile.TemporaryDirectory(prefix="benchbook-package-", dir=output) as scratch:
            around = {**os.environ, "BENCHBOOK_MACHINE": machine, "SOURCE_DATE_EPOCH": DATE}
            done = subprocess.run(
                [builder, "-m", "hatchling", "build", "--target", "wheel", "--directory", Path(scratch).absolute()],
                cwd=harness, env=around, capture_output=True, text=True, check=False,
            )  # fmt: skip
            made = next(Path(scratch).glob("*.whl"), None)
            if done.returncode or made is None:
                raise BenchbookError(f"The wheel for {machine} could not be built: {done.stderr.strip()}")
            print(made.replace(output / made.name))
