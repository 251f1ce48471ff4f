"""``bench`` without a command: the state of the results folder and useful next commands."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook import __version__
from benchbook.cli.options import DEFAULT_RESULTS, results_folder
from benchbook.errors import command


def show() -> None:
    """Print the state of the results folder and the next useful commands."""
    from benchbook.record import seal
    from benchbook.record.runs import all_runs, unfinished

    results = results_folder(os.environ.get("BENCHBOOK_RESULTS") or DEFAULT_RESULTS)
    runs = all_runs(results)
    lacking = unfinished(results)
    steps: list[tuple[str, str]] = []
    print(f"Benchbook {__version__}: rerun published comparisons of databases and storage.\n")
    if not runs:
        print(f"There are no runs in {results.absolute()} yet.\n")
        steps.append(("run quickstart", "a first comparison of embedded databases, in a few minutes"))
        if Path("reports/data/cnos-vs-influx").is_dir():
            steps.append(("claims reports/data/cnos-vs-influx", "the verdicts of a published run"))
    else:
        latest = runs[-1]
        print(
            f"Latest run: {latest.run_id}, profile {latest.profile}, {latest.done} of {latest.planned} trials."
        )
        print(f"{len(runs)} runs in {results}, {len(lacking)} of them unfinished.\n")
        if own := [run_id for run_id in lacking if seal.is_own(results / "runs" / run_id)]:
            steps.append((f"resume {own[-1]}", "continue the latest unfinished run"))
        steps.append(("claims", "the verdicts of the latest run"))
        steps.append(("report", "its report"))
        steps.append(("list runs", "all runs"))
    steps += [("list", "the experiments"), ("--help", "all commands")]
    width = max(len(command(words)) for words, _ in steps)
    for words, purpose in steps:
        print(f"  {command(words):<{width}}  {purpose}")
