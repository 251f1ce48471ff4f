"""Take a plan to its report: confirm, store, carry out, summarise, render. Shared by run, aa and resume."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchbook.cli.look import take_look
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError, Unavailable, command
from benchbook.plan.budget import estimate_seconds, magnitude
from benchbook.plan.plan import Plan
from benchbook.process import interrupt
from benchbook.run import engine
from benchbook.run.benchload import load_client
from benchbook.run.engine import Outcome, TakeLook
from benchbook.run.progress import Progress

DIFFERENT = 4
"""Exit code of a run in which systems gave different answers, as that of a failed trial."""


def confirm(results: Path, made: Plan, yes: bool) -> None:
    """Report how much a large run needs, and ask before starting it; raise RequestError if the answer is no."""
    needs = magnitude(results, made)
    if budget := (made.sequential or made.gate or {}).get("budget_seconds"):
        needs = replace(needs, hours=min(needs.hours, budget / 3600))
    if needs.large:
        size = f"{made.experiment}, profile {made.profile}: {len(made.trials)} trials, {needs.text()}."
        ask(size, yes, "choose fewer cells with --set, or a smaller --profile")


def ask(what: str, yes: bool, otherwise: str = "", refused: str = "Nothing was started.") -> None:
    """Report something that a user should know first, and ask whether to go on; RequestError if not."""
    if not yes and not sys.stdin.isatty():
        raise RequestError(
            f"{what} Cannot ask for confirmation: stdin is not a terminal.",
            f"Pass --yes{', or ' if otherwise else ''}{otherwise}.",
        )
    print(f"bench: {what}", file=sys.stderr)
    if yes:
        return
    print("Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError(refused, f"{otherwise[0].upper()}{otherwise[1:]}." if otherwise else None)


def store(made: Plan, results: Path) -> None:
    """Store a plan after every check that could refuse it, so that a refused request leaves no run behind."""
    load_client(made.experiment)
    with engine.connected_cluster(made, Progress(0.0)):
        pass  # checks that the scheduler answers and its workers run the same Benchbook
    engine.store_plan(results, made)


def carry_out_and_report(made: Plan, results: Path) -> int:
    """Carry out the missing trials of a stored plan, show the results and render the report; return the exit code."""
    from benchbook.cli import differing, summary
    from benchbook.report.render import report

    outcome = carried_out(made, results)
    with _interruption_explained(
        f"all trials are kept. To render the report: {command(f'report {made.run_id}')}"
    ):
        summary.show(made, results)
        summary.show_missing_origins(made, results)
        differ = differing.show(made, results)
        print(report(results, made.run_id))
    return max(outcome.exit_code, DIFFERENT if differ else 0)


def carried_out(made: Plan, results: Path, end: TakeLook | None = None) -> Outcome:
    """Carry out the missing trials of a stored plan and print their statuses; ``end`` may end it between blocks."""
    budget = (made.sequential or made.gate or {}).get("budget_seconds")
    progress = Progress(estimate_seconds(results, made, skipped(made)), budget=budget)
    again = command(f"resume {made.run_id}")
    with (
        _interruption_explained(f"finished trials are kept. To continue: {again}"),
        interrupt.interruptible(),
    ):
        look = end or take_look(made, results, progress)
        outcome = engine.carry_out(made, Catalogue(), results, sys.argv[1:], progress, look)
    shown = ", ".join(f"{count} {status}" for status, count in sorted(outcome.statuses.items()))
    print(f"{made.run_id}: {shown}")
    return outcome


@contextmanager
def _interruption_explained(next_step: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(f"bench: interrupted; {next_step}", file=sys.stderr)
        raise


def skipped(made: Plan) -> list[str]:
    """Return the systems that are unavailable here; empty for a cluster, which checks its machines itself."""
    from benchbook.plan.factors import FROM
    from benchbook.provision.find import previews
    from benchbook.provision.request import Request
    from benchbook.run.benchload import go_command

    if made.cluster:
        return []
    built = {name.partition(FROM)[0] for name in made.given if FROM in name}
    asked = [Catalogue().system(name) for name in made.systems() if name not in built]
    found = previews(asked, Request(given=made.given, go=go_command()))
    return [name for name, source in found.items() if isinstance(source, Unavailable)]
