"""``bench doctor``: check this machine for measurements."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options, table
from benchbook.errors import BenchbookError


def command(
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 2 if something is not controlled.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Check this machine for measurements.

    Shows what disturbs measurements here and how to prevent it, and which programs are installed.
    """
    from benchbook.declare.checkout import built_in
    from benchbook.host.controls import checks
    from benchbook.host.packages import programs

    controls = [dict(vars(control)) for control in checks(results)]
    tools = [dict(vars(program)) for program in programs(built_in())]
    if as_json:
        marked = [{"check": "control", **row} for row in controls] + [
            {"check": "program", **row} for row in tools
        ]
        table.show(marked, as_json=True)
    else:
        table.show(controls, as_json=False)
        print()
        table.show(tools, as_json=False)
    loose = [str(row["control"]) for row in controls if row["state"] == "not controlled"]
    if strict and loose:
        raise BenchbookError(
            f"{len(loose)} of {len(controls)} things are not controlled on this machine: {', '.join(loose)}.",
            "The column `fix` shows what to do. Without --strict, `run` starts all the same, and records what is not"
            " controlled.",
        )
