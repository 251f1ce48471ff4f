"""Table of one metric by query type."""

from __future__ import annotations

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report.conclusion import refused
from benchbook.report.table import Markdown, Table, missing


def queries(run: Run, metric: str = "latency_p50") -> Table | Markdown:
    """Return ``metric`` of every query type: a row for each cell, a column for each type."""
    title = f"{describe(metric).title} by query type"
    if refusal := refused(run, title):
        return refusal
    phases = run.queries
    by_phase = {phase: {one.cell.name: one for one in estimates(run, phase, metric)} for phase in phases}
    rows = [
        [cell.label, *(_text(by_phase[phase].get(cell.name)) for phase in phases)]
        for cell in labelled(run)
        if cell.ok
    ]
    if not rows or not phases:
        return missing(title, "no valid trial of this run ran queries")
    return Table(["System", *phases], rows, f"{title}: typical value and 95 % CI", frozenset(phases))


def _text(found: Estimate | None) -> str:
    if found is None or found.value is None:
        return quantity.MISSING
    if found.low is None or found.high is None:
        return found.text()
    return f"{found.text()} ({found.interval()})"
