"""``bench export [RUN]``: a run as files that anyone can read without us."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options


def command(
    run: options.Run = "latest",
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder to write; default ./RUN-export.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that exists.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Export a run: Parquet of every table, plan, declarations, report, and a manifest of digests."""
    from benchbook.record import export
    from benchbook.record.catch_up import catch_up
    from benchbook.record.runs import resolve

    run_id = resolve(results, run)
    catch_up(results)
    folder = output or Path(f"{run_id}-export")
    export.run(results, run_id, folder, overwrite=overwrite)
    print(folder)
