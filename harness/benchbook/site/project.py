"""Finish the pages of a plain ``quarto render`` in ``reports``, which runs this after it has rendered them."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.declare.catalogue import root
from benchbook.report import colophon, notebook, opening, page, render
from benchbook.report.colophon import Colophon
from benchbook.site import index
from benchbook.site.place import SCRIPT
from benchbook.site.render import script

OUTPUT_VARIABLE = "QUARTO_PROJECT_OUTPUT_FILES"
"""Environment variable in which Quarto lists the files that it wrote."""


def finish() -> None:
    """Put Benchbook's template around each page that Quarto wrote, and the code for charts next to it."""
    paths = [Path(name) for name in os.environ.get(OUTPUT_VARIABLE, "").splitlines()]
    pages = [path for path in paths if path.suffix == ".html"]
    for path in pages:
        document = notebook.read(root() / "reports" / f"{path.stem}.qmd")
        text = page.text_of(path.read_text(encoding="utf-8"))
        about = _about(path.stem, document.title)
        made = page.render(document, "", index.navigation(path.stem), SCRIPT, about, text)
        render.write(path, made)
    for folder in {path.parent for path in pages}:
        render.write(folder / SCRIPT, script(page.bundle()))


def _about(name: str, title: str) -> Colophon:
    """Return what the foot of a page says, which has no data page beside it."""
    if opening.is_experiment(name):
        return colophon.of_run(*opening.place(name))
    return Colophon(title, f"benchbook-{name}")
