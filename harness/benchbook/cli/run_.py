"""``bench run X``: carry out an experiment, then render its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from benchbook.cli import options
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    context: typer.Context,
    slug: options.Experiment,
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Run blocks until every claim is decided; --trials is the maximum (default: 4 x the profile's).",
        ),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="2h",
            help="With --until-decided: maximum time of all trials together, including those that measure the noise.",
        ),
    ] = None,
    no_aa: Annotated[
        bool,
        typer.Option(
            "--no-aa",
            help="With --until-decided: skip the A/A run that would first measure the noise between equal cells.",
        ),
    ] = False,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    origin: options.Origin = None,
    results: options.Results = options.DEFAULT_RESULTS,
    yes: options.Yes = False,
    record_operations: options.RecordOperations = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse to run if `{bench} doctor` finds something on this machine that is not controlled, such as the"
            " clock rate of the processor.",
        ),
    ] = False,
    cluster: options.Cluster = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Take the profile, --set, --trials and --until-decided from the published run of the experiment:"
            " another run counts most on another processor.",
        ),
    ] = False,
) -> int:
    """Run an experiment and render its report.

    Prints a line for each trial, then the results; the last line is the report's path.
    With --until-decided, Benchbook judges the claims after each block from the third on. It stops when every claim is
    decided, or can no longer be decided within the maximum number of blocks or the budget. Before the first block,
    it measures the noise between equal cells if it is not known yet. Judging repeatedly would make wrong verdicts
    more likely. Each of these judgements is therefore stricter than the one of an ordinary run, so that a claim gets
    a wrong verdict in at most 5 % of runs. run.json records all judgements, and `{bench} resume` continues an
    interrupted run by the same rules.
    Exit codes: 0 if every trial is ok; 2 if the request was refused; 3 if a trial was skipped; 4 if one failed or
    is invalid, or if the systems gave different answers, so that no speeds are compared; 130 if interrupted.
    """
    from benchbook.cli import until_decided as sequential
    from benchbook.cli.carry_out import carry_out_and_report, confirm, store
    from benchbook.cli.request import planned
    from benchbook.declare.catalogue import Catalogue

    if strict:
        _require_controlled(results)
    if again:
        from benchbook.cli.again import options as published

        taken = published(slug, context)
        profile, sets, trials = taken["profile"], taken["sets"], taken["trials"]
        until_decided, budget, no_aa = taken["until_decided"], taken["budget"], taken["no_aa"]
    asked: dict[str, Any] = {
        "slug": slug, "profile": profile, "sets": sets, "order_seed": order_seed, "systems": system,
        "cluster": cluster, "record_operations": record_operations, "origins": origin,
    }  # fmt: skip
    if until_decided:
        return sequential.begin(asked, results, trials, budget, with_aa=not no_aa, yes=yes)
    if budget is not None or no_aa:
        alone = "--no-aa" if budget is None else "--budget"
        raise RequestError(f"{alone} belongs to --until-decided.", "Add --until-decided.")
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
            f"Nothing was started, because --strict was given and {len(loose)} things are not controlled on this"
            f" machine: {', '.join(one.control for one in loose)}.",
            f"`{typed('doctor')}` shows how to fix them. Without --strict, the run starts and records them.",
        )
