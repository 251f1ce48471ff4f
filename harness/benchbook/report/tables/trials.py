"""The trials of a run in their order, whatever became of them."""

from __future__ import annotations

from benchbook.report import cell, pace, quantity
from benchbook.report.details import Details
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing


def table(run: Run) -> Details | Words:
    """Return one row a trial, folded: its place in the order, its status, its times."""
    trials = run.frame("trials").to_dicts()
    if not trials:
        return missing("The list of trials", "no trial is recorded")
    labels = {one.name: one.label for one in cell.cells(run)}
    rows = [
        [
            row["trial_id"].rpartition("/")[2],
            str(row["block"] + 1),
            str(row["position"] + 1),
            labels[row["cell"]],
            row["status"],
            quantity.text(row["duration_seconds"], "s"),
            quantity.text(row["start_seconds"], "s"),
            quantity.text(row["overhead_seconds"], "s"),
            row["cache_state"] or "unknown",
            pace.of_trial(run, row["trial_id"]) or quantity.MISSING,
        ]
        for row in trials
    ]
    columns = [
        "Trial", "Block", "Position", "System", "Status", "Duration", "Start", "Harness", "Caches", "Pace",
    ]  # fmt: skip
    numeric = frozenset({"Block", "Position", "Duration", "Start", "Harness"})
    return Details(f"All {len(rows)} trials in their order", Table(columns, rows, numeric=numeric))
