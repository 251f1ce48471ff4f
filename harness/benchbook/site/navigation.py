"""The pages of the site and the links between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchbook.report.markup import escape_html
from benchbook.site.published import Published

FIXED = (
    ("index", "Experiments"),
    ("methods", "Methods"),
    ("systems", "Systems"),
    ("defects", "Known defects"),
)
"""Pages that stand in the navigation of every page: the .qmd's name, and the link's words."""


@dataclass(frozen=True)
class Page:
    """One page to render."""

    name: str
    source: Path
    run_id: str | None
    """The published run that it shows; None for a page about all of them."""


def pages(root: Path, published: list[Published]) -> list[Page]:
    """Return the pages of the site: the fixed ones, then one for each published run that has a .qmd."""
    reports = root / "reports"
    made = [Page(name, reports / f"{name}.qmd", None) for name, _ in FIXED]
    for one in published:
        source = reports / f"{one.experiment}.qmd"
        if source.is_file() and not one.against_itself:
            made.append(Page(one.experiment, source, one.run_id))
    return made


def bar(page: str) -> str:
    """Return the navigation of a page, with its own link marked."""
    links = [f'<a href="{name}.html"{_current(name, page)}>{escape_html(words)}</a>' for name, words in FIXED]
    return (
        '<nav class="bb-site" aria-label="Site"><a class="bb-home" href="index.html">Benchbook</a>'
        f"<span>{''.join(links)}</span></nav>"
    )


def _current(name: str, page: str) -> str:
    fixed = {one for one, _ in FIXED}
    here = name == page or (name == "index" and page not in fixed)
    return ' aria-current="page"' if here else ""
