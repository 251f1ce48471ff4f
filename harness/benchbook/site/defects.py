"""The page of known defects of the published benchmarks: data in ``defects.toml``, one row a defect."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchbook.report.table import Table, Words, code, escape_markdown

FILE = Path(__file__).with_name("defects.toml")


@dataclass(frozen=True)
class Publication:
    """A published benchmark and what is known to be wrong with it: (defect, how we know it)."""

    experiment: str
    title: str
    defects: tuple[tuple[str, str], ...]

    def table(self) -> Table:
        """Return one row a defect."""
        return Table(["Defect", "How we know"], [list(row) for row in self.defects])


def publications() -> list[Publication]:
    """Return the publications in the order of the file."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["publications"]
    return [
        Publication(
            one["experiment"], one["title"], tuple((each["defect"], each["known"]) for each in one["defects"])
        )
        for one in stated
    ]


@dataclass(frozen=True)
class Listing:
    """All publications with their tables."""

    publications: list[Publication]

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        html = "".join(
            f"<h3>{escape_markdown(one.title)}</h3><p>Rerun by {code(one.experiment)}.</p>{one.table().html()}"
            for one in self.publications
        )
        plain = "".join(
            f"### {escape_markdown(one.title)}\n\nRerun by {code(one.experiment)}.\n\n{one.table().markdown()}\n"
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
