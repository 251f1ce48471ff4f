"""``bench run X --until-decided``: blocks run until every claim is decided, after an A/A run if there is none."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.cli.aa import TRIALS
from benchbook.cli.carry_out import carried_out, carry_out_and_report, confirm, store
from benchbook.cli.request import planned
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.errors import command as typed
from benchbook.plan import sequential
from benchbook.plan.budget import estimate_seconds
from benchbook.plan.plan import Plan, profile_named
from benchbook.plan.sequential import Design
from benchbook.run import engine

NOISE_SHARE = 0.5
"""Share of the budget that the A/A run may take."""


def begin(
    asked: dict[str, Any], results: Path, maximum: int | None, budget: str | None, *, with_aa: bool, yes: bool
) -> int:
    """Plan, store and carry out a run with looks, and before it the A/A run if none exists; return the exit code.

    ``asked`` holds the arguments of ``planned`` except the number of trials.
    """
    catalogue = Catalogue()
    slug = asked["slug"]
    experiment = catalogue.experiment(slug)
    if not experiment.claims:
        raise RequestError(
            f"--until-decided: experiments/{slug}/experiment.toml declares no claims to decide.",
            f"Declare claims (docs/claims.md), or run `{typed('run')} {slug} --trials 10`.",
        )
    profile = profile_named(slug, experiment, asked["profile"])
    seconds = None if budget is None else sequential.budget(budget)
    most = max(profile.trials * sequential.TIMES, sequential.FIRST) if maximum is None else maximum
    design = sequential.design(most, seconds)
    noise = None
    if with_aa and asked["cluster"] is None and not _noise_measured(results, slug, asked["profile"]):
        noise = _noise_run(asked, results, max(TRIALS, profile.trials), seconds)
    design = replace(design, noise_run=noise.run_id if noise else None)
    made = replace(planned(catalogue, **{**asked, "trials": most}), sequential=design.stored())
    confirm(results, made, yes)
    store(made, results)
    if noise:
        engine.store_plan(results, noise)
    return continue_run(made, results)


def continue_run(made: Plan, results: Path) -> int:
    """Carry out the rest of the A/A run that belongs to a run with looks, then the rest of the run."""
    from benchbook.record.runs import unfinished

    assert made.sequential is not None
    noise, code = Design.parse(made.sequential).noise_run, 0
    if noise is not None and noise in unfinished(results):
        code = carried_out(engine.load_plan(results, noise), results).exit_code
    return max(code, carry_out_and_report(made, results))


def _noise_measured(results: Path, experiment: str, profile: str) -> bool:
    """Return whether a finished A/A run of this user measured the noise of an experiment on this processor."""
    from benchbook.host import hardware, processor
    from benchbook.host.reading import Tree
    from benchbook.record import seal
    from benchbook.record.runs import all_runs, processor_of

    here = processor.of(hardware.cpu(Tree()))
    return here is not None and any(
        (found := processor_of(run)) is not None and found.same(here)
        for run in all_runs(results, lambda _: None)
        if (run.experiment, run.profile) == (experiment, profile)
        and run.against_itself
        and run.whole
        and run.finished_at is not None
        and seal.is_own(run.path)
    )


def _noise_run(asked: dict[str, Any], results: Path, trials: int, budget: float | None) -> Plan | None:
    """Return the plan of the A/A run, with fewer trials if the budget is small; None if it has no room."""
    of_aa = {name: value for name, value in asked.items() if name not in ("record_operations", "cluster")}
    seconds = 0.0
    for count in (trials, sequential.FIRST):
        made = planned(Catalogue(), **{**of_aa, "trials": count}, against_itself=True)
        seconds = estimate_seconds(results, made)
        if budget is None or seconds <= NOISE_SHARE * budget:
            return made
    print(
        f"bench: the A/A run is left out, because it would take about {seconds:.0f} s of the budget of {budget:g} s; "
        "the noise between equal setups stays unknown",
        file=sys.stderr,
    )
    return None
