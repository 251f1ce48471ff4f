"""``bench rerun RUN``: repeat a run at the revision that made it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    run: options.Run = "latest",
    flake: Annotated[
        str | None,
        typer.Option("--flake", metavar="REF", help="Flake that has the source; by default this checkout."),
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the command.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Run a run again, at its revision.

    Prints the command with the options and the order of the run; executes it if Nix is on PATH.
    """
    from benchbook.record.opened import facts, is_folder
    from benchbook.record.rerun import OWN_EXIT_CODES, rerun

    found = facts(results, run)
    run_id = found["run_id"]
    if "provenance" not in found and not is_folder(run):
        raise RequestError(
            f"{run_id} ended before its provenance was stored.",
            f"Finish it first: {typed(f'resume {run_id}')}",
        )
    target = [] if results == options.DEFAULT_RESULTS else ["--results", str(results.absolute())]
    again = rerun(found, flake, target)
    print(again.shown(), flush=True)
    dirty = f"{run_id} was made from a checkout with uncommitted changes, so its revision alone is another program"
    elsewhere = f"… in the command replaces a folder of the machine that {run_id} was made on"
    for holds, why, way in (
        (again.dirty, dirty, "To use the revision alone, execute the command yourself."),
        (again.elsewhere, elsewhere, "Execute it yourself with the folder of this machine."),
    ):
        if holds and only_print:
            print(f"bench: {why}.\n  {way}", file=sys.stderr)
        elif holds:
            raise RequestError(f"{why}, so the command above was not executed.", way)
    if only_print:
        return 0
    if not again.executable:
        print("bench: nix is not on PATH to execute the command; type it yourself.", file=sys.stderr)
        return 0
    try:
        code = again.execute()
        failed = f"nix ended with exit code {code} (its messages are above), so nothing was run again."
    except OSError as error:
        code, failed = 127, f"{again.command[0]} cannot be started: {error.strerror or error}."
    if code in OWN_EXIT_CODES:
        return code
    raise RequestError(failed, f"Without Nix, in a clone of Benchbook: {again.by_hand}")
