"""Render an executed document as one HTML file that works without other files and without a network."""

from __future__ import annotations

import contextlib
import functools
import html
import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from benchbook.declare.checkout import built_in
from benchbook.errors import RequestError
from benchbook.record.folder import write_whole
from benchbook.report.cells import PRINTED, Output
from benchbook.report.notebook import Cell, Document
from benchbook.report.table import escape_html

if TYPE_CHECKING:
    from benchbook.report.colophon import Colophon

TEMPLATE = Path(__file__).parent / "template"
CLAIMS = ("claims.js", "own-run.js")
"""Scripts of a page with a table of claims."""
FEWEST_SECTIONS = 3
"""A page with fewer sections has no table of contents."""
DESCRIPTION = 200
"""Most characters of a page's description."""

HEADING = re.compile(r'<(h[23])(?: id="([^"]+)")?>(.*?)</\1>', re.DOTALL)
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
PERMALINK = re.compile(r'<a class="bb-permalink".*?</a>', re.DOTALL)
PARAGRAPH = re.compile(r"<p(?: [^>]*)?>(.*?)</p>", re.DOTALL)
BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)
CELL = re.compile(r'<div (?:id="[^"]*" )?class="cell"[^>]*>')


def render(
    document: Document,
    bundle: str,
    navigation: str = "",
    script: str = "",
    colophon: Colophon | None = None,
    text: str | None = None,
) -> str:
    """Return the page of an executed document; ``text`` replaces its text and outputs if Quarto has rendered them.

    A page with charts contains ``bundle``, the code that draws them. A page of a site has ``navigation`` at the top and
    loads the code from the file ``script`` next to it. ``colophon`` makes the line below the title and the foot.
    """
    shown = sections(_text(document) if text is None else text)
    subtitle = f'<p class="bb-subtitle">{escape_html(document.subtitle)}</p>' if document.subtitle else ""
    return Template(part("page.html")).substitute(
        lang=escape_html(document.lang),
        title=escape_html(document.title),
        card=card(document.title, document.description or description(shown, document.subtitle)),
        style=part("page.css") + part("figures.css") + part("report.css") + part("site.css"),
        navigation=navigation,
        subtitle=subtitle,
        byline=colophon.byline() if colophon else "",
        contents=contents(shown),
        text=shown,
        foot=colophon.html() if colophon else "",
        script=(_script(bundle, script) if 'class="bb-figure"' in shown else "")
        + "".join(f"<script>{part(name)}</script>" for name in CLAIMS if "bb-claim-table" in shown),
    )


def _script(bundle: str, file: str) -> str:
    if file:
        return f'<script src="{file}" id="bb-bundle" defer></script>'
    return f'<script type="module" id="bb-bundle">{bundle}\n{part("charts.js")}</script>'


def text_of(markup: str) -> str:
    """Return the text of a page that Quarto wrote, without the random ids of its cells.

    >>> text_of('<html><body><div id="3f9c" class="cell" data-execution_count="1">1</div></body></html>')
    '<div class="bb-cell">1</div>'
    """
    found = BODY.search(markup)
    return CELL.sub('<div class="bb-cell">', found[1] if found else markup).strip()


@functools.cache
def part(name: str) -> str:
    """Return a file of the template: ``page.html``, a style or ``charts.js``."""
    return (TEMPLATE / name).read_text(encoding="utf-8")


@functools.cache
def bundle() -> str:
    """Return the code that draws charts (Vega, Vega-Lite, Vega-Embed), safe inside a ``script`` element.

    It comes from vl-convert in about a second, without a network; a checkout keeps it in ``.bench``.
    """
    import vl_convert

    kept = built_in() / ".bench" / "compiled" / f"charts-{version('vl-convert-python')}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    code = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # the stub requires a snippet
    safe = code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    if kept.parent.is_dir():
        with contextlib.suppress(RequestError):  # a checkout that only others may write
            write_whole(kept, safe.encode())
    return safe


