"""Escaping: whatever comes from data enters a page as text, never as markup."""

from __future__ import annotations

import html
import re

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
