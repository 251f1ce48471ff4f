"""``bench help [COMMAND]``: what ``--help`` shows, under the name that people try first."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar=options.optional("COMMAND"), help="The command to tell of; all by default."),
    ] = None,
) -> int:
    """Show the commands, or the options of one: the same as --help."""
    from benchbook.cli.app import app
    from benchbook.cli.spoken import name

    return int(app([*(words or []), "--help"], prog_name=name(), standalone_mode=False) or 0)
