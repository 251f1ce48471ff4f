"""``bench run X``: carry out an experiment, then render its report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchbook.cli import options
from benchbook.cli.spoken import name
from benchbook.plan.factors import SOURCE
from benchbook.plan.plan import Plan
from benchbook.process import spawn

if TYPE_CHECKING:
    from benchbook.run.engine import Outcome


def command(
    slug: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="The experiment's name; see `bench list`.")
    ],
    profile: options.Profile = "quick",
    sets: options.Set = None,
    trials: options.Trials = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="5%",
            help="Enough trials for intervals so narrow; a pilot run comes first.",
        ),
    ] = None,
    order_seed: options.OrderSeed = None,
    system: options.System = None,
    results: options.Results = options.DEFAULT_RESULTS,
    yes: options.Yes = False,
    record_operations: options.RecordOperations = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse to run where this machine is not controlled (bench doctor)."),
    ] = False,
    cluster: options.Cluster = None,
) -> int:
    """Run an experiment and render its report; the last line printed is the report's path.

    Exit code: 4 if a trial failed or is invalid, else 3 if one was skipped, else 0.
    """
    from benchbook.cli.options import planned
    from benchbook.declare.catalogue import Catalogue
    from benchbook.run import intention

    catalogue = Catalogue()
    if order_seed is None:
        remembered = intention.current()
        order_seed = remembered["order_seed"] if remembered else None
    if strict:
        require_controlled(results)
    if precision is not None:
        from benchbook.cli import precise
        from benchbook.errors import RequestError

        if trials is not None:
            raise RequestError("--precision and --trials both fix the number of trials.", "Give one of them.")
        asked = {
            "slug": slug, "profile": profile, "sets": sets, "order_seed": order_seed, "systems": system,
            "cluster": cluster, "record_operations": record_operations,
        }  # fmt: skip
        return precise.begin(asked, results, precision)
    made = planned(
        catalogue, slug, profile, sets, trials, order_seed, system, cluster=cluster, record_operations=record_operations
    )  # fmt: skip
    agree(results, made, yes)
    store(made, results)
    return carry_out_and_report(made, results)


def agree(results: Path, made: Plan, yes: bool) -> None:
    """Tell how much a large run asks for, and go on only when that is agreed to; raise RequestError else."""
    from benchbook.errors import RequestError
    from benchbook.plan.budget import magnitude

    asks = magnitude(results, made)
    if not asks.large:
        return
    what = f"{made.experiment}, profile {made.profile}: {len(made.trials)} trials, {asks.words()}."
    print(f"bench: {what}", file=sys.stderr)
    if yes:
        return
    if not sys.stdin.isatty():
        raise RequestError(
            f"{what} Nobody is there to agree to it.", "Add --yes, or choose fewer cells with --set."
        )
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError("Nothing was started.", "Choose fewer cells with --set, or a smaller --profile.")


def require_controlled(results: Path) -> None:
    """Refuse to run where something that disturbs measurements is not controlled."""
    from benchbook.errors import RequestError
    from benchbook.host.controls import checks

    loose = [one for one in checks(results) if one.state == "not controlled"]
    if loose:
        raise RequestError(
            f"Nothing was started: {len(loose)} things are not controlled on this machine: "
            f"{', '.join(one.control for one in loose)}.",
            "bench doctor shows what would help; without --strict, runs record it and go on.",
        )


def store(made: Plan, results: Path) -> None:
    """Store a plan once nothing can refuse it any more: a request that is refused leaves no run behind."""
    from benchbook.cli.options import need_report
    from benchbook.run.engine import joined, store_plan
    from benchbook.run.progress import Progress

    need_report(made.experiment)
    spawn.find_benchload()
    with joined(made, Progress(0.0)):
        pass  # the scheduler answers, and its workers are those of this Benchbook
    store_plan(results, made)


def carried_out(made: Plan, results: Path) -> Outcome:
    """Do what is left of a stored plan; print how its trials ended, and what to do after an interruption."""
    from benchbook.declare.catalogue import Catalogue
    from benchbook.plan.budget import estimate_seconds
    from benchbook.run.engine import carry_out
    from benchbook.run.progress import Progress
    from benchbook.run.signals import interruptible

    progress = Progress(estimate_seconds(results, made, _skipped(made)))
    try:
        with interruptible():
            outcome = carry_out(made, Catalogue(), results, sys.argv[1:], progress)
    except KeyboardInterrupt:
        print(f"bench: interrupted; finished trials are kept. To go on: {name()} resume {made.run_id}",
              file=sys.stderr)  # fmt: skip
        raise
    shown = ", ".join(f"{count} {status}" for status, count in sorted(outcome.statuses.items()))
    print(f"{made.run_id}: {shown}")
    return outcome


def _skipped(made: Plan) -> list[str]:
    """Return the systems that cannot be had here; none of a cluster, whose machines are asked later."""
    from benchbook.declare.catalogue import Catalogue
    from benchbook.errors import Unavailable
    from benchbook.provision.find import previews
    from benchbook.provision.request import Request
    from benchbook.run.context import go_command

    if made.cluster:
        return []
    asked = Request(given=made.given, go=go_command())
    found = previews(map(Catalogue().system, made.systems()), asked)
    return [name for name, words in found.items() if isinstance(words, Unavailable)]


def carry_out_and_report(made: Plan, results: Path) -> int:
    """Do what is left of a stored plan, render the report, print its path; return the exit code."""
    from benchbook.declare.catalogue import Catalogue

    outcome = carried_out(made, results)
    if made.against_itself:
        from benchbook.cli.aa import show_floors

        show_floors(results, made.run_id, as_json=False)
    if SOURCE in made.trials[0].levels:
        _show_sources(results, made.run_id)
    from benchbook.report.render import report

    try:
        print(report(results, made.run_id, Catalogue().root / "reports"))
    except KeyboardInterrupt:
        print(f"bench: interrupted; all trials are kept. To render: {name()} report {made.run_id}",
              file=sys.stderr)  # fmt: skip
        raise
    return outcome.exit_code


def _show_sources(results: Path, run_id: str) -> None:
    """Print what a system costs from one source over another, as in a container over a process."""
    from benchbook.analyse import compare
    from benchbook.analyse.run import Run
    from benchbook.cli import table

    table.show(compare.rows(Run(results, run_id)), as_json=False, empty="no cell ran from two sources")
