"""Say at the end of a run which systems gave different answers, and how to see in what."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import command
from benchbook.plan.plan import Plan

if TYPE_CHECKING:
    from benchbook.analyse.answers import Disagreement


def show(made: Plan, results: Path) -> bool:
    """Print the systems of a run that gave different answers; return whether no speeds are compared because of them."""
    from benchbook.analyse import same_work
    from benchbook.analyse.run import Run
    from benchbook.analyse.wording import listing

    run = Run(results, made.run_id)
    work = same_work.of_run(run)
    if made.against_itself or not any(one.code == "answers-differ" for one in same_work.faults(run)):
        return False
    compared = bool(work.flagged) and not work.undecided
    first: dict[str, Disagreement] = {}
    for one in work.comparisons:
        for differs in one.differences:
            first.setdefault(differs.query_type, differs)
    so = "" if compared else ", so no speeds are compared"
    for asked, differs in first.items():
        systems = listing(list(dict.fromkeys(map(run.title, (differs.a_system, differs.b_system)))))
        print(f"bench: {systems} gave different answers in {asked}{so}.", file=sys.stderr)
        print(f"  {_how(made, results, differs)}", file=sys.stderr)
    return not compared


def _how(made: Plan, results: Path, differs: Disagreement) -> str:
    """Return what shows the difference: of commands the outputs that two trials kept, else the page."""
    from benchbook.record.folder import TRIALS_FOLDER
    from benchbook.workloads.program import kept_output

    folder = results / "runs" / made.run_id / TRIALS_FOLDER
    kept = [kept_output(folder / trial.rpartition("/")[2], differs.query_type) for trial in differs.trials]
    if all(one.is_file() for one in kept):
        return f"What differs: {shlex.join(['diff', *map(str, kept)])}"
    return f'What differs is on the page, under "The answers that differ": {command(f"report {made.run_id}")}'
