"""``bench help [COMMAND]``: the same as ``--help``."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options
from benchbook.errors import command as typed


def command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar=options.optional("COMMAND"), help="The command to describe; all by default."),
    ] = None,
) -> int:
    """Show the commands, or the options of one: the same as --help."""
    bench = context.find_root().command
    return int(bench.main([*(words or []), "--help"], prog_name=typed(), standalone_mode=False) or 0)
