"""``bench import PATH``: the run of an export, in this results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options


def command(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder that `bench export` wrote.")],
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Read an exported run back, checked against its digests; prints the run's id."""
    from benchbook.record import archive

    print(archive.import_run(path, results))
