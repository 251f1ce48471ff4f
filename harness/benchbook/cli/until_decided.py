"""``bench run X --until-decided``: blocks run until every claim is decided, after an A/A run if there is none."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.cli.aa import TRIALS
from benchbook.cli.carry_out import ask, carried_out, carry_out_and_report, confirm, skipped, store
from benchbook.cli.look import end_before
from benchbook.cli.plan import latest, prospects
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
"""Share of the budget that the A/A run may take at most."""


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
    asked = {**asked, "trials": most}
    if seconds is not None:
        expected = planned(catalogue, **asked)
        missing = skipped(expected)
        block = estimate_seconds(results, expected, missing) / most
        _require_room(results, expected, design, block, missing, yes)
        rest = seconds - block * min(max(profile.trials, sequential.FIRST), most)
        design = replace(design, noise_seconds=max(0.0, min(NOISE_SHARE * seconds, rest)))
    noise = None
    if with_aa and asked["cluster"] is None and not _noise_measured(results, slug, asked["profile"]):
        noise = _noise_run(asked, results, max(TRIALS, profile.trials), design)
    design = replace(design, noise_run=noise.run_id if noise else None)
    # Planned after the A/A run: `resume` continues the youngest run, which completes both.
    made = replace(planned(catalogue, **asked), sequential=design.stored())
    confirm(results, made, yes)
    store(made, results)
    if noise:
        engine.store_plan(results, noise)
    return continue_run(made, results)


def continue_run(made: Plan, results: Path) -> int:
    """Carry out the rest of the A/A run that belongs to a run with looks, then the rest of the run."""
    from benchbook.record.runs import unfinished

    assert made.sequential is not None
    design, code = Design.parse(made.sequential), 0
    if design.noise_run is not None and design.noise_run in unfinished(results):
        noise = engine.load_plan(results, design.noise_run)
        end = None if design.noise_seconds is None else end_before(noise, results, design.noise_seconds)
        code = carried_out(noise, results, end).exit_code
    return max(code, carry_out_and_report(made, results))


def _require_room(
    results: Path, made: Plan, design: Design, block: float, missing: Sequence[str], yes: bool
) -> None:
    """Report what a budget cannot decide before the run starts; ask if it is too small to judge any claim."""
    from benchbook.analyse import prospect

    assert design.budget_seconds is not None
    if not block:
        return
    room = min(int(design.budget_seconds / block), design.maximum)
    if room < design.first:
        ask(
            f"--budget {design.budget_seconds:g} s is too small to judge a claim: the first look comes after"
            f" {design.first} blocks, which take about {design.first * block:.0f} s.",
            yes, f"give --budget {math.ceil(design.first * block)}s or more, or choose fewer cells with --set",
        )  # fmt: skip
        return
    made = replace(made, trials_per_cell=room)
    catalogue = Catalogue()
    before = latest(results, made.experiment, catalogue.published(made.experiment))
    chances = prospects(catalogue, made, results, before, missing, design.level(room))
    for warning in prospect.warnings(chances):
        print(
            f"bench: warning: {warning}, and the budget suffices for about {room} trials",
            file=sys.stderr,
        )


def _noise_measured(results: Path, experiment: str, profile: str) -> bool:
    """Return whether a finished A/A run of this user measured the noise of an experiment on this processor."""
    from benchbook.host import hardware, processor
    from benchbook.host.reading import Tree
    from benchbook.record import looks, seal
    from benchbook.record.runs import all_runs, processor_of

    here = processor.of(hardware.cpu(Tree()))
    return here is not None and any(
        (found := processor_of(run)) is not None and found.same(here)
        for run in all_runs(results, lambda _: None)
        if (run.experiment, run.profile) == (experiment, profile)
        and run.against_itself
        and run.whole
        and run.finished_at is not None
        and all(look["block"] >= sequential.FIRST for look in looks.read(run.path))
        and seal.is_own(run.path)
    )


def _noise_run(asked: dict[str, Any], results: Path, trials: int, design: Design) -> Plan | None:
    """Return the plan of the A/A run, with fewer trials if the budget is small; None if it has no room."""
    of_aa = {name: value for name, value in asked.items() if name not in ("record_operations", "cluster")}
    seconds = 0.0
    for count in (trials, sequential.FIRST):
        made = planned(Catalogue(), **{**of_aa, "trials": count}, against_itself=True)
        seconds = estimate_seconds(results, made)
        if design.noise_seconds is None or seconds <= design.noise_seconds:
            return made
    print(
        f"bench: the A/A run is left out, because it would take about {seconds:.0f} s, and may take half of the budget:"
        f" {design.noise_seconds:.0f} s. The noise between equal setups stays unknown",
        file=sys.stderr,
    )
    return None
