"""``bench site``: render every page from the published results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli.options import optional, require_project
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    experiment: Annotated[
        str,
        typer.Argument(metavar=optional("EXPERIMENT"), help="Render the pages of this experiment alone."),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder to write; by default `site`.")
    ] = None,
) -> None:
    """Render the site from the published runs.

    They are in reports/data; neither results nor a network are needed. An unchanged page is not rendered again.
    With EXPERIMENT, the other pages of the earlier site stay as they are. The last line is the path of the page.
    """
    from benchbook.declare import checkout
    from benchbook.declare.catalogue import Catalogue, root
    from benchbook.record import ledger
    from benchbook.site.render import site

    require_project("site", "reports/data")
    output = output or (root() if checkout.is_apart() else Path()) / "site"
    if experiment in Catalogue().names("experiment") and not (root() / ledger.DATA / experiment).is_dir():
        raise RequestError(
            f"{experiment} has no published run, and the site shows only those.",
            f"Publish one with `{typed('export RUN --publish')}`; `{typed('report')}` renders a run as it is.",
        )
    whole = (output / "index.html").is_file()
    made = site(root(), output, lambda text: print(text, file=sys.stderr, flush=True), experiment)
    if experiment and not whole:
        print(
            f"bench: links to other pages lead nowhere until `{typed('site')}` renders them", file=sys.stderr
        )
    print(made / f"{experiment or 'index'}.html")
