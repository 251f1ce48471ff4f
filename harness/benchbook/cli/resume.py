"""``bench resume [RUN]``: go on with a run that was interrupted, in the same order."""

from __future__ import annotations

import sys

from benchbook.cli import options


def command(run: options.Run = "", results: options.Results = options.DEFAULT_RESULTS) -> int:
    """Go on with an interrupted run: the latest unfinished one, or RUN. Finished trials stay as they are."""
    from benchbook.cli.run_ import carry_out_and_report
    from benchbook.record.runs import resolve, unfinished
    from benchbook.run import intention
    from benchbook.run.engine import load_plan

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
        left = unfinished(results)
        if not left:
            print(f"nothing to resume: every run in {results} is whole", file=sys.stderr)
            return 0
        run_id = left[-1]
    else:
        run_id = resolve(results, run)
    return carry_out_and_report(load_plan(results, run_id), results)
