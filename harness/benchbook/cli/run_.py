"""``bench run X``: carry out an experiment, then render its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.cli import options
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    slug: options.Experiment,
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="5%",
            help="Run as many trials as intervals of this width need; a pilot run finds out how many.",
        ),
    ] = None,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    results: options.Results = options.DEFAULT_RESULTS,
    yes: options.Yes = False,
    record_operations: options.RecordOperations = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse to run if `{bench} doctor` finds something that is not controlled."
        ),
    ] = False,
    cluster: options.Cluster = None,
) -> int:
    """Run an experiment and render its report.

    Shows what the run found; the last line printed is the report's path.
    Exit code: 4 if a trial failed or is invalid, else 3 if one was skipped, else 0.
    """
    from benchbook.cli import precise
    from benchbook.cli.carry_out import carry_out_and_report, confirm, store
    from benchbook.cli.request import planned
    from benchbook.declare.catalogue import Catalogue

    if strict:
        _require_controlled(results)
    asked: dict[str, Any] = {
        "slug": slug, "profile": profile, "sets": sets, "order_seed": order_seed, "systems": system,
        "cluster": cluster, "record_operations": record_operations,
    }  # fmt: skip
    if precision is not None:
        if trials is not None:
            raise RequestError("--precision and --trials both set the number of trials.", "Give one of them.")
        return precise.begin(asked, results, precision)
    made = planned(Catalogue(), trials=trials, **asked)
    confirm(results, made, yes)
    store(made, results)
    return carry_out_and_report(made, results)


def _require_controlled(results: Path) -> None:
    """Raise RequestError if something that disturbs measurements is not controlled."""
    from benchbook.host.controls import checks

    loose = [one for one in checks(results) if one.state == "not controlled"]
    if loose:
        raise RequestError(
            f"Nothing was started: {len(loose)} things are not controlled on this machine: "
            f"{', '.join(one.control for one in loose)}.",
            f"{typed('doctor')} shows what would help. Without --strict, a run records them.",
        )
