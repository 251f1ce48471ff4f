"""Where the answers were read from: bytes that came from the storage, not from memory, while queries were asked."""

from __future__ import annotations

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

STARTED_ANEW = "drop caches"
"""The phase in which a cold cell's system was stopped, its caches dropped, and it was started again."""


def table(run: Run) -> Table | Words:
    """Return one row a cell: means over its trials of what was read from block devices and from the bucket."""
    phases = run.phases("query")
    if not phases:
        return missing("The bytes read by the queries", "no trial of this run asked any")
    rows = []
    for cell in cells_of.cells(run):
        own = {str(one) for one in run.ok.filter(run.ok["cell"] == cell.name)["trial_id"]}
        if not own:
            continue
        states = sorted({str(one) for one in run.ok.filter(run.ok["cell"] == cell.name)["cache_state"]})
        rows.append(
            [
                cell.label,
                str(len(own)),
                ", ".join(states),
                _text(_mean(run, own, [STARTED_ANEW], "server_read_bytes"), "B"),
                _text(_mean(run, own, phases, "server_read_bytes"), "B"),
                _text(_mean(run, own, [STARTED_ANEW], "storage_bucket_read_bytes"), "B"),
                _text(_mean(run, own, phases, "storage_bucket_read_bytes"), "B"),
                _text(_mean(run, own, phases[:1], "latency_mean"), "s"),
                _text(_mean(run, own, phases[:1], "latency_max"), "s"),
            ]
        )
    columns = [
        "System", "Trials", "Caches", "Read by the server, starting anew", "Read by the server, queries",
        "Read from the bucket, starting anew", "Read from the bucket, queries", "Mean latency", "Longest latency",
    ]  # fmt: skip
    if not rows:
        return missing("The bytes read by the queries", "no trial of this run counts")
    return Table(columns, rows, numeric=frozenset({"Trials", *columns[3:]}))


def words(run: Run) -> Words:
    """Answer the guess that warm queries read from memory, from the bytes that they read from the storage."""
    phases = run.phases("query")
    warm = run.ok.filter(run.ok["cache_state"] == "warm")
    trials = {str(one) for one in warm["trial_id"]}
    read = [
        value
        for metric in ("server_read_bytes", "storage_bucket_read_bytes")
        for phase in phases
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows()
        if trial in trials
    ]
    if not read:
        return Words(
            "Where warm queries read from cannot be told: no trial of this run counted bytes read meanwhile."
        )
    if max(read) == 0:
        return Words(
            f"In all {len(trials)} warm trials the queries read not one byte from the storage: "
            "they were answered from memory."
        )
    return Words(
        f"In {len(trials)} warm trials the queries read up to {quantity.text(max(read), 'B')} from the storage: "
        "they were not answered from memory alone."
    )


def _mean(run: Run, trials: set[str], phases: list[str], metric: str) -> float | None:
    sums: dict[str, float] = {}
    for phase in phases:
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows():
            if trial in trials:
                sums[trial] = sums.get(trial, 0.0) + float(value)
    return sum(sums.values()) / len(sums) if sums else None


def _text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)
