"""Checks: was the same work done? Rows, values and operations, counted outside the timed phases."""

from __future__ import annotations

import polars as pl

from benchbook.report import cell, fact, quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

MOST = 30
"""Failed checks that are listed."""


def table(run: Run) -> Table | Words:
    """Return one row a cell: checks held and failed, operations that failed, rows that were refused."""
    trials = run.frame("trials").select("trial_id", "cell")
    checks = trials.join(run.frame("checks"), on="trial_id", how="inner")
    errors = trials.join(run.frame("errors"), on="trial_id", how="inner")
    refused = run.frame("measurements").filter(pl.col("metric") == "rows_refused").join(trials, on="trial_id")
    rows = []
    for one in cell.cells(run):
        own = checks.filter(pl.col("cell") == one.name)
        held = int(own["ok"].sum())
        failed = errors.filter(pl.col("cell") == one.name)["operations"].sum()
        turned_away = refused.filter(pl.col("cell") == one.name)["value"].sum()
        rows.append(
            [
                one.label,
                f"{one.ok} of {one.planned}",
                quantity.count(held),
                quantity.count(own.height - held),
                quantity.count(float(failed or 0)),
                quantity.count(float(turned_away or 0)),
            ]
        )
    if not rows:
        return missing("The checks", "no trial is recorded")
    columns = [
        "System",
        "Trials that count",
        "Checks held",
        "Checks failed",
        "Operations failed",
        "Rows refused",
    ]
    return Table(columns, rows, numeric=frozenset(columns[1:]))


def failed(run: Run) -> Table | Words:
    """Return the checks and operations that failed, or the sentence that none did."""
    labels = {one.name: one.label for one in cell.cells(run)}
    trials = run.frame("trials").select("trial_id", "cell")
    rows = [
        [
            row["trial_id"].rpartition("/")[2],
            labels[row["cell"]],
            row["name"],
            fact.text(row["expected"]),
            fact.text(row["found"]),
        ]
        for row in trials.join(run.frame("checks"), on="trial_id", how="inner")
        .filter(~pl.col("ok"))
        .to_dicts()
    ]
    rows += [
        [
            row["trial_id"].rpartition("/")[2],
            labels[row["cell"]],
            f"{row['phase']}: {row['kind']}",
            "no failed operation",
            f"{quantity.count(row['operations'])} operations: {fact.text(row['message'])}",
        ]
        for row in trials.join(run.frame("errors"), on="trial_id", how="inner").to_dicts()
    ]
    if not rows:
        return Words("No check failed and no operation failed.")
    caption = f"The first {MOST} of {len(rows)}" if len(rows) > MOST else ""
    return Table(["Trial", "System", "What", "Expected", "Found"], rows[:MOST], caption)
