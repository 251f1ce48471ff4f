"""Controls: what of the machine was held still, what was not, and what would do it."""

from __future__ import annotations

from benchbook.report import fact
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

ORDER = {"not controlled": 0, "unknown": 1, "controlled": 2}


def table(run: Run) -> Table | Words:
    """Return one row a control; those that were not controlled come first."""
    found = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    if not found:
        return missing("What was controlled", "the run has no controls recorded")
    found.sort(key=lambda one: ORDER.get(str(one.get("state")), 1))
    rows = [
        [
            fact.headed(str(one.get("control", ""))),
            str(one.get("state", "")),
            fact.text(one.get("found")),
            str(one.get("fix") or ""),
        ]
        for one in found
    ]
    return Table(["Control", "State", "Found", "What would control it"], rows)
