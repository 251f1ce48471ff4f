"""``bench rerun RUN``: a run again, at the exact revision it was made with."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from benchbook.cli import options


def command(
    run: options.Run = "latest",
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
    from benchbook.record.folder import RUN_FILE, read_object
    from benchbook.record.runs import find
    from benchbook.run.rerun import OWN_EXIT_CODES, rerun

    found = find(results, run)
    if not (found.path / RUN_FILE).exists():
        raise RequestError(
            f"{found.run_id} ended before its provenance was stored.",
            f"Finish it first: resume {found.run_id}",
        )
    target = [] if results == options.DEFAULT_RESULTS else ["--results", str(results.absolute())]
    again = rerun(read_object(found.path / RUN_FILE), flake, target)
    print(again.shown(), flush=True)
    dirty = (
        f"{found.run_id} was made from a checkout with changes that are not committed: "
        "its revision alone is another program"
    )
    if only_print:
        if again.dirty:
            print(f"bench: {dirty}.", file=sys.stderr)
        return 0
    if again.dirty:
        raise RequestError(
            f"{dirty}, so the command above was not executed.",
            "Execute it yourself if the revision alone will do.",
        )
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
