"""The foot of a page: authors, date, run and revision, links, and a citation."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.analyse.recording import Recording
from benchbook.declare import checkout
from benchbook.declare.catalogue import Catalogue, root
from benchbook.declare.publication import Publication
from benchbook.report.table import escape_html

FILE = "CITATION.cff"


@dataclass(frozen=True)
class Project:
    """What ``CITATION.cff`` says of this project."""

    author: str = "The Benchbook authors"
    licence: str = "Apache-2.0"
    repository: str | None = None
    """Its public address (``repository-code``); pages link it only if it is declared."""


@functools.cache
def project(folder: Path) -> Project:
    """Return the project in ``folder``; what its CITATION.cff leaves out has defaults, for Benchbook alone."""
    import yaml  # type: ignore[import-untyped]

    default = Project() if folder == checkout.built_in() else Project(author="", licence="")
    try:
        stated: Any = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return default
    if not isinstance(stated, dict):
        return default
    authors = [str(one.get("name") or "") for one in stated.get("authors") or [] if isinstance(one, dict)]
    address = str(stated.get("repository-code") or "")
    return Project(
        " and ".join(filter(None, authors)) or default.author,
        str(stated.get("license") or default.licence),
        address if address.startswith("https://") else None,
    )


@dataclass(frozen=True)
class Colophon:
    """What the foot of a page says. Empty parts are left out."""

    title: str
    key: str
    """Key of the BibTeX entry."""
    date: str = ""
    """Date of the run, YYYY-MM-DD; on a page about several runs, of the latest."""
    run_id: str = ""
    revision: str = ""
    """Revision of the checkout that made the run."""
    publication: Publication | None = None
    data: str = ""
    """Address of the run's data page; empty on that page."""
    report: str = ""
    """Address of the report, on its data page."""

    def byline(self) -> str:
        """Return the line below a report's title: what it reruns, when, and its data."""
        parts = []
        if self.publication:
            year = f" ({self.publication.year})" if self.publication.year else ""
            parts.append(f"Reruns {linked(self.publication)}{year}")
        if self.date:
            parts.append(f"measured {self.date}" if parts else f"Measured {self.date}")
        if self.data:
            parts.append(f'<a href="{escape_html(self.data)}">all data</a>')
        if self.report:
            parts.append(f'<a href="{escape_html(self.report)}">the report</a>')
        return f'<p class="bb-byline">{" · ".join(parts)}</p>' if parts else ""

    def html(self) -> str:
        """Return the foot of the page."""
        known = project(root())
        facts = [f"By {escape_html(known.author)}"] if known.author else []
        facts += [f"run of {escape_html(self.date)}"] if self.run_id and self.date else []
        facts += [f"latest run of {escape_html(self.date)}"] if self.date and not self.run_id else []
        whose = "revision of Benchbook" if checkout.is_apart() else "revision"
        facts += [f"{whose} <code>{escape_html(self.revision[:12])}</code>"] if self.revision else []
        facts += [f"licence {escape_html(known.licence)}"] if known.licence else []
        links = []
        if self.publication:
            links.append(f"Publication: {linked(self.publication)}")
        if known.repository:
            links.append(f'<a href="{escape_html(known.repository)}">Repository</a>')
        if self.data:
            links.append(f'<a href="{escape_html(self.data)}">Data of this run</a>')
        lines = [" · ".join(facts)] if facts else []
        lines += [f"Run <code>{escape_html(self.run_id)}</code>"] if self.run_id else []
        lines += [" · ".join(links)] if links else []
        what = "this page and the publication" if self.publication else "this page"
        return (
            f'<footer class="bb-foot">{"".join(f"<p>{line}</p>" for line in lines)}'
            f'<details class="bb-cite"><summary>Cite {what} (BibTeX)</summary>'
            f"<pre><code>{escape_html(self.bibtex())}</code></pre></details></footer>"
        )

    def bibtex(self) -> str:
        """Return the page, and the publication that it reruns, as BibTeX entries."""
        known = project(root())
        note = "; ".join(
            part
            for part in (
                f"Benchbook, run {self.run_id}" if self.run_id else "Benchbook",
                f"revision {self.revision}" if self.revision else "",
            )
            if part
        )
        fields = {
            "author": f"{{{known.author}}}" if known.author else "",
            "title": _tex(self.title),
            "year": self.date[:4],
            "date": self.date,
            "note": _tex(note),
            "url": known.repository or "",
        }
        made = _entry(self.key, fields)
        if self.publication is None:
            return made
        rerun = {
            "author": f"{{{_tex(self.publication.author)}}}" if self.publication.author else "",
            "title": _tex(self.publication.title),
            "year": str(self.publication.year or ""),
            "url": self.publication.url or "",
        }
        return f"{made}\n\n{_entry(f'{self.key}-publication', rerun)}"


def _entry(key: str, fields: Mapping[str, str]) -> str:
    """Return a BibTeX entry; empty fields are left out."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def linked(publication: Publication) -> str:
    """Return the publication as a link in HTML; only its name if it has no public address."""
    title = escape_html(publication.title)
    if publication.url is None:
        return f"“{title}” (not published online)"
    return f'<a href="{escape_html(publication.url)}">{title}</a>'


def _tex(text: str) -> str:
    r"""Return text with the characters escaped that are special in BibTeX.

    >>> _tex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return re.sub(r"([#$%&_{}])", r"\\\1", text)


def of_run(results: Path, run_id: str, data: str = "", title: str = "") -> Colophon:
    """Return the colophon of a run's page; ``data`` is the address of its data page."""
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        return of(Recording(results, run_id, connection), data, title)


def of(run: Recording, data: str = "", title: str = "") -> Colophon:
    """Return the same of a run that is open."""
    info = run.info
    when = info["started_at"] or info["created_at"]
    return Colophon(
        title=title or str(info["title"] or info["experiment"]),
        key=f"benchbook-{info['experiment']}",
        date=f"{when:%Y-%m-%d}" if when else "",
        run_id=run.run_id,
        revision=str(info["git_revision"] or ""),
        publication=Catalogue().publication(str(info["experiment"])),
        data=data,
    )
