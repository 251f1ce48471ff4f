"""Tables of known defects of the published benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.declare.defects import Publication, publications
from benchbook.report.table import Markdown, Table, code, escape_markdown


def table(publication: Publication) -> Table:
    """Return a row for each defect."""
    return Table(["Defect", "How we know"], [list(row) for row in publication.defects])


@dataclass(frozen=True)
class Listing:
    """All publications with their tables."""

    publications: list[Publication]

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        html = "".join(
            f"<h3>{escape_markdown(one.title)}</h3><p>Rerun by {code(one.experiment)}.</p>{table(one).html()}"
            for one in self.publications
        )
        plain = "".join(
            f"### {escape_markdown(one.title)}\n\nRerun by {code(one.experiment)}.\n\n{table(one).markdown()}\n"
            for one in self.publications
        )
        return {"text/html": html, "text/markdown": plain, "text/plain": plain}


def listing() -> Listing:
    """Return every publication with its defects."""
    return Listing(publications())


def count_sentence() -> Markdown:
    """Return a sentence with the number of defects and publications."""
    found = publications()
    total = sum(len(one.defects) for one in found)
    return Markdown(f"{total} known defects of {len(found)} publications.")
