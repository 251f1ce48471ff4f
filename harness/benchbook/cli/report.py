"""``bench report [RUN]``: render a run's report again."""

from __future__ import annotations

from benchbook.cli import options


def command(run: options.Run = "latest", results: options.Results = options.DEFAULT_RESULTS) -> None:
    """Render the report of a run (the latest by default) and print its path."""
    from benchbook.record.catch_up import catch_up
    from benchbook.record.runs import resolve
    from benchbook.report.render import render

    run_id = resolve(results, run).run_id
    catch_up(results)
    print(render(results, run_id))
