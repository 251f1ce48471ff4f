"""Whether the systems of a run may be compared at all: did they give the same answers to the same work?"""

from __future__ import annotations

from benchbook.report import answer
from benchbook.report.results import Run
from benchbook.report.words import Words, missing


def reasons(run: Run) -> list[str]:
    """Return why this run's systems may not be compared, in words; empty where they may."""
    found = []
    differing = answer.differences(run)
    if differing:
        types = sorted({difference.query_type for difference in differing})
        found.append(f"the systems answered {', '.join(types)} differently, see Answers")
    return found


def refused(run: Run, title: str) -> Words | None:
    """Return the sentence that stands in place of a comparison, or None where the comparison may be shown."""
    found = reasons(run)
    return missing(title, "; ".join(found)) if found else None
