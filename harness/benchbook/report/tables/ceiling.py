"""The client's ceiling: what the load tool alone can do against a server that throws everything away."""

from __future__ import annotations

from benchbook.report import cell, quantity
from benchbook.report.estimate import estimates
from benchbook.report.markup import escape_markdown
from benchbook.report.results import Run
from benchbook.report.words import Words

NEAR = 0.5
"""Share of the client's ceiling from which the client may be what was measured."""


def words(run: Run) -> Words:
    """Return the calibration in a sentence and how near the fastest server came to it."""
    found = [
        one for one in run.fact_list("calibration") if isinstance(one, dict) and one.get("rows_per_second")
    ]
    if not found:
        return Words(
            "The client was not calibrated: embedded systems share its process, and have no ceiling but it."
        )
    # Where trials differ in their cores there are several; the lowest is what every trial may have met.
    ceiling = min(float(one["rows_per_second"]) for one in found)
    own = all(one.get("client_cores") for one in found)
    where = ", each on the cores that it has in the trials" if own else ""
    moved = quantity.text(ceiling, "1/s", "rows")
    sentence = f"The load tool alone moved {moved} to a server that throws them away{where}."
    servers = [
        estimate
        for phase in run.phases("load")
        for estimate in estimates(run, phase, "rows_per_second")
        if estimate.value and not cell.embedded(run, estimate.cell.system)
    ]
    for estimate in servers:
        share = (estimate.value or 0.0) / ceiling
        warning = ": the client may be what was measured" if share > NEAR else ""
        sentence += f" {estimate.cell.label} took {quantity.percent(share)} of that{warning}."
    return Words(escape_markdown(sentence))
