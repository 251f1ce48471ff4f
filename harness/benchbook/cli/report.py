"""``bench report [RUN]``: render a run's report again."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options


def command(
    run: options.Run = "latest",
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="html, pdf (needs Quarto), or ipynb.")
    ] = "html",
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Render the report of a run (the latest by default) and print its path."""
    from benchbook.declare.catalogue import root
    from benchbook.record.database import catch_up
    from benchbook.record.runs import resolve
    from benchbook.report.render import report

    run_id = resolve(results, run, answering=True)
    catch_up(results)
    print(report(results, run_id, root() / "reports", to))
