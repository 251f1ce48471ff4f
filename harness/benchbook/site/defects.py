"""The page of known defects of the published benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.declare.defects import Publication, publications
from benchbook.report.table import Table, Words, code, escape_markdown


def table(publication: Publication) -> Table:
    """Return one row a defect."""
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


def counted() -> Words:
    """Say how many defects of how many publications are listed."""
    found = publications()
    total = sum(len(one.defects) for one in found)
    return Words(f"{total} defects of {len(found)} publications are listed.")
