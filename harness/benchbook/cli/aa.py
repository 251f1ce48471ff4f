"""``bench aa X``: compare each system with itself, for the machine's noise floor."""

from __future__ import annotations

from benchbook.cli import options

TRIALS = 5
"""Default trials of a cell if the profile has fewer: with 3, the floor is far above the noise."""


def command(
    slug: options.Experiment,
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    origin: options.Origin = None,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Compare each system with itself: the noise floor.

    Runs every cell of an experiment twice, under the labels A and B, and prints how much the two seem to differ.
    From then on, verdicts on the same experiment, profile, machine and data include this noise, if it is more than
    chance. The last line is the report's path. Exit codes are those of `{bench} run`.
    """
    from benchbook.cli.carry_out import carry_out_and_report, store
    from benchbook.cli.request import planned
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.plan import profile_named

    catalogue = Catalogue()
    if trials is None:
        trials = max(TRIALS, profile_named(slug, catalogue.experiment(slug), profile).trials)
    made = planned(
        catalogue, slug, profile, sets, trials, order_seed, system, against_itself=True, origins=origin
    )
    store(made, results)
    return carry_out_and_report(made, results)
