"""``bench import PATH``: copy an exported run into this results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options


def command(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="The folder that `{bench} export` wrote, published or whole."),
    ],
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Copy an exported or published run into the results.

    Checks its digests first; prints the run's id.
    """
    from benchbook.record.opened import import_run

    print(import_run(path, results))
