"""``bench claims [RUN]``: the verdict of a run on each published statement that its experiment declares."""

from __future__ import annotations

from typing import Any

from benchbook.cli import options, table


def command(
    run: options.Run = "latest",
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show a run's verdicts on published claims.

    A verdict is: reproduced, different size, direction only, contradicted, inconclusive, underspecified,
    substitute only, or not run.
    The claims are those in experiment.toml when the run began. docs/claims.md explains the verdicts.
    """
    from benchbook.analyse import claims
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.opened import opened

    with opened(results, run, answering=True) as found:
        judged = claims.judge_run(found.results, found.run_id, Catalogue().published)
    if as_json:
        table.show([one.row() for one in judged], as_json=True)
        return
    if judged:
        print(f"{found.run_id}\n")
    table.show(
        [_shown(one.row()) for one in judged],
        as_json=False,
        empty=f"{found.run_id} declared no claims (docs/claims.md)",
    )


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for display: numbers to three digits, the margin in per cent."""
    numbers = {
        key: None if row[key] is None else f"{row[key]:.3g}"
        for key in ("published", "measured", "low", "high")
    }
    return {**row, **numbers, "margin": f"{100 * row['margin']:g} %"}
