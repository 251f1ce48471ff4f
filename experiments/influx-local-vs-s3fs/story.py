"""Table of requests for the comparison of a local disk and a mounted bucket."""

from __future__ import annotations

import polars as pl

from benchbook.analyse import quantity
from benchbook.analyse.run import Run
from benchbook.report.table import Markdown, Table, missing

COUNTS = {
    "storage_requests": "Requests",
    "storage_put_requests": "PUT",
    "storage_get_requests": "GET",
    "storage_head_requests": "HEAD",
    "storage_list_requests": "LIST",
}
BYTES = {
    "storage_bucket_write_bytes": "Bytes from s3fs to MinIO",
    "storage_bucket_read_bytes": "Bytes from MinIO to s3fs",
    "server_write_bytes": "Bytes written by the server",
}


def mount_table(run: Run) -> Table | Markdown:
    """Return the requests and bytes of the mounted bucket, as its store counts them: means by phase and storage."""
    joined = run.ok.select("trial_id", "storage").join(
        run.frame("measurements").select("trial_id", "phase", "metric", "value"),
        on="trial_id",
    )
    counted = joined.filter(pl.col("metric") == "storage_requests").select("trial_id", "phase")
    if counted.is_empty():
        return missing(
            "The table of requests",
            "no storage of this run has a store that counts requests",
        )
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
    columns = [
        *(["Storage"] if len(storages) > 1 else []),
        "Phase",
        *COUNTS.values(),
        *BYTES.values(),
    ]
    return Table(columns, rows, numeric=frozenset([*COUNTS.values(), *BYTES.values()]))


def _order(run: Run) -> list[str]:
    """Return all phases in the order of the trials with most phases; insert others after their predecessors."""
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
