"""Sentences in a page: what a cell shows where it is not a chart or a table."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.report.markup import escape_markdown


@dataclass(frozen=True)
class Words:
    """Markdown to display. What comes from data in it is escaped by whoever wrote the sentence."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __str__(self) -> str:
        return self.markdown


def missing(what: str, why: str) -> Words:
    """Say which chart or table is not here and why; it takes the place of an empty one; both are plain text."""
    return Words(f"*{escape_markdown(what)} is not shown: {escape_markdown(why)}.*")
