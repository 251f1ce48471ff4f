"""``bench claims [RUN]``: what a run says of the published statements that its experiment declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.cli import options, table
from benchbook.cli.spoken import spoken


def command(
    run: options.Run = "latest",
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Judge each claim of a run: reproduced, direction only, contradicted, inconclusive, underspecified, not run.

    Claims are those that stood in experiment.toml when the run began. docs/claims.md says how they are judged.
    """
    from benchbook.analyse import claims
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.database import catch_up

    run_id = _named(results, run)
    catch_up(results)
    catalogue = Catalogue()
    found = claims.judge_run(results, run_id, catalogue.published)
    if as_json:
        table.show([one.row() for one in found], as_json=True)
        return
    if found:
        print(f"{run_id}\n")
    table.show(
        [_shown(one.row()) for one in found],
        as_json=False,
        empty=f"{run_id} declared no claims (docs/claims.md)",
    )


def _named(results: Path, name: str) -> str:
    """Return the run that a name means; `latest` and an experiment mean the latest that is no A/A run."""
    from benchbook.record.runs import resolve

    return resolve(results, name, answering=True)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as people read it: numbers to three digits, the margin in per cent."""
    numbers = {
        key: None if row[key] is None else f"{row[key]:.3g}"
        for key in ("published", "measured", "low", "high")
    }
    return {**row, **numbers, "reason": spoken(row["reason"]), "margin": f"{100 * row['margin']:g} %"}
