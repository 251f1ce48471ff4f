"""``bench plan X``: show what a run would do, without doing it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.cli import options, table
from benchbook.plan.sequential import ALPHA

if TYPE_CHECKING:
    from benchbook.analyse.prospect import Prospect
    from benchbook.analyse.run import Run
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.plan import Plan

MOST_TRIALS = 10
"""Number of trials to list; ``--json`` lists all of them."""


def command(
    slug: options.Experiment,
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    origin: options.Origin = None,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show what a run would do, without doing it.

    Shows the factors, the time and disk that the run needs, the source of each system, and the trials in their order.
    For each claim, shows the chance of each answer at the spread of the last run (if there is none, at that of
    its metric in published runs), and warns if an answer is unlikely.
    """
    from benchbook.cli.request import planned
    from benchbook.declare.catalogue import Catalogue
    from benchbook.errors import Unavailable
    from benchbook.plan.budget import Magnitude, estimate_seconds, largest_bytes
    from benchbook.plan.plan import short_labels
    from benchbook.provision.find import previews
    from benchbook.provision.request import Request
    from benchbook.run.benchload import go_command

    catalogue = Catalogue()
    made = planned(catalogue, slug, profile, sets, trials, order_seed, system, origins=origin)
    asked = Request(given=made.given, go=go_command())
    found = previews(map(catalogue.system, made.systems()), asked)
    skipped = [name for name, source in found.items() if isinstance(source, Unavailable)]
    sources = {name: f"skipped: {text}" if name in skipped else str(text) for name, text in found.items()}
    estimate = estimate_seconds(results, made, skipped)
    chances: list[Prospect] = []
    warnings: list[str] = []
    blocks: int | None = None
    if catalogue.experiment(slug).claims:
        from benchbook.analyse import prospect  # slow to import

        before = latest(results, slug, catalogue.published(slug))
        chances = prospects(catalogue, made, results, before, skipped)
        warnings = prospect.warnings(chances)
        blocks = None if before is None else _blocks(catalogue, made, before, chances, estimate)
    if as_json:
        power = [one.row() for one in chances]
        whole = {
            **asdict(made), "estimate_seconds": estimate, "sources": sources, "power": power,
            "blocks_of_session": blocks,
        }  # fmt: skip
        print(json.dumps(whole, indent=1, default=str))
        return
    print(f"{made.title}\nprofile {made.profile}, order seed {made.order_seed}")
    size = Magnitude(estimate / 3600, largest_bytes(made)).text()
    print(f"{len(made.cells())} cells x {made.trials_per_cell} trials = {len(made.trials)} trials, {size}\n")
    table.show([{"factor": name, "levels": levels} for name, levels in _levels(made).items()], as_json=False)
    print()
    table.show([{"system": name, "source": source} for name, source in sources.items()], as_json=False)
    print()
    if chances:
        print("The chance of each answer (docs/methods.md):\n")
        table.show([one.shown() for one in chances], as_json=False)
        print()
        for warning in warnings:
            print(f"bench: warning: {warning}", file=sys.stderr)
    if blocks is not None:
        print(
            f"If runs on other processors follow, {blocks} blocks in each of them give the narrowest intervals for the "
            "time (docs/methods.md).\n"
        )
    names = short_labels(one.levels for one in made.trials)
    table.show([_row(one, names[one.cell]) for one in made.trials[:MOST_TRIALS]], as_json=False)
    if len(made.trials) > MOST_TRIALS:
        print(f"… and {len(made.trials) - MOST_TRIALS} more trials (all of them: --json)")


def prospects(
    catalogue: Catalogue,
    made: Plan,
    results: Path,
    before: Run | None,
    skipped: Sequence[str] = (),
    level: float = ALPHA,
) -> list[Prospect]:
    """Return the chance of each verdict of a planned run, if its claims are judged at ``level``.

    ``before`` is the latest run of the experiment.
    """
    from benchbook.analyse import prospect
    from benchbook.plan.budget import median_trial_seconds

    experiment = catalogue.experiment(made.experiment)
    return prospect.of_plan(
        made, experiment.claims, experiment.profiles[made.profile].in_place, catalogue.published(made.experiment),
        before, median_trial_seconds(results, made), skipped, level,
    )  # fmt: skip


def _blocks(
    catalogue: Catalogue, made: Plan, before: Run, chances: Sequence[Prospect], estimate: float
) -> int | None:
    """Return the number of blocks that suits runs on several processors; None while ``before`` is unfinished."""
    from benchbook.analyse import design

    session = design.session_seconds(before)
    if session is None or not estimate:
        return None
    claims = catalogue.experiment(made.experiment).claims
    return design.of_plan(chances, claims, estimate / made.trials_per_cell, session)


def latest(results: Path, slug: str, published: Path) -> Run | None:
    """Return the latest run of an experiment that has a trial and is no A/A run; None if no such run can be judged."""
    from benchbook.analyse import claims
    from benchbook.analyse.run import Run
    from benchbook.errors import RequestError
    from benchbook.record import database, runs

    held = [
        run
        for run in runs.all_runs(results, lambda _: None)
        if run.experiment == slug and run.done and not run.against_itself
    ]
    if not held:
        return None
    database.catch_up(results)
    found = Run(results, held[-1].run_id)
    try:
        claims.of_run(found, published)
    except RequestError:
        return None  # its claims are of another Benchbook
    return found


def _levels(made: Plan) -> dict[str, str]:
    """Return each factor with its levels; numbers are sorted."""
    names = made.trials[0].levels
    found = {name: {trial.levels[name] for trial in made.trials} for name in names}
    return {name: ", ".join(map(str, sorted(levels, key=_by_number))) for name, levels in found.items()}


def _by_number(level: Any) -> tuple[float, str]:
    return (level if isinstance(level, int | float) else 0.0, str(level))


def _row(one: Any, cell: str) -> dict[str, Any]:
    return {
        "trial": f"{one.index:04d}",
        "block": one.block + 1,
        "position": one.position + 1,
        "cell": cell,
    }
