"""Table of the published numbers of an experiment: which are compared or drawn, and why the others are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchbook.analyse import claims
from benchbook.analyse.wording import listing
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.used import Account, Number, account
from benchbook.errors import RequestError
from benchbook.report.table import Markdown, Table, missing

if TYPE_CHECKING:
    from benchbook.analyse.run import Run

TITLE = "The table of published numbers"
NO_LEVELS = ("unit", "note", "source")
"""Columns of a file of published results that say nothing on what was measured."""
MOST_VALUES = 8
"""Values of a column that are named."""


def table(run: Run) -> Table | Markdown:
    """Return a row for each group of published numbers with the same use, below their totals."""
    catalogue = Catalogue()
    try:
        found = account(catalogue.experiment(run.experiment), catalogue.published(run.experiment))
    except RequestError:  # a run of an experiment that this checkout lacks, or that is being edited
        return missing(TITLE, "this checkout does not declare the experiment")
    if not found.numbers and not found.missing:
        return missing(TITLE, "no number of a publication is typed in")
    groups: dict[tuple[str, str], list[Number]] = {}
    for one in found.numbers:
        groups.setdefault((one.file, use(one)), []).append(one)
    rows = [
        [_described(held, [one for one in found.numbers if one.file == file]), str(len(held)), text]
        for (file, text), held in groups.items()
    ]
    rows += [["In no file", str(one.count), f"not typed in. {one.because}"] for one in found.missing]
    caption = f"{totals(found)}{_for_later_runs(run, found)}"
    return Table(
        ["Published numbers", "How many", "Use"], rows, caption, frozenset(["How many"]), stacked=True
    )


def _for_later_runs(run: Run, found: Account) -> str:
    """Return how many numbers are in claims alone that were declared after the run; empty if none is."""
    judged = {one.id for one in claims.declared(run)[0]}
    later = [one for one in found.of("compared") if judged.isdisjoint(one.claims)]
    if not later:
        return ""
    names = listing(list(dict.fromkeys(name for one in later for name in one.claims)))
    are = "is" if len(later) == 1 else "are"
    return f" {len(later)} of those in claims {are} not judged on this run, which was made before: {names}."


def use(one: Number) -> str:
    """Return what becomes of a number in words."""
    return {
        "compared": f"in {'claim' if len(one.claims) == 1 else 'claims'} {listing(list(one.claims))}",
        "drawn": f"drawn in a chart ({listing(list(one.charts))})",
        "explained": f"not compared. {one.because}",
        "unexplained": "neither used nor explained",
    }[one.use]


def totals(found: Account) -> str:
    """Return how many published numbers are used, explained and unexplained."""
    compared, drawn, explained, left = (
        len(found.of(name)) for name in ("compared", "drawn", "explained", "unexplained")
    )
    used = f"{compared} in claims, {drawn} drawn in charts"
    parts = [f"{found.used} of {len(found.numbers)} published numbers are used: {used}."]
    parts += (
        [
            f"Of the others, {explained} have a declared reason and {f'{left} are' if left else 'none is'} unexplained."
        ]
        if explained + left
        else []
    )
    parts += [f"{found.absent} more are not typed in, for declared reasons."] if found.absent else []
    return " ".join(parts)


def _described(held: Sequence[Number], of: Sequence[Number]) -> str:
    """Return what some numbers of a file are about: their values in the columns in which others of it differ."""
    parts = []
    for column in held[0].row:
        if column in NO_LEVELS or any(column == one.column for one in of):
            continue
        values = dict.fromkeys(one.row[column] or "none" for one in held)
        if len(values) < len({one.row[column] for one in of}):
            shown = list(values)[:MOST_VALUES]
            more = f" and {len(values) - len(shown)} more" if len(values) > len(shown) else ""
            parts.append(f"{column.replace('_', ' ')} {', '.join(shown)}{more}")
    return f"{held[0].file}: {'; '.join(parts) or 'all'}"
