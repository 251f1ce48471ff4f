"""``bench site``: render every page from the published results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder to write.", show_default=True)
    ] = Path("site"),
) -> None:
    """Render the site from the published runs.

    They are in reports/data; neither results nor a network are needed. An unchanged page is not rendered again.
    """
    from benchbook.declare.catalogue import root
    from benchbook.site.render import site

    print(site(root(), output, lambda text: print(text, file=sys.stderr, flush=True)) / "index.html")
