"""``bench export [RUN]``: a run as files that anyone can read without us."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.record import export


def command(
    run: options.Run = "latest",
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder to write; default ./RUN-export.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that exists.")] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Keep names of user and host, and paths, as they are.")
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            help="Write reports/data/EXPERIMENT instead, from which `bench site` renders; of an A/A run EXPERIMENT-aa.",
        ),
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Export a run as a research object: RO-Crate metadata, Parquet, trials, configurations, logs, report."""
    from benchbook.declare.catalogue import root
    from benchbook.record.runs import resolve
    from benchbook.report.render import report

    run_id = resolve(results, run, answering=publish)
    if publish:
        from benchbook.errors import RequestError
        from benchbook.site import published as publishing

        if private or output:
            raise RequestError(
                "--publish writes into reports/data and always takes private names out.",
                "Leave out --private and --output.",
            )
        if root().is_relative_to("/nix/store"):
            raise RequestError(
                f"--publish writes into reports/data, and this Benchbook lies in the Nix store ({root()}).",
                "Run it in a checkout: ./bench export --publish, or nix develop and then bench export --publish.",
            )
        print(publishing.publish(results, run_id, root() / "reports" / "data"))
        return
    folder = output or Path(f"{run_id}-export")
    reports = root() / "reports"
    export.export_run(
        results,
        run_id,
        folder,
        overwrite=overwrite,
        private=private,
        render=lambda stage, name: report(stage, name, reports),
    )
    print(folder)
