"""Gaps: the trials that do not count, each with its reason, and those that were never done."""

from __future__ import annotations

import polars as pl

from benchbook.report import cell
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words


def table(run: Run) -> Table | Words:
    """Return one row a trial that failed, was skipped or is invalid; a sentence where every trial counts."""
    trials = run.frame("trials")
    bad = trials.filter(pl.col("status") != "ok")
    planned = run.info["planned_trials"]
    undone = (planned or trials.height) - trials.height
    if bad.is_empty() and undone <= 0:
        return Words(f"All {trials.height} trials of the run ended well and count.")
    labels = {one.name: one.label for one in cell.cells(run)}
    rows = [
        [
            row["trial_id"].rpartition("/")[2],
            labels[row["cell"]],
            str(row["block"] + 1),
            row["status"],
            row["reason"] or "no reason recorded",
        ]
        for row in bad.to_dicts()
    ]
    if undone > 0:
        rows.append(
            [
                f"{undone} more",
                "",
                "",
                "not done",
                "the run has not come to its end; go on with: ./bench resume",
            ]
        )
    return Table(["Trial", "System", "Block", "Status", "Reason"], rows, numeric=frozenset({"Block"}))
