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
            metavar="PERCENT",
            help="Wanted 95 % CI of each cell, such as 5% for ±5 %. A pilot run finds out how many trials it takes.",
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
            "--strict", help="Refuse to run if `{bench} doctor` reports something that is not controlled."
        ),
    ] = False,
    cluster: options.Cluster = None,
) -> int:
    """Run an experiment and render its report.

    Prints a line for each trial, then the results; the last line is the report's path.
    Exit codes: 0 if every trial is ok; 2 if the request was refused; 3 if a trial was skipped; 4 if one failed or
    is invalid; 130 if interrupted.
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
            raise RequestError(
                "--precision and --trials both set the number of trials.", "Leave one of them out."
            )
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
            f"Nothing was started, because --strict was given and this machine does not control {len(loose)} things: "
            f"{', '.join(one.control for one in loose)}.",
            f"`{typed('doctor')}` shows how to fix them. Without --strict, the run starts and records them.",
        )
