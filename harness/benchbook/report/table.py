"""Tables and sentences in a page; whatever comes from data is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Escaping: whatever comes from data enters a page as text, never as markup.

MARKDOWN_SPECIALS = "\\`*_{}[]()<>#+-.!|~$@^&\"'="
"""Characters with a meaning in some Markdown dialect; each becomes a numeric entity."""

UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B|[mµn]?s)(?![\w]))")
"""The space between a number and its unit."""

LIST_MARK = re.compile(r"^(\d*)([-+.)=])")
"""What would begin a list, a heading's underline or a rule at the start of a line."""


def escape_html(text: object) -> str:
    """Return ``text`` for HTML, safe between tags and inside a quoted attribute.

    >>> escape_html('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(str(text), quote=True)


def escape_markdown(text: object) -> str:
    """Return ``text`` for a line of Markdown: characters with a meaning become entities.

    Letters, digits, spaces and harmless punctuation stay as they are, so the source stays readable.
    Dots, hyphens and parentheses only mean something beside other specials or at the start of a line, so
    they are kept inside a line. A unit stays on the line of its number.
    Addresses are broken up, because some readers make a link of any that they meet.

    >>> escape_markdown("<script>*a*</script> 1.5")
    '&#60;script&#62;&#42;a&#42;&#60;/script&#62; 1.5'
    """
    kept = ".-()!+="
    flat = UNIT_SPACE.sub("\N{NO-BREAK SPACE}", " ".join(str(text).split()))
    escaped = "".join(
        f"&#{ord(character)};" if character in MARKDOWN_SPECIALS and character not in kept else character
        for character in flat
    )
    escaped = escaped.replace("://", "&#58;//").replace("--", "&#45;&#45;")
    return LIST_MARK.sub(lambda mark: f"{mark[1]}&#{ord(mark[2])};", escaped)


def code(text: object) -> str:
    """Return ``text`` as a code span of a Markdown page, written in HTML so that nothing in it is read."""
    return f"<code>{escape_html(' '.join(str(text).split()))}</code>"


# Sentences in a page: what a cell shows where it is not a chart or a table.


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


# A long table that a reader opens when it is wanted; in print it is open.


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


# A table in a page: HTML that scrolls inside its own box, and Markdown for other outputs.


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
