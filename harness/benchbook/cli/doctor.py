"""``bench doctor``: what is controlled on this machine, and what is not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.errors import BenchbookError


def command(
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 2 where something is not controlled.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show what this machine controls of what disturbs measurements, and which programs are there."""
    from benchbook.declare.catalogue import root
    from benchbook.host.controls import checks
    from benchbook.host.packages import programs

    controls = checks(results)
    rows: list[dict[str, Any]] = [{"check": "control", **_row(vars(control))} for control in controls]
    tools = [{"check": "program", **_row(vars(program))} for program in programs(root())]
    if as_json:
        table.show([*rows, *tools], as_json=True)
    else:
        table.show(
            [{key: value for key, value in row.items() if key != "check"} for row in rows], as_json=False
        )
        print()
        table.show(
            [{key: value for key, value in row.items() if key != "check"} for row in tools], as_json=False
        )
    loose = [control.control for control in controls if control.state == "not controlled"]
    if strict and loose:
        raise BenchbookError(
            f"{len(loose)} of {len(controls)} things are not controlled on this machine: {', '.join(loose)}.",
            "The column fix says what would help; without --strict, runs record it and go on.",
        )


def _row(values: dict[str, Any]) -> dict[str, Any]:
    return dict(values)
