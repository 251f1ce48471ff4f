"""Refuse a page that still has the title or a paragraph of the page from which it was copied."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchbook.errors import RequestError
from benchbook.report import notebook
from benchbook.report.notebook import Document, Text

SHORTEST = 40
"""Characters below which two pages may have the same paragraph, such as a heading."""
SHOWN = 60


def require_own_text(sources: Iterable[Path], only: Path | None = None) -> None:
    """Raise RequestError if two .qmd have one title or one paragraph; with ``only``, if that one shares them."""
    seen: dict[str, Path] = {}
    for path in sorted({one.resolve() for one in sources}):
        page = notebook.read(path)
        for what, text in (("title", page.title), *(("paragraph", one) for one in _paragraphs(page))):
            other = seen.setdefault(f"{what} {text}", path)
            if other != path and only in (None, path, other):
                shown = text if len(text) <= SHOWN else f"{text[:SHOWN].rstrip()} …"
                raise RequestError(
                    f'{path} has the {what} "{shown}", and so has {other.name}: one of them was copied.',
                    "Write what holds for the page. What it says about a publication belongs in [publication] of its"
                    " experiment.toml.",
                )


def _paragraphs(page: Document) -> list[str]:
    texts = [part.source for part in page.parts if isinstance(part, Text)]
    found = [" ".join(one.split()) for text in texts for one in text.split("\n\n")]
    return [one for one in found if len(one) >= SHORTEST and not one.startswith("#")]
