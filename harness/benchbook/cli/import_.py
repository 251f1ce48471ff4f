"""``bench import PATH``: the run of an export, in this results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.record import opened


def command(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder that `bench export` wrote.")],
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Read an exported run back, checked against its digests; prints the run's id."""
    print(opened.import_run(path, results))
