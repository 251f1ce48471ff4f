"""What only the comparison of a local disk and a mounted bucket needs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from benchbook.analyse import quantity
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.report.charts.ratio import Row, published_figure
from benchbook.report.figure import Figure
from benchbook.report.table import Table, Words, missing

# How many times slower one place is than another, level by level, beside what was published of each level.
#
# Every row is a claim of the run whose ratio is a slowdown: so many times as long, or so many times less a second.


def slowdown_chart(run: Run, levels: Mapping[str, str], what: str) -> Figure | Words:
    """Draw the claims named by ``levels`` (claim → the row's words); ``what`` says who is slower than whom."""
    from benchbook.analyse import claims

    judged = {
        one.id: one for one in claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    }
    found = [
        Row(
            words, cell.published, cell.measured, cell.low, cell.high,
            tuple((block, math.exp(log)) for block, log in cell.logs), str(cell.verdict),
        )
        for claim, words in levels.items() if claim in judged
        for cell in judged[claim].cells
    ]  # fmt: skip
    title = f"{what}, rerun and published"
    if not any(row.measured for row in found):
        return missing(title, "no level was measured in both places in one block")
    return published_figure(run, title, found, "times slower, right of 1")


# What a mounted bucket did in each phase: requests and bytes, as the store behind the mount counts them.

COUNTS = {
    "storage_requests": "Requests",
    "storage_put_requests": "PUT",
    "storage_get_requests": "GET",
    "storage_head_requests": "HEAD",
    "storage_list_requests": "LIST",
}
BYTES = {
    "storage_bucket_write_bytes": "Bytes put",
    "storage_bucket_read_bytes": "Bytes sent back",
    "server_write_bytes": "Server wrote",
}


def mount_table(run: Run) -> Table | Words:
    """Return one row a phase and storage: means over the trials that did the phase."""
    joined = run.ok.select("trial_id", "storage").join(
        run.frame("measurements").select("trial_id", "phase", "metric", "value"), on="trial_id"
    )
    counted = joined.filter(pl.col("metric") == "storage_requests").select("trial_id", "phase")
    if counted.is_empty():
        return missing("What the mount did", "no storage of this run stands on a store that counts requests")
    order = _order(run)
    means = {
        (storage, phase, metric): value
        for storage, phase, metric, value in joined.join(counted, on=["trial_id", "phase"], how="semi")
        .group_by("storage", "phase", "metric")
        .agg(pl.col("value").mean())
        .iter_rows()
    }
    storages = sorted({storage for storage, _, _ in means})
    rows = [
        [
            *([storage] if len(storages) > 1 else []), phase,
            *(_text(means.get((storage, phase, metric)), "1") for metric in COUNTS),
            *(_text(means.get((storage, phase, metric)), "B") for metric in BYTES),
        ]
        for storage in storages for phase in order
        if (storage, phase, "storage_requests") in means
    ]  # fmt: skip
    columns = [*(["Storage"] if len(storages) > 1 else []), "Phase", *COUNTS.values(), *BYTES.values()]
    return Table(columns, rows, numeric=frozenset([*COUNTS.values(), *BYTES.values()]))


def _order(run: Run) -> list[str]:
    """Return every phase, as the trials with most phases did them; what only others did comes before the end."""
    lists = [
        list(dict.fromkeys(one.sort("position")["phase"].to_list()))
        for one in run.frame("phases").partition_by("trial_id", maintain_order=True)
    ]
    found: list[str] = []
    for one in sorted(lists, key=len, reverse=True):
        for place, phase in enumerate(one):
            if phase not in found:
                after = [found.index(known) for known in one[:place] if known in found]
                found.insert(max(after, default=-1) + 1, phase)
    return found


def _text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)
