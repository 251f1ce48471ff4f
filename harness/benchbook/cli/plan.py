"""``bench plan X``: what a run would do, without doing it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from benchbook.cli import options, table
from benchbook.errors import Unavailable


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
    as_json: options.Json = False,
) -> None:
    """Print the cells of an experiment, their order, the number of trials, the minutes, and what would be fetched."""
    from benchbook.cli.options import planned
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.budget import estimate_seconds
    from benchbook.provision.find import previews
    from benchbook.provision.request import Request
    from benchbook.run.context import go_command

    catalogue = Catalogue()
    made = planned(catalogue, slug, profile, sets, trials, order_seed, system)
    asked = Request(given=made.given, go=go_command())
    found = previews(map(catalogue.system, made.systems()), asked)
    skipped = [name for name, words in found.items() if isinstance(words, Unavailable)]
    sources = {name: f"skipped: {words}" if name in skipped else str(words) for name, words in found.items()}
    estimate = estimate_seconds(results, made, skipped)
    if as_json:
        whole = {**asdict(made), "estimate_seconds": estimate, "sources": sources}
        print(json.dumps(whole, indent=1, default=str))
        return
    print(f"{made.title}\nprofile {made.profile}, order seed {made.order_seed}")
    print(f"{len(made.cells())} cells x {made.trials_per_cell} trials = {len(made.trials)} trials, "
          f"about {estimate / 60:.1f} minutes\n")  # fmt: skip
    table.show([{"system": name, "source": source} for name, source in sources.items()], as_json=False)
    print()
    table.show(
        [
            {
                "trial": f"{one.index:04d}",
                "block": one.block + 1,
                "position": one.position + 1,
                "cell": one.cell,
            }
            for one in made.trials
        ],
        as_json=False,
    )
