"""Whether the systems of a run may be compared at all: only where they gave the same answers."""

from __future__ import annotations

from benchbook.report import answer
from benchbook.report.results import Run
from benchbook.report.words import Words, missing


def refused(run: Run, title: str) -> Words | None:
    """Return the sentence that stands in place of a comparison, or None where the comparison may be shown."""
    found = answer.faults(run)
    return (
        missing(title, f"{'; '.join(found)}, and speeds at different work are not compared")
        if found
        else None
    )
