"""Render an executed notebook as one HTML file that works without other files and without a network."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

from benchbook.report.notebook import Document
from benchbook.report.table import escape_html

TEMPLATE = Path(__file__).parent / "template"
CONTENTS_MARK = "<!--contents-->"
FEWEST_SECTIONS = 3
"""A page with fewer sections has no table of contents."""

PLAIN_HEADING = re.compile(r"<(h[23])>(.*?)</\1>", re.DOTALL)
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


def render(document: Document, bundle: str, navigation: str = "", script: str = "") -> str:
    """Return the page of an executed document.

    A page with charts contains ``bundle``, the code that draws them. A page of a site has ``navigation`` at the top and
    loads the code from the file ``script`` next to it.
    """
    from nbconvert import HTMLExporter
    from nbconvert.exporters.templateexporter import TemplateExporter

    exporter = HTMLExporter(
        extra_template_basedirs=[str(TEMPLATE)],
        template_name="benchbook",
        exclude_anchor_links=True,
        mathjax_url="",
        require_js_url="",
        jquery_url="",
    )
    exporter.register_filter("sections", sections)
    page = {
        "title": document.title,
        "subtitle": document.subtitle,
        "lang": document.lang,
        "style": part("page.css") + part("figures.css"),
        "contents_mark": CONTENTS_MARK,
        "navigation": navigation,
    }
    if has_figure(document) and script:
        page |= {"source": script}
    elif has_figure(document):
        page |= {"bundle": bundle, "script": part("charts.js")}
    # HTMLExporter's method would parse the finished page again, only to add attributes that the template has written.
    body, _ = TemplateExporter.from_notebook_node(exporter, document.notebook, resources={"page": page})
    return str(body).replace(CONTENTS_MARK, contents(str(body)), 1)


@functools.cache
def part(name: str) -> str:
    """Return a file of the template: ``page.css``, ``figures.css`` or ``charts.js``."""
    return (TEMPLATE / name).read_text(encoding="utf-8")


def has_figure(document: Document) -> bool:
    """Return whether a cell displays a chart."""
    outputs = (output for cell in document.notebook.cells for output in cell.get("outputs", []))
    return any("bb-figure" in output.get("data", {}).get("text/html", "") for output in outputs)


def sections(markup: str) -> str:
    """Give each heading an id, made from its text, for links.

    >>> sections("<h2>How to <em>rerun</em></h2>")
    '<h2 id="how-to-rerun">How to <em>rerun</em></h2>'
    """

    def named(match: re.Match[str]) -> str:
        slug = re.sub(r"[^\w]+", "-", _plain_text(match[2]).lower()).strip("-")
        return f'<{match[1]} id="{escape_html(slug)}">{match[2]}</{match[1]}>'

    return PLAIN_HEADING.sub(named, str(markup))


def _plain_text(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


def contents(page: str) -> str:
    """Return the table of contents; empty for a page with fewer than three sections."""
    found = SECTION.findall(page)
    if len(found) < FEWEST_SECTIONS:
        return ""
    links = "".join(
        f'<li><a href="#{name}">{escape_html(_plain_text(text))}</a></li>' for name, text in found
    )
    return f'<nav class="bb-contents" aria-label="Contents"><ul>{links}</ul></nav>'
