"""Whether the systems of a run may be compared at all: only where they gave the same answers.

A system that answers otherwise than most is not taken out: its label says so in every chart (``cell.cells``). Where
nobody can say which system is right, as with two that differ, nothing is compared.
"""

from __future__ import annotations

from benchbook.report import answer
from benchbook.report.results import Run
from benchbook.report.words import Words, missing


def refused(run: Run, title: str) -> Words | None:
    """Return the sentence that stands in place of a comparison, or None where the comparison may be shown."""
    if not answer.faults(run) or (answer.flagged(run) and not answer.undecided(run)):
        return None
    return missing(
        title, "the systems did not give the same answers, and speeds at different work are not compared"
    )
