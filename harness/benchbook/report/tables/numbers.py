"""Every measured number of a run: one row a phase, metric and cell, with interval and number of trials."""

from __future__ import annotations

from benchbook.report import quantity
from benchbook.report.details import Details
from benchbook.report.estimate import estimates
from benchbook.report.metric import metric as words_of
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing


def table(run: Run) -> Details | Words:
    """Return the means with their intervals; cells without a value in a phase are gaps."""
    pairs = run.frame("measurements").select("phase", "metric").unique(maintain_order=True).iter_rows()
    phases = (
        run.frame("phases")
        .sort("position", maintain_order=True)["phase"]
        .unique(maintain_order=True)
        .to_list()
    )
    order = {phase: place for place, phase in enumerate(phases)}
    rows = []
    for phase, metric in sorted(pairs, key=lambda pair: order.get(pair[0], len(order))):
        for one in estimates(run, phase, metric):
            shown = [one.text(), one.interval()] if one.points else [quantity.MISSING, "not measured"]
            rows.append([phase, words_of(metric).title, one.cell.label, str(len(one.points)), *shown])
    if not rows:
        return missing("The table of all numbers", "no trial of this run measured anything")
    columns = ["Phase", "Metric", "System", "Trials", "Mean", "95 % interval"]
    numbers = Table(columns, rows, numeric=frozenset({"Trials", "Mean"}))
    return Details(f"All {len(rows)} numbers with their intervals", numbers)
