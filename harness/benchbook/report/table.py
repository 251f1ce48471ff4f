"""A table in a page: HTML that scrolls inside its own box, and Markdown for other outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchbook.report.markup import escape_html, escape_markdown


@dataclass(frozen=True)
class Code:
    """A cell shown in a fixed-width face, such as a digest or a command."""

    text: str

    def __str__(self) -> str:
        return self.text


Cell = str | Code


@dataclass(frozen=True)
class Table:
    """Rows of texts under column names.

    ``numeric`` names the columns that are set right-aligned with figures of equal width.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    numeric: frozenset[str] = field(default_factory=frozenset)
    stacked: bool = False
    """Whether a narrow page sets the cells of a row below each other, each with its column's name: for sentences."""

    def html(self) -> str:
        """Return the table in a box that scrolls sideways by itself."""
        head = "".join(
            f'<th scope="col"{self._align(name)}>{escape_html(name)}</th>' for name in self.columns
        )
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        caption = f"<caption>{escape_html(self.caption)}</caption>" if self.caption else ""
        label = escape_html(self.caption or f"Table: {', '.join(self.columns)}")
        kind = "bb-table bb-stacked" if self.stacked else "bb-table"
        return (
            f'<div class="{kind}" role="region" tabindex="0" aria-label="{label}"><table>{caption}'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def markdown(self) -> str:
        """Return the table as a pipe table."""
        rule = ["--:" if name in self.numeric else ":--" for name in self.columns]
        lines = [[escape_markdown(name) for name in self.columns], rule]
        lines += [[escape_markdown(cell) for cell in row] for row in self.rows]
        caption = f"\n: {escape_markdown(self.caption)}\n" if self.caption else ""
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n" + caption

    def _align(self, column: str) -> str:
        return ' class="num"' if column in self.numeric else ""

    def _cells(self, row: Sequence[Cell]) -> str:
        parts = []
        for column, cell in zip(self.columns, row, strict=True):
            text = escape_html(cell)
            text = f"<code>{text}</code>" if isinstance(cell, Code) and cell.text else text
            name = f' data-column="{escape_html(column)}"' if self.stacked else ""
            parts.append(f"<td{self._align(column)}{name}>{text}</td>")
        return "".join(parts)

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        return {"text/html": self.html(), "text/markdown": self.markdown(), "text/plain": self.markdown()}
