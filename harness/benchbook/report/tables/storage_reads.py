"""Where the answers were read from: bytes that came from the storage, not from memory, while queries were asked."""

from __future__ import annotations

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

STARTED_ANEW = "drop caches"
"""The phase in which a cold cell's system was stopped, its caches dropped, and it was started again."""

FROM_DEVICE, FROM_BUCKET, IN_MEMORY = "server_read_bytes", "storage_bucket_read_bytes", "data_cached_bytes"
OBJECTS_READ = "storage_get_requests"
"""Requests for what is in an object; a store also sends bytes when it is only asked which objects there are."""

CAPTION = (
    "Means of trials. Server: bytes that its process read from devices, its own program among them. "
    "Bucket: bytes that MinIO sent s3fs. In memory: bytes of the data files in the page cache "
    "afterwards, holes of sparse files among them."
)


def table(run: Run) -> Table | Words:
    """Return one row a cell: means over its trials of what was read from devices and from the bucket."""
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
                ", ".join(states),
                _text(_mean(run, own, [STARTED_ANEW], FROM_DEVICE), "B"),
                _text(_mean(run, own, phases, FROM_DEVICE), "B"),
                _text(_mean(run, own, [STARTED_ANEW], FROM_BUCKET), "B"),
                _text(_mean(run, own, phases, FROM_BUCKET), "B"),
                _text(_mean(run, own, phases[:1], IN_MEMORY), "B"),
            ]
        )
    columns = [
        "System", "Caches", "Server, restart", "Server, queries", "Bucket, restart", "Bucket, queries", "In memory",
    ]  # fmt: skip
    if not rows:
        return missing("The bytes read by the queries", "no trial of this run counts")
    return Table(columns, rows, CAPTION, numeric=frozenset(columns[2:]))


def words(run: Run) -> Words:
    """Answer the guess that warm queries read from memory, from what they read from the storage."""
    phases = run.phases("query")
    warm = {str(one) for one in run.ok.filter(run.ok["cache_state"] == "warm")["trial_id"]}
    device, objects = (_values(run, warm, phases, metric) for metric in (FROM_DEVICE, OBJECTS_READ))
    if not device and not objects:
        return Words(
            "Where warm queries read from cannot be told: no trial of this run counted what they read meanwhile."
        )
    if not any(device) and not any(objects):
        return Words(
            f"In all {len(warm)} warm trials the queries read not one byte from a device and no object of a bucket: "
            "they were answered from memory." + _cold(run, phases)
        )
    found = [f"{quantity.text(max(device), 'B')} from devices"] if any(device) else []
    found += [f"{max(objects):.0f} objects of the bucket"] if any(objects) else []
    return Words(
        f"In {len(warm)} warm trials the queries read up to {' and '.join(found)}: "
        "they were not answered from memory alone." + _cold(run, phases)
    )


def _cold(run: Run, phases: list[str]) -> str:
    """Say how much of what cold queries needed was read when the server started anew, before the first of them."""
    cold = {str(one) for one in run.ok.filter(run.ok["cache_state"] == "cold")["trial_id"]}
    started, asked = (
        max(_mean(run, cold, when, metric) or 0.0 for metric in (FROM_DEVICE, FROM_BUCKET))
        for when in ([STARTED_ANEW], phases)
    )
    if not cold or started <= asked:
        return ""
    return (
        " With cold caches most was read before the first query: the server read its data when it was started anew, "
        "which lies outside the timed queries."
    )


def _values(run: Run, trials: set[str], phases: list[str], metric: str) -> list[float]:
    return [
        float(value)
        for phase in phases
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows()
        if trial in trials
    ]


def _mean(run: Run, trials: set[str], phases: list[str], metric: str) -> float | None:
    sums: dict[str, float] = {}
    for phase in phases:
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows():
            if trial in trials:
                sums[trial] = sums.get(trial, 0.0) + float(value)
    return sum(sums.values()) / len(sums) if sums else None


def _text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)
