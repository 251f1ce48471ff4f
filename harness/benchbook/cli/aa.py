"""``bench aa X``: each system against itself, for the machine's noise floor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options, table

TRIALS = 5
"""Trials a cell where none are asked for and the profile has fewer: 3 leave the floor far above the noise."""


def command(
    slug: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="The experiment's name; see `bench list`.")
    ],
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Run every cell of an experiment twice under two labels; print by how much equal things seem to differ.

    Claims and comparisons of the same experiment, profile and machine use this noise floor from then on. The
    last line printed is the report's path. Exit codes are those of `run`.
    """
    from benchbook.cli.options import planned
    from benchbook.cli.run_ import carry_out_and_report, store
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.plan import profile_named
    from benchbook.run import intention

    catalogue = Catalogue()
    if trials is None:
        trials = max(TRIALS, profile_named(slug, catalogue.experiment(slug), profile).trials)
    if order_seed is None:
        remembered = intention.current()
        order_seed = remembered["order_seed"] if remembered else None
    made = planned(catalogue, slug, profile, sets, trials, order_seed, system, against_itself=True)
    store(made, results)
    return carry_out_and_report(made, results)


def show_floors(results: Path, run_id: str, as_json: bool) -> None:
    """Print the noise floors that an A/A run gives, those of the main metrics."""
    from benchbook.analyse import noise
    from benchbook.analyse.run import Run
    from benchbook.declare.metric import is_main

    rows = noise.rows(noise.measured(Run(results, run_id)))
    shown = [
        {
            "cell": row["cell"],
            "phase": row["phase"],
            "metric": row["metric"],
            "trials": row["trials"],
            "A/B": row["ratio"],
            "noise floor": f"{row['percent']:.1f} %" if row["percent"] is not None else row["reason"],
        }
        for row in rows
        if as_json or is_main(row["metric"])
    ]
    table.show(shown, as_json, "no trial of this run counts, so there is no noise floor")
