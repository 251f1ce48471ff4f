"""``bench compare A B``: compare two runs, for example of two machines or versions."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from benchbook.cli import options, table


def command(
    a: Annotated[
        str,
        typer.Argument(metavar="A", help=f"The baseline. {options.RUN_HELP}"),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The run to compare with it, named in the same way.")],
    across: Annotated[
        bool,
        typer.Option(
            "--across", help="Compare the runs even if their data, query sets or configurations differ."
        ),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every metric of which higher or lower is better.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Compare two runs, machines or versions.

    Shows how the runs differ (machine, versions, settings). Then shows the ratio B/A with its 95 % CI, for each cell
    and metric.
    """
    from benchbook.analyse import compare
    from benchbook.declare.metric import MAIN
    from benchbook.record.opened import opened

    with opened(results, a, b) as both:
        found = compare.compare(both.results, *both.run_ids, across=across, metrics=None if every else MAIN)
    if as_json:
        for note in found.notes:
            print(f"bench: {note}", file=sys.stderr)
        table.show(rows(found), as_json=True)
        return
    print(f"A  {found.a}\nB  {found.b}\n")
    print("How the runs differ:")
    table.show(
        [{"group": each.group, "what": each.what, "A": each.a, "B": each.b} for each in found.differences],
        as_json=False,
        empty="no recorded difference",
    )
    print()
    table.show(
        [_shown(row) for row in rows(found)], as_json=False, empty="no metric was measured in both runs"
    )
    print()
    for note in found.notes:
        print(note)


def rows(found: Any) -> list[dict[str, Any]]:
    """Return the rows of ``--json``: one for each cell and metric."""
    return [asdict(change) for change in found.changes]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for display."""
    interval = "" if row["low"] is None else f"{row['low']:.3f}-{row['high']:.3f}"
    return {
        "cell": row["cell"],
        "phase": row["phase"],
        "metric": row["metric"],
        "A": table.shown(None if row["a"] is None else float(f"{row['a']:.4g}")),
        "B": table.shown(None if row["b"] is None else float(f"{row['b']:.4g}")),
        "unit": row["unit"],
        "B/A": "" if row["ratio"] is None else f"{row['ratio']:.3f}",
        "95 % CI": interval,
        "effect": "" if row["effect"] is None else f"{row['effect']:+.1f}",
        "trials": f"{row['a_trials']}, {row['b_trials']}",
        "B is": row["said"],
        "why": row["reason"],
    }
