"""``bench rerun RUN``: a run again, at the exact revision it was made with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.cli import options


def command(
    run: Annotated[
        str,
        typer.Argument(
            metavar=options.optional("RUN"),
            help="A run, the beginning of its name, an experiment, `latest`, "
            "or the folder of a published or exported run, as `reports/data/quickstart`.",
        ),
    ] = "latest",
    flake: Annotated[
        str | None,
        typer.Option(
            "--flake", metavar="REF", help="Where the source is had from; by default this checkout."
        ),
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the command and do no more.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Print the command that runs RUN again at its revision, options and order; with Nix, execute it."""
    from benchbook.errors import RequestError
    from benchbook.record.rerun import OWN_EXIT_CODES, rerun

    run_id, facts = _facts(results, run)
    target = [] if results == options.DEFAULT_RESULTS else ["--results", str(results.absolute())]
    again = rerun(facts, flake, target)
    print(again.shown(), flush=True)
    dirty = (
        f"{run_id} was made from a checkout with changes that are not committed: "
        "its revision alone is another program"
    )
    elsewhere = f"… in the command stands for a folder of the machine that {run_id} was made on"
    for holds, why, way in (
        (again.dirty, dirty, "Execute it yourself if the revision alone will do."),
        (again.elsewhere, elsewhere, "Execute it yourself with the place that yours has it in."),
    ):
        if holds and only_print:
            print(f"bench: {why}.\n  {way}", file=sys.stderr)
        elif holds:
            raise RequestError(f"{why}, so the command above was not executed.", way)
    if only_print:
        return 0
    if not again.executable:
        print("bench: there is no nix on PATH to execute it; type the command above.", file=sys.stderr)
        return 0
    try:
        code = again.execute()
        failed = f"nix ended with exit code {code} (its own words stand above), so nothing was run again."
    except OSError as error:
        code, failed = 127, f"{again.command[0]} cannot be started: {error.strerror or error}."
    if code in OWN_EXIT_CODES:
        return code
    # Not by an error of our own, in whose words ./bench would become what this process was called by.
    print(f"bench: {failed}\n  Without Nix, in a clone of Benchbook: {again.by_hand}", file=sys.stderr)
    return 2


def _facts(results: Path, run: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the ``run.json`` of a run of the results folder, or of one whose own folder is named.

    Raises RequestError where there is none.
    """
    from benchbook.declare.catalogue import root
    from benchbook.errors import RequestError
    from benchbook.record.folder import RUN_FILE, read_object
    from benchbook.record.runs import find

    place = Path(run)
    if "/" in run or run in (".", ".."):
        file = place if place.name == RUN_FILE else place / RUN_FILE
        if not file.is_file():
            raise RequestError(
                f"There is no {file}, so {run} is not the folder of a run.",
                f"Published runs are in {root() / 'reports' / 'data'}; bench list runs shows your own.",
            )
        try:
            facts = read_object(file)
            return str(facts["run_id"]), facts
        except (ValueError, KeyError) as error:
            raise RequestError(
                f"{file} is not the description of a run: {error}.",
                "Take the folder as it was published again.",
            ) from error
    try:
        found = find(results, run)
    except RequestError as error:
        published = root() / "reports" / "data" / run
        if run and (published / RUN_FILE).is_file():
            raise RequestError(error.message, f"Its published run: rerun {published}") from error
        raise
    if not (found.path / RUN_FILE).exists():
        raise RequestError(
            f"{found.run_id} ended before its provenance was stored.",
            f"Finish it first: resume {found.run_id}",
        )
    return found.run_id, read_object(found.path / RUN_FILE)
