"""Say at the end of a run which systems gave different answers, and how to see in what."""

from __future__ import annotations

import filecmp
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import command
from benchbook.plan.plan import Plan

if TYPE_CHECKING:
    from benchbook.analyse.answers import Disagreement
    from benchbook.analyse.run import Run


def show(made: Plan, results: Path) -> bool:
    """Print the systems of a run that gave different answers; return whether no speeds are compared because of them."""
    from benchbook.analyse import same_work
    from benchbook.analyse.run import Run
    from benchbook.analyse.wording import listing

    if made.against_itself:
        return False
    run = Run(results, made.run_id)
    if not any(one.code == "answers-differ" for one in same_work.faults(run)):
        return False
    compared = _claims_are_judged(run)
    first: dict[str, Disagreement] = {}
    for one in same_work.of_run(run).comparisons:
        for differs in one.differences:
            first.setdefault(differs.query_type, differs)
    so = "" if compared else ", so no speeds are compared"
    for asked, differs in first.items():
        systems = listing(list(dict.fromkeys(map(run.title, (differs.a_system, differs.b_system)))))
        print(f"bench: {systems} gave different answers in {asked}{so}.", file=sys.stderr)
        print(f"  {_how(made, results, differs)}", file=sys.stderr)
    return not compared


def _claims_are_judged(run: Run) -> bool:
    """Return whether a claim compares systems or configurations that did the same work; no comparison does."""
    from benchbook.analyse import claims

    return (
        any(one.measured is not None for one in claims.of_run(run)) if run.declared.get("claims") else False
    )


def _how(made: Plan, results: Path, differs: Disagreement) -> str:
    """Return what shows the difference: of commands the outputs that two trials kept, else the page."""
    from benchbook.record.folder import TRIALS_FOLDER
    from benchbook.workloads.program import EXIT_CODE, kept_output

    if differs.row.get("host") == EXIT_CODE:
        return f"They ended with the exit codes {differs.a} and {differs.b}."
    folder = results / "runs" / made.run_id / TRIALS_FOLDER
    kept = [kept_output(folder / trial.rpartition("/")[2], differs.query_type) for trial in differs.trials]
    if not all(one.is_file() for one in kept):
        return f'What differs is on the page, under "The answers that differ": {command(f"report {made.run_id}")}'
    if filecmp.cmp(kept[0], kept[1], shallow=False):
        return "What differs is in the middle of the outputs, of which the trials keep both ends alone."
    return f"What differs: {shlex.join(['diff', *map(str, kept)])}"
