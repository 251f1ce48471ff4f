"""Gaps: the trials that do not count, each with its reason, and those that were never done."""

from __future__ import annotations

from typing import Any

import polars as pl

from benchbook.report import cell
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words


def table(run: Run) -> Table | Words:
    """Return one row a trial that failed or is invalid, and one a system that was skipped for one reason.

    A sentence where every trial counts.
    """
    trials = run.frame("trials")
    bad = trials.filter(pl.col("status") != "ok")
    planned = run.info["planned_trials"]
    undone = (planned or trials.height) - trials.height
    if bad.is_empty() and undone <= 0:
        return Words(f"All {trials.height} trials of the run ended well and count.")
    labels = {one.name: one for one in cell.cells(run)}
    together: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in bad.to_dicts():
        alone = () if row["status"] == "skipped" else (row["trial_id"],)
        reason = row["reason"] or "no reason recorded"
        together.setdefault((labels[row["cell"]].system, row["status"], reason, *alone), []).append(row)
    rows = [
        _row(run, labels[held[0]["cell"]], held, status, reason)
        for (_, status, reason, *_), held in together.items()
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
    return Table(
        ["Trial", "System", "Block", "Status", "Reason"], rows, numeric=frozenset({"Block"}), stacked=True
    )


def _row(run: Run, one: cell.Cell, held: list[dict[str, Any]], status: str, reason: str) -> list[str]:
    if len(held) == 1:
        return [held[0]["trial_id"].rpartition("/")[2], one.label, str(held[0]["block"] + 1), status, reason]
    blocks = sorted({int(row["block"]) + 1 for row in held})
    shown = f"{blocks[0]} to {blocks[-1]}" if len(blocks) > 1 else str(blocks[0])
    return [f"{len(held)} trials", cell.title(run, one.system), shown, status, reason]
