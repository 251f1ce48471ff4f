"""``bench compare A B``: two runs, two machines or two versions."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.cli.spoken import spoken


def command(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="The run that is compared with: a run or the beginning of its name."
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The run that is compared; `latest` is one too.")],
    across: Annotated[
        bool, typer.Option("--across", help="Compare different data, query sets or configurations too.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Every metric that has a direction, not the main ones.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Compare two runs: what differs beside the results, then B over A with its interval for each cell and metric."""
    from benchbook.analyse import compare
    from benchbook.declare.metric import MAIN
    from benchbook.record.database import catch_up
    from benchbook.record.runs import resolve

    one, two = resolve(results, a), resolve(results, b)
    catch_up(results)
    found = compare.compare(results, one, two, across=across, metrics=None if every else MAIN)
    if as_json:
        for note in found.notes:
            print(f"bench: {spoken(note)}", file=sys.stderr)
        table.show(rows(found), as_json=True)
        return
    print(f"A  {found.a}\nB  {found.b}\n")
    print("What differs beside the results:")
    table.show(
        [{"group": each.group, "what": each.what, "A": each.a, "B": each.b} for each in found.differences],
        as_json=False,
        empty="nothing that was recorded",
    )
    print()
    table.show(
        [_shown(row) for row in rows(found)], as_json=False, empty="no metric was measured in both runs"
    )
    print()
    for note in found.notes:
        print(spoken(note))


def rows(found: Any) -> list[dict[str, Any]]:
    """Return one row for each cell and metric, as --json prints them."""
    return [asdict(change) for change in found.changes]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as people read it."""
    interval = "" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
    return {
        "cell": row["cell"],
        "phase": row["phase"],
        "metric": row["metric"],
        "A": table.shown(None if row["a"] is None else float(f"{row['a']:.4g}")),
        "B": table.shown(None if row["b"] is None else float(f"{row['b']:.4g}")),
        "unit": row["unit"],
        "B/A": "" if row["ratio"] is None else f"{row['ratio']:.3f}",
        "95 % interval": interval,
        "effect": "" if row["effect"] is None else f"{row['effect']:+.1f}",
        "trials": f"{row['a_trials']}, {row['b_trials']}",
        "B is": row["said"],
        "why": row["reason"],
    }
