"""``bench report [RUN]``: render a run's report again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import options


def command(
    run: options.Run = "latest",
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="html, pdf (needs Quarto), or ipynb.")
    ] = "html",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="File to write; default report.html in the run's folder, or ./RUN-report.html for an exported run.",
        ),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
) -> None:
    """Render a run's report and print its path; a page of HTML has its data page beside it."""
    from benchbook.record.opened import opened
    from benchbook.report.render import FORMATS, report

    with opened(results, run, answering=True) as found:
        if output is None and found.temporary and to in FORMATS:
            output = Path(f"{found.run_id}-{FORMATS[to]}")
        made = report(found.results, found.run_id, to=to, target=output)
    print(made)
