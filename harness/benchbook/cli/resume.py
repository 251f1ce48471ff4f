"""``bench resume [RUN]``: continue an interrupted run in the same order."""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.cli import options


def command(run: options.Run = "", results: options.Results = options.DEFAULT_RESULTS) -> int:
    """Continue an interrupted run.

    By default this is the latest unfinished one. Finished trials are kept. Only a run that you began on this machine is
    continued, because a plan can start any program; an imported or copied run is not.
    """
    from benchbook.cli import gate, until_decided
    from benchbook.cli.carry_out import carry_out_and_report
    from benchbook.record.folder import tell
    from benchbook.record.opened import in_results
    from benchbook.run.engine import load_plan, sweep

    if run:
        results, run_id = in_results(results, run)
    elif (latest := _latest_unfinished(results)) is not None:
        run_id = latest
    else:
        sweep(results.resolve(), tell)  # a harness killed after its last trial left its folders
        print(f"nothing to resume: every run in {results} that can be continued is complete", file=sys.stderr)
        return 0
    made = load_plan(results, run_id)
    if made.gate:
        return gate.carry_out(made, results)
    if made.sequential:
        return until_decided.continue_run(made, results)
    return carry_out_and_report(made, results)


def _latest_unfinished(results: Path) -> str | None:
    """Return the latest unfinished run, or the latest run if one of its trials is corrupt; only runs begun here."""
    from benchbook.record import seal
    from benchbook.record.folder import tell
    from benchbook.record.runs import all_runs, left, unfinished

    lacking = unfinished(results)
    own = [run_id for run_id in lacking if seal.is_own(results / "runs" / run_id)]
    if foreign := [run_id for run_id in lacking if run_id not in own]:
        tell(
            f"bench: not continued, because this user did not begin them on this machine, or their plans have changed:"
            f" {', '.join(foreign)}"
        )
    if own:
        return own[-1]
    every = [run for run in all_runs(results) if seal.is_own(run.path)]
    return every[-1].run_id if every and left(results, every[-1].run_id) else None
