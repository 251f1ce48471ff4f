"""``bench claims [RUN]``: the verdict of a run on each published statement that its experiment declares."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.errors import command as typed


def command(
    run: options.Run = "latest",
    power: Annotated[
        bool, typer.Option("--power", help="Show the chance of each verdict in another run like this one.")
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show a run's verdicts on published claims.

    A verdict is: reproduced, different size, direction only, contradicted, inconclusive, underspecified,
    substitute only, or not run.
    The claims are those in experiment.toml when the run began. docs/claims.md explains the verdicts.

    --power shows what another run like this one can decide, if the true ratio and the spread are as measured: the
    chance of each verdict, and the trials and minutes for a verdict with 80 % chance.
    """
    from benchbook.analyse import claims, looked, prospect
    from benchbook.analyse.run import Run
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.opened import opened

    published = Catalogue().published
    with opened(results, run, answering=True) as found:
        read = Run(found.results, found.run_id)
        judged = claims.of_run(read, published)
        chances = prospect.of_run(read, published) if power else []
        looks = looked.sentence(read)
    if as_json:
        table.show([one.row() for one in (chances if power else judged)], as_json=True)
        return
    if judged:
        print(f"{found.run_id}\n")
    if looks:
        print(f"{looks}\n")
    if power:
        empty = "No claim has a measured ratio, so none has a power."
        table.show([one.shown() for one in chances], as_json=False, empty=empty)
        return
    table.show(
        [_shown(one.row()) for one in judged],
        as_json=False,
        empty=f"{found.run_id} declared no claims (docs/claims.md)",
    )
    if any(one.verdict == "inconclusive" and one.cells for one in judged):
        more = typed(f"claims {run} --power")
        print(f"\nTo see how many trials would decide the inconclusive claims: {more}")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for display: numbers to three digits, the margin in per cent."""
    numbers = {
        key: None if row[key] is None else f"{row[key]:.3g}"
        for key in ("published", "measured", "low", "high")
    }
    return {**row, **numbers, "margin": f"{100 * row['margin']:g} %"}
