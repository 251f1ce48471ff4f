"""Tables and sentences of a page, which escape text from data."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

MARKDOWN_SPECIALS = "\\`*_{}[]()<>#+-.!|~$@^&\"'="
"""Characters with a meaning in some Markdown dialect; each becomes a numeric entity."""

UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?B|[mµn]?s)(?![\w]))")
"""The space between a number and its unit."""

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
STRONG, EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*(.+?)\*")
"""Markdown that ``Markdown.html`` understands; text from data has no asterisks, because they are escaped."""

CODE, CODE_BLOCK = re.compile(r"<code>(.*?)</code>"), re.compile(r"<pre><code>(.*?)</code></pre>", re.DOTALL)

QUARTO_VARIABLE = "QUARTO_DOCUMENT_FILE"
"""Environment variable in which Quarto names the document whose cells it runs."""
BACKTICKS = re.compile(r"`+")

LIST_MARK = re.compile(r"^(\d*)([-+.)=])")
"""Characters at the start of a line that begin a list, a heading's underline or a rule."""


def escape_html(text: object) -> str:
    """Return ``text`` for HTML, safe between tags and inside a quoted attribute.

    >>> escape_html('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(str(text), quote=True)


def escape_markdown(text: object) -> str:
    """Return ``text`` for a line of Markdown, with special characters as entities.

    Dots, hyphens and parentheses stay, because they are special only next to others or at the start of a line. A
    no-break space keeps a unit with its number. Addresses are broken up, because some readers turn them into links.

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
    """Return ``text`` as a code span in HTML, so that Markdown does not interpret it."""
    return f"<code>{escape_html(' '.join(str(text).split()))}</code>"


def displayed(bundle: Mapping[str, str], markdown: Callable[[], str]) -> dict[str, str]:
    """Return what a cell displays: ``bundle``, or for Quarto its HTML, and ``markdown`` for formats without HTML.

    Quarto gets both as Markdown, because a page with any ``text/html`` loads scripts from the network.
    """
    if QUARTO_VARIABLE not in os.environ:
        return dict(bundle)
    other = f'::: {{.content-hidden when-format="html"}}\n\n{fenced(markdown())}\n\n:::'
    return {"text/markdown": f"{_block(bundle['text/html'], '{=html}')}\n\n{other}\n"}


def fenced(markdown: str) -> str:
    """Return Markdown in which code has Markdown's marks in place of HTML's, which a PDF would lose.

    >>> fenced("Run <code>a &amp; b</code>.")
    'Run `a & b`.'
    """
    blocks = CODE_BLOCK.sub(lambda found: _block(html.unescape(found[1])), markdown)
    return CODE.sub(lambda found: _span(html.unescape(found[1])), blocks)


def _block(text: str, kind: str = "") -> str:
    """Return a fenced block, whatever its text has."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{kind}\n{text}\n{fence}"


def _span(text: str) -> str:
    longest = _longest(text)
    mark = "`" * (longest + 1)
    return f"{mark} {text} {mark}" if longest else f"{mark}{text}{mark}"


def _longest(text: str) -> int:
    return max(map(len, BACKTICKS.findall(text)), default=0)


@dataclass(frozen=True)
class Markdown:
    """Sentences or a list to display. Callers escape text from data."""

    markdown: str

    def html(self) -> str:
        """Return the paragraphs and lists as HTML, for a place where no renderer reads Markdown.

        >>> Markdown("*a* **b**").html(), Markdown("- a").html()
        ('<p><em>a</em> <b>b</b></p>', '<ul><li>a</li></ul>')
        """
        blocks = []
        for block in filter(None, self.markdown.split("\n\n")):
            marked = EMPHASIS.sub(r"<em>\1</em>", STRONG.sub(r"<b>\1</b>", block))
            marked = LINK.sub(r'<a href="\2">\1</a>', marked)
            if block.startswith("- "):
                items = "".join(f"<li>{line}</li>" for line in marked.removeprefix("- ").split("\n- "))
                blocks.append(f"<ul>{items}</ul>")
            else:
                blocks.append(block if block.startswith("<") else f"<p>{marked}</p>")
        return "".join(blocks)

    def _repr_markdown_(self) -> str:
        return fenced(self.markdown) if QUARTO_VARIABLE in os.environ else self.markdown

    def __str__(self) -> str:
        return self.markdown


@dataclass(frozen=True)
class Missing(Markdown):
    """The sentence that replaces a chart or table without data."""


def missing(what: str, why: str) -> Missing:
    """Return the sentence that replaces an empty chart or table; both arguments are plain text."""
    return Missing(f"*{escape_markdown(what)} is not shown: {escape_markdown(why)}.*")


@dataclass(frozen=True)
class Block:
    """HTML of a page, and the same as Markdown for other formats. Callers escape text from data."""

    markup: str
    markdown: str
    printed: str = ""
    """Markdown for a PDF, if it differs."""

    def html(self) -> str:
        """Return the HTML."""
        return self.markup

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        bundle = {"text/html": self.markup, "text/markdown": self.markdown, "text/plain": self.markdown}
        return displayed(bundle, lambda: self.printed or self.markdown)


@dataclass(frozen=True)
class Details:
    """A part of a page that readers can unfold."""

    summary: str
    table: Table | Markdown | Block
    """What is folded; usually a table."""

    def html(self) -> str:
        """Return it folded."""
        return f'<details class="bb-data"><summary>{escape_html(self.summary)}</summary>{self.table.html()}</details>'

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        written = self.table.markdown() if isinstance(self.table, Table) else self.table.markdown
        return displayed(
            {"text/html": self.html(), "text/markdown": written, "text/plain": written}, lambda: written
        )


@dataclass(frozen=True)
class Code:
    """A table cell in a fixed-width font, such as a digest or a command."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Link:
    """A table cell that leads elsewhere; only text if the address is empty."""

    text: str
    address: str

    def __str__(self) -> str:
        return self.text


Entry = str | Code | Link


@dataclass(frozen=True)
class Table:
    """Rows of text under column names; columns in ``numeric`` are right-aligned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    caption: str = ""
    numeric: frozenset[str] = field(default_factory=frozenset)
    stacked: bool = False
    """True if a narrow page shows the cells of a row below each other, with column names; for cells with sentences."""

    def html(self) -> str:
        """Return the table in a box that scrolls horizontally."""
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

    def _cells(self, row: Sequence[Entry]) -> str:
        parts = []
        for column, cell in zip(self.columns, row, strict=True):
            text = escape_html(cell)
            text = f"<code>{text}</code>" if isinstance(cell, Code) and cell.text else text
            if isinstance(cell, Link) and cell.address:
                text = f'<a href="{escape_html(cell.address)}">{text}</a>'
            name = f' data-column="{escape_html(column)}"' if self.stacked else ""
            parts.append(f"<td{self._align(column)}{name}>{text}</td>")
        return "".join(parts)

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        written = self.markdown()
        return displayed(
            {"text/html": self.html(), "text/markdown": written, "text/plain": written}, lambda: written
        )
