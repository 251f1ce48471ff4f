"""``bench site``: every page, from the results that are committed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Folder to write.", show_default=True)
    ] = Path("site"),
) -> None:
    """Render the site from the published results in reports/data; needs no results folder and no network."""
    from benchbook.declare.catalogue import root
    from benchbook.site.render import site

    print(site(root(), output))
