"""A long table that a reader opens when it is wanted; in print it is open."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.report.markup import escape_html
from benchbook.report.table import Table


@dataclass(frozen=True)
class Details:
    """A table behind one line of words."""

    summary: str
    table: Table

    def html(self) -> str:
        """Return the folded table."""
        return f'<details class="bb-data"><summary>{escape_html(self.summary)}</summary>{self.table.html()}</details>'

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        written = self.table.markdown()
        return {"text/html": self.html(), "text/markdown": written, "text/plain": written}
