"""``bench rerun RUN``: repeat a run at the revision that made it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    run: options.Run = "latest",
    flake: Annotated[
        str | None,
        typer.Option("--flake", metavar="REF", help="Nix flake with the source; by default this checkout."),
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the command.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Repeat a run at the revision that made it.

    Prints the command, with the options and the order of the run. Executes it only if Nix is on PATH and you began the
    run on this machine. For any other run, also a published one, read the command and type it.
    """
    from benchbook.record import seal
    from benchbook.record.opened import facts, is_folder
    from benchbook.record.rerun import OWN_EXIT_CODES, rerun

    found = facts(results, run)
    run_id = found["run_id"]
    if "provenance" not in found and not is_folder(run):
        raise RequestError(
            f"The run {run_id} was interrupted before it stored its revision, so it cannot be repeated exactly.",
            f"Finish it first: {typed(f'resume {run_id}')}",
        )
    target = [] if results == options.DEFAULT_RESULTS else ["--results", str(results.absolute())]
    again = rerun(found, flake, target)
    print(again.shown(), flush=True)
    revision = again.revision[:12]
    dirty = (
        f"The checkout of {run_id} had uncommitted changes, which its revision {revision} does not contain."
    )
    elsewhere = f"The command contains …, because the publication of {run_id} left out the name of a folder."
    place = Path(run) if is_folder(run) else results / "runs" / run_id
    own = seal.is_own_command(place, found)
    foreign = f"The command is of {run_id}, which you did not begin on this machine, or its run.json has changed since."
    for holds, why, way in (
        (again.executable and not own, foreign, "Read it, and type it yourself if it does what you want."),
        (again.dirty, dirty, "To run the revision without these changes, type the command yourself."),
        (
            again.elsewhere,
            elsewhere,
            "Replace … with the folder on this machine, and type the command yourself.",
        ),
    ):
        if holds and only_print:
            print(f"bench: {why}\n  {way}", file=sys.stderr)
        elif holds:
            raise RequestError(f"{why} The command above was not executed.", way)
    if only_print:
        return 0
    if not again.executable:
        print(
            "bench: nix is not on PATH, so the command was not executed; type it yourself.", file=sys.stderr
        )
        return 0
    try:
        code = again.execute()
        failed = f"nix ended with exit code {code}, and nothing was run. Its messages are above."
    except OSError as error:
        code, failed = 127, f"{again.command[0]} cannot be started: {error.strerror or error}."
    if code in OWN_EXIT_CODES:
        return code
    raise RequestError(
        failed, f"To repeat the run without Nix, run this in a clone of Benchbook: {again.by_hand}"
    )
