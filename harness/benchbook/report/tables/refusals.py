"""Writes that were not acknowledged, in the server's own words: how many, of how many rows, in which cells."""

from __future__ import annotations

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words


def table(run: Run, phase: str = "load") -> Table | Words:
    """Return one row for each cell and kind of refusal; a sentence where every write was acknowledged."""
    import polars as pl

    named = run.frame("trials").select("trial_id", "cell", "status")
    found = run.frame("errors").filter(pl.col("phase") == phase).join(named, on="trial_id", how="inner")
    if found.is_empty():
        return Words("Every write of every trial was acknowledged.")
    sent = _sent(run, phase)
    lines = []
    for cell in cells_of.cells(run):
        own = found.filter(pl.col("cell") == cell.name)
        for (kind, status, message), group in own.group_by("kind", "status", "message", maintain_order=True):
            trials = group["trial_id"].unique().to_list()
            rows = int(group["rows"].sum())
            whole = sum(sent.get(trial, 0.0) for trial in trials)
            answer = f" ({status})" if status not in (None, "0", "None") else ""
            lines.append(
                [
                    cell.label, str(len(trials)), f"{kind}{answer}", str(message),
                    f"{int(group['operations'].sum()):,}",
                    f"{rows:,}", quantity.percent(rows / whole) if whole else quantity.MISSING,
                ]
            )  # fmt: skip
    columns = ["System", "Trials", "Kind", "Words of the server", "Writes", "Rows", "Share of the rows sent"]
    return Table(columns, lines, numeric=frozenset({"Trials", "Writes", "Rows", "Share of the rows sent"}))


def _sent(run: Run, phase: str) -> dict[str, float]:
    """Return trial → rows that were sent, acknowledged or not."""
    found: dict[str, float] = {}
    for metric in ("rows", "rows_refused"):
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows():
            found[str(trial)] = found.get(str(trial), 0.0) + float(value)
    return found
