"""Tables of known defects of the published benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.defects import Publication, publications
from benchbook.report.colophon import linked
from benchbook.report.table import Markdown, Table, code, displayed, escape_html, escape_markdown


def table(publication: Publication) -> Table:
    """Return a row for each defect."""
    return Table(
        ["Defect", "How we know"], [[one.defect, one.known] for one in publication.defects], stacked=True
    )


def anchor(place: int) -> str:
    """Return the id of a publication's heading: its experiment, and a number if it is not the first of it."""
    slugs = [one.experiment for one in publications()][: place + 1]
    again = slugs.count(slugs[-1])
    return slugs[-1] if again == 1 else f"{slugs[-1]}-{again}"


def _source(publication: Publication) -> str:
    declared = Catalogue().publication(publication.experiment)
    return f" {linked(declared)}." if declared and declared.url else ""


@dataclass(frozen=True)
class Listing:
    """All publications with their tables."""

    publications: list[Publication]

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        html = "".join(
            f'<h3 id="{anchor(place)}">{escape_html(one.title)}</h3>'
            f"<p>Rerun by {code(one.experiment)}.{_source(one)}</p>{table(one).html()}"
            for place, one in enumerate(self.publications)
        )
        plain = "".join(
            f"### {escape_markdown(one.title)}\n\nRerun by {code(one.experiment)}.\n\n{table(one).markdown()}\n"
            for one in self.publications
        )
        return displayed({"text/html": html, "text/markdown": plain, "text/plain": plain}, lambda: plain)


def listing() -> Listing:
    """Return every publication with its defects."""
    return Listing(publications())


def count_sentence() -> Markdown:
    """Return a sentence with the number of defects and publications."""
    found = publications()
    total = sum(len(one.defects) for one in found)
    return Markdown(f"{total} known defects of {len(found)} publications.")