@functools.cache
def markdown() -> Callable[[str], str]:
    """Return the function that makes HTML of Markdown; HTML inside Markdown stays."""
    from mistune import create_markdown

    made = create_markdown(escape=False, plugins=["strikethrough", "table", "url"])
    return lambda text: str(made(text))


def _text(document: Document) -> str:
    """Return the Markdown of an executed document, and the outputs that its cells show, as HTML."""
    return "\n".join(
        _cell(one) if isinstance(one, Cell) else markdown()(one.source) for one in document.parts
    )


def _cell(cell: Cell) -> str:
    if not cell.include:
        return ""
    code = f'<pre class="bb-code"><code>{escape_html(cell.source)}</code></pre>\n' if cell.echo else ""
    if not (cell.output and cell.outputs):
        return code
    shown = "".join(_output(one) for one in cell.outputs)
    note = f'<p class="bb-note">{escape_html(cell.caption)}</p>\n' if cell.caption else ""
    return f'{code}<div class="bb-cell" id="{cell.id}">{shown}</div>\n{note}'


def _output(output: Output) -> str:
    for kind in ("text/html", "text/markdown", "image/svg+xml"):
        if kind in output:
            return markdown()(output[kind]) if kind == "text/markdown" else output[kind]
    return f"<pre>{escape_html(output.get(PRINTED) or output.get('text/plain') or '')}</pre>"


def sections(markup: str) -> str:
    """Give each heading a unique id, made from its text, and a link to itself.

    >>> sections("<h2>How to <em>rerun</em></h2>").partition(" <a")[0]
    '<h2 id="how-to-rerun">How to <em>rerun</em>'
    """
    taken: set[str] = set()

    def named(match: re.Match[str]) -> str:
        text = _plain_text(match[3])
        slug = match[2] or escape_html(re.sub(r"[^\w]+", "-", text.lower()).strip("-")) or "section"
        name = next(one for one in _numbered(slug) if one not in taken)
        taken.add(name)
        label = escape_html(f"Link to {text}")
        permalink = f'<a class="bb-permalink" href="#{name}" aria-label="{label}">#</a>'
        return f'<{match[1]} id="{name}">{match[3]} {permalink}</{match[1]}>'

    return HEADING.sub(named, str(markup))


def _numbered(slug: str) -> Iterator[str]:
    yield slug
    number = 1
    while True:
        number += 1
        yield f"{slug}-{number}"


def _plain_text(markup: str) -> str:
    shown = PERMALINK.sub("", markup)
    return html.unescape(re.sub(r"<[^>]+>", "", shown)).strip()


def contents(page: str) -> str:
    """Return the table of contents, which narrow pages fold; empty for a page with fewer than three sections."""
    found = SECTION.findall(page)
    if len(found) < FEWEST_SECTIONS:
        return ""
    links = "".join(
        f'<li><a href="#{name}">{escape_html(_plain_text(text))}</a></li>' for name, text in found
    )
    return (
        '<nav class="bb-contents" aria-label="Contents"><details><summary>Contents</summary>'
        f"<ul>{links}</ul></details></nav>"
    )


def description(markup: str, otherwise: str = "") -> str:
    """Return the first paragraph of a page as plain text, shortened at a word.

    >>> description("<p></p><p><b>Two</b> words.</p>")
    'Two words.'
    """
    for paragraph in PARAGRAPH.findall(markup):
        text = " ".join(_plain_text(paragraph).split())
        if text:
            return text if len(text) <= DESCRIPTION else f"{text[:DESCRIPTION].rpartition(' ')[0]} …"
    return otherwise


def card(title: str, described: str) -> str:
    """Return the head's elements that search engines and previews of links show."""
    properties = {"og:type": "article", "og:site_name": "Benchbook", "og:title": title}
    names = {"twitter:card": "summary", "twitter:title": title}
    if described:
        properties["og:description"] = described
        names |= {"description": described, "twitter:description": described}
    lines = [f'<meta name="{name}" content="{escape_html(text)}">' for name, text in names.items()]
    lines += [f'<meta property="{name}" content="{escape_html(text)}">' for name, text in properties.items()]
    return "\n".join(lines)
