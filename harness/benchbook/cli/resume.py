"""``bench resume [RUN]``: go on with a run that was interrupted, in the same order."""

from __future__ import annotations

import sys
from pathlib import Path

from benchbook.cli import options


def command(run: options.Run = "", results: options.Results = options.DEFAULT_RESULTS) -> int:
    """Go on with an interrupted run: the latest unfinished one, or RUN. Finished trials stay as they are."""
    from benchbook.cli import precise
    from benchbook.cli.run_ import carry_out_and_report
    from benchbook.record.folder import tell
    from benchbook.record.runs import resolve
    from benchbook.run import intention
    from benchbook.run.engine import load_plan, sweep

    if not run:
        orphans = intention.orphans(results)
        if orphans:
            # Killed before its plan was stored: do it as it was asked, with the order seed drawn for it.
            path, remembered = orphans[-1]
            argv = [*remembered["argv"]]
            if not any(word.startswith("--order-seed") for word in argv):
                argv += ["--order-seed", str(remembered["order_seed"])]
            from benchbook.cli.app import app

            path.unlink()
            intention.remember(argv)
            return int(app(argv, standalone_mode=False) or 0)
        run_id = _latest_unfinished(results)
        if run_id is None:
            # A harness that was killed after its last trial left its folders all the same.
            sweep(results.resolve(), tell)
            print(f"nothing to resume: every run in {results} is whole", file=sys.stderr)
            return 0
    else:
        run_id = resolve(results, run, empty=True)
    made = load_plan(results, run_id)
    if precise.is_pilot(made):
        return precise.go_on(made, results)
    return carry_out_and_report(made, results)


def _latest_unfinished(results: Path) -> str | None:
    """Return the latest run that lacks trials; the very latest also where a record of it cannot be read."""
    from benchbook.record.runs import left, run_ids, unfinished

    lacking = unfinished(results)
    if lacking:
        return lacking[-1]
    every = run_ids(results)
    return every[-1] if every and left(results, every[-1]) else None
