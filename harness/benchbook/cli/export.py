"""``bench export [RUN]``: write a run as files that need no Benchbook to read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.cli.options import require_project
from benchbook.declare.checkout import is_apart
from benchbook.errors import RequestError
from benchbook.errors import command as typed

CONTRIBUTED = (
    "it is published as a run that was contributed: pages show it by the name of its machine, and no verdict of another"
    " run rests on it"
)


def command(
    run: options.Run = "latest",
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder to write; default ./RUN-export.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export.")] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Keep the names of user and host, and private paths.")
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            help="Write a smaller form to reports/data/EXPERIMENT/RUN, which `{bench} site` shows. A published run is"
            " never replaced.",
        ),
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="NAME",
            help="With --publish: name the machine of a run that you contribute to those of the project.",
        ),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Export or publish a run as a folder of files.

    It is a research object: RO-Crate metadata, Parquet tables, trials, configurations, logs and the report.
    """
    from benchbook.declare.catalogue import root
    from benchbook.record.export import export_run
    from benchbook.record.opened import opened
    from benchbook.report.render import report

    if publish:
        _require_checkout(root(), private=private, output=output)
    elif machine is not None:
        raise RequestError(
            "--machine names the machine of a published run, but --publish is missing.",
            f"Add it: {typed(f'export {run} --publish --machine {machine}')}",
        )
    with opened(results, run, answering=publish, floors=False, from_trials=True) as found:
        if publish:
            from benchbook.site.published import publish as write

            for doubt in _doubts(found.results, found.run_id):
                print(f"bench: warning: {doubt}", file=sys.stderr)
            print(write(found.results, found.run_id, root() / "reports" / "data", machine=machine))
            if machine is not None:
                print(f"bench: {CONTRIBUTED}", file=sys.stderr)
            else:
                print(
                    f"bench: verdicts rest on it only after `{typed('replicate --record')}`; commit both",
                    file=sys.stderr,
                )
            return
        folder = output or Path(f"{found.run_id}-export")
        export_run(
            found.results,
            found.run_id,
            folder,
            overwrite=overwrite,
            private=private,
            render=report,
        )
    print(folder)


def _doubts(results: Path, run_id: str) -> list[str]:
    """Return why readers of a published run could not rerun it, or should not rely on it."""
    from benchbook.analyse.run import Run
    from benchbook.record.rerun import of_declarations

    run = Run(results, run_id)
    found = []
    if of_declarations(run.facts("provenance")).get("git_dirty"):
        found.append("the code of this run had uncommitted changes, so nobody else can rerun it")
    if run.profile == "smoke":
        found.append("profile smoke checks that everything works; its trials are too short to rely on")
    return found


def _require_checkout(root: Path, *, private: bool, output: Path | None) -> None:
    if private or output:
        raise RequestError(
            "--publish cannot be combined with --private or --output: it always writes into reports/data, and always"
            " removes private names (of the machine, the user and folders).",
            "Leave out --private and --output.",
        )
    require_project("--publish", "reports/data")
    if root.is_relative_to("/nix/store"):
        start = typed("export") if is_apart() else "./bench export"
        raise RequestError(
            f"--publish writes into reports/data, but {root} is in the Nix store, which is read-only.",
            f"Run it in a clone of the repository, with the folder of the results: {start} --publish --results FOLDER",
        )
