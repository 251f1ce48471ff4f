"""What the work cost: processor time, memory, writes and reads of the device, and the client's ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbook.analyse import quantity
from benchbook.analyse.cells import Wanted, chosen, labelled
from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import Cell, Run
from benchbook.report.table import Table, Words, escape_markdown, missing

# What a load cost its server: processor time and peak memory for each million rows, bytes on disk for each row.

MILLION = 1e6


def cost_table(run: Run, phase: str = "load", only: Mapping[str, Wanted] | None = None) -> Table | Words:
    """Return one row a cell that loaded: means over its trials, of the load and the settling after it.

    ``only`` leaves out the cells of other levels.
    """
    rows = _cost_of(run, phase, "rows_found")
    if not rows:
        return missing("What the load cost", "no trial of this run that counts loaded any rows")
    cpu, settling = _cost_of(run, phase, "server_cpu_seconds"), _cost_of(run, "settle", "server_cpu_seconds")
    memory, disk = _cost_of(run, phase, "server_rss_peak_bytes"), _cost_of(run, "trial", "bytes_per_row")
    lines = []
    for cell in chosen(run, only).values():
        own = [trial for trial in _trials(run, cell.name) if rows.get(trial)]
        if not own:
            continue
        loading = _cost_mean([cpu[one] / rows[one] * MILLION for one in own if one in cpu])
        settled = _cost_mean([settling[one] / rows[one] * MILLION for one in own if one in settling])
        peak, each = (
            _cost_mean([memory[one] for one in own if one in memory]),
            _cost_mean([memory[one] / rows[one] * MILLION for one in own if one in memory]),
        )
        bytes_each = _cost_mean([disk[one] for one in own if one in disk])
        lines.append(
            [
                cell.label, str(len(own)), _cost_text(loading, "s"), _cost_text(settled, "s"), _cost_text(peak, "B"),
                _cost_text(each, "B"), _cost_text(bytes_each, "B"),
            ]
        )  # fmt: skip
    columns = [
        "System", "Trials", "Processor time a million rows, loading", "the same, settling", "Peak memory, loading",
        "the same a million rows", "Bytes on disk a row",
    ]  # fmt: skip
    return Table(columns, lines, numeric=frozenset(columns[1:]))


def _cost_of(run: Run, phase: str, metric: str) -> dict[str, float]:
    return {
        str(trial): float(value)
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows()
    }


def _trials(run: Run, cell: str) -> list[str]:
    import polars as pl

    return [str(one) for one in run.ok.filter(pl.col("cell") == cell)["trial_id"]]


def _cost_mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _cost_text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)


# What an operation cost the device: flushes, writes and bytes, counted by the kernel for the whole machine.

COUNTED = ("device_flushes", "device_writes", "device_write_bytes", "server_write_bytes")


def writes_table(
    run: Run, phases: Sequence[str], only: Mapping[str, str | Sequence[str]] | None = None
) -> Table | Words:
    """Return one row a cell and phase: means over its trials, for each object of the phase.

    ``only`` gives levels of factors: cells of the run with others are left out, and what all rows share is not said
    in each.
    """
    rows = [
        row
        for cell in labelled(run)
        if cell.at(only or {})
        for phase in phases
        if (row := _row(run, cell, phase, only or {}))
    ]
    if not rows:
        return missing("Device writes for each object", "no trial of this run that counts moved any objects")
    columns = [
        "System", "Phase", "Trials", "Device flushes an object", "Device writes an object",
        "Bytes to the device an object", "Bytes written by the server an object",
    ]  # fmt: skip
    return Table(columns, rows, numeric=frozenset(columns[2:]))


def _row(run: Run, cell: Cell, phase: str, only: Mapping[str, str | Sequence[str]]) -> list[str] | None:
    objects = _writes_of(run, phase, "objects", cell.name)
    whole = sum(objects.values())
    if not whole:
        return None
    texts = []
    for metric in COUNTED:
        found = _writes_of(run, phase, metric, cell.name)
        known = [(found[one], objects[one]) for one in found if objects.get(one)]
        share = sum(value for value, _ in known) / sum(count for _, count in known) if known else None
        unit = "B" if metric.endswith("bytes") else "1"
        texts.append(quantity.MISSING if share is None else quantity.text(share, unit))
    return [cell.short(only), phase, str(len(objects)), *texts]


def _writes_of(run: Run, phase: str, metric: str, cell: str) -> dict[str, float]:
    import polars as pl

    rows = run.measured(phase, metric).filter(pl.col("cell") == cell)
    return {str(trial): float(value) for trial, value in rows.select("trial_id", "value").iter_rows()}


# Where the answers were read from: bytes that came from the storage, not from memory, while queries were asked.

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


def reads_table(run: Run) -> Table | Words:
    """Return one row a cell: means over its trials of what was read from devices and from the bucket."""
    phases = run.phases("query")
    if not phases:
        return missing("The bytes read by the queries", "no trial of this run asked any")
    rows = []
    for cell in labelled(run):
        own = {str(one) for one in run.ok.filter(run.ok["cell"] == cell.name)["trial_id"]}
        if not own:
            continue
        states = sorted({str(one) for one in run.ok.filter(run.ok["cell"] == cell.name)["cache_state"]})
        rows.append(
            [
                cell.label,
                ", ".join(states),
                _storage_reads_text(_storage_reads_mean(run, own, [STARTED_ANEW], FROM_DEVICE), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases, FROM_DEVICE), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, [STARTED_ANEW], FROM_BUCKET), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases, FROM_BUCKET), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases[:1], IN_MEMORY), "B"),
            ]
        )
    columns = [
        "System", "Caches", "Server, restart", "Server, queries", "Bucket, restart", "Bucket, queries", "In memory",
    ]  # fmt: skip
    if not rows:
        return missing("The bytes read by the queries", "no trial of this run counts")
    return Table(columns, rows, CAPTION, numeric=frozenset(columns[2:]))


def reads_sentence(run: Run) -> Words:
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
        max(_storage_reads_mean(run, cold, when, metric) or 0.0 for metric in (FROM_DEVICE, FROM_BUCKET))
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


def _storage_reads_mean(run: Run, trials: set[str], phases: list[str], metric: str) -> float | None:
    sums: dict[str, float] = {}
    for phase in phases:
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows():
            if trial in trials:
                sums[trial] = sums.get(trial, 0.0) + float(value)
    return sum(sums.values()) / len(sums) if sums else None


def _storage_reads_text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)


# The client's ceiling: what the load tool alone can do against a server that throws everything away.

NEAR = 0.5
"""Share of the client's ceiling from which the client may be what was measured."""


def ceiling_sentence(run: Run) -> Words:
    """Return the calibration in a sentence and how near the fastest server came to it."""
    found = [
        one for one in run.fact_list("calibration") if isinstance(one, dict) and one.get("rows_per_second")
    ]
    if not found:
        return Words(
            "The client was not calibrated: embedded systems share its process, and have no ceiling but it."
        )
    # Where trials differ in their cores there are several; the lowest is what every trial may have met.
    ceiling = min(float(one["rows_per_second"]) for one in found)
    own = all(one.get("client_cores") for one in found)
    where = ", each on the cores that it has in the trials" if own else ""
    moved = quantity.text(ceiling, "1/s", "rows")
    sentence = f"The load tool alone moved {moved} to a server that throws them away{where}."
    servers = [
        estimate
        for phase in run.phases("load")
        for estimate in estimates(run, phase, "rows_per_second")
        if estimate.value and not run.embedded(estimate.cell.system)
    ]
    for estimate in servers:
        share = (estimate.value or 0.0) / ceiling
        warning = ": the client may be what was measured" if share > NEAR else ""
        sentence += f" {estimate.cell.label} took {quantity.percent(share)} of that{warning}."
    return Words(escape_markdown(sentence))
