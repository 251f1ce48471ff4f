"""Tables of resource use: processor time, memory, device writes and reads, and the client's ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from benchbook.analyse import limits, quantity
from benchbook.analyse.cells import Wanted, chosen, labelled
from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.metric import describe
from benchbook.report.table import Markdown, Table, escape_markdown, missing

MILLION = 1e6


def cost_table(run: Run, phase: str = "load", only: Mapping[str, Wanted] | None = None) -> Table | Markdown:
    """Return a row for each cell that loaded rows: means over its trials, for the load and for settling.

    Processor time is per million rows only if every trial loaded as many. Memory is the PSS where it was sampled:
    the RSS of a server with several processes counts their shared pages several times. ``only`` selects cells by
    levels of factors.
    """
    rows = run.by_trial(phase, "rows_found")
    if not rows:
        return missing("What the load cost", "no valid trial of this run loaded rows")
    share = min(rows.values()) >= MILLION
    cpu, settling = run.by_trial(phase, "server_cpu_seconds"), run.by_trial("settle", "server_cpu_seconds")
    memory = run.by_trial(phase, "server_rss_peak_bytes") | run.by_trial(phase, "server_pss_peak_bytes")
    lines = []
    for cell in chosen(run, only).values():
        own = [trial for trial in _trials(run, cell.name) if rows.get(trial)]
        if not own:
            continue
        loading, settled = (
            _cost_mean([held[one] / (rows[one] / MILLION if share else 1) for one in own if one in held])
            for held in (cpu, settling)
        )
        loaded, peak = (
            _cost_mean([rows[one] for one in own]),
            _cost_mean([memory[one] for one in own if one in memory]),
        )
        lines.append(
            [
                cell.label, str(len(own)), quantity.number(loaded), _cost_text(loading, "s"), _cost_text(settled, "s"),
                _cost_text(peak, "B"),
            ]
        )  # fmt: skip
    each = " per million rows" if share else ""
    columns = [
        "System", "Trials", "Rows", f"Processor time{each}, loading", f"Processor time{each}, settling",
        "Peak memory, loading",
    ]  # fmt: skip
    return Table(columns, lines, numeric=frozenset(columns[1:]))


def _trials(run: Run, cell: str) -> list[str]:
    import polars as pl

    return [str(one) for one in run.ok.filter(pl.col("cell") == cell)["trial_id"]]


def _cost_mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _cost_text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)


COUNTED = ("device_flushes", "device_writes", "device_write_bytes", "server_write_bytes")
"""Metrics of ``writes_table``; the kernel counts the first three for the whole machine."""


def writes_table(
    run: Run, phases: Sequence[str], only: Mapping[str, str | Sequence[str]] | None = None
) -> Table | Markdown:
    """Return a row for each cell and phase: means per object over its trials.

    ``only`` selects cells by levels of factors; labels omit these levels.
    """
    rows = [
        row
        for cell in labelled(run)
        if cell.at(only or {})
        for phase in phases
        if (row := _row(run, cell, phase, only or {}))
    ]
    if not rows:
        return missing("Device writes per object", "no valid trial of this run moved objects")
    columns = [
        "System", "Phase", "Trials", "Device flushes per object", "Device writes per object",
        "Bytes to the device per object", "Bytes written by the server per object", "Time the device was busy",
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
    busy = _cost_mean(list(_writes_of(run, phase, "device_busy_fraction", cell.name).values()))
    texts.append(quantity.percent(busy))
    return [cell.short(only), phase, str(len(objects)), *texts]


def _writes_of(run: Run, phase: str, metric: str, cell: str) -> dict[str, float]:
    own = set(_trials(run, cell))
    return {trial: value for trial, value in run.by_trial(phase, metric).items() if trial in own}


RESTART = "drop caches"
"""The phase of a cold cell that stops the system, drops its caches and starts it again."""

FROM_DEVICE, FROM_BUCKET, IN_MEMORY = "server_read_bytes", "storage_bucket_read_bytes", "data_cached_bytes"
OBJECTS_READ = "storage_get_requests"
"""Requests for the content of an object; other requests, such as LIST, also return bytes."""

CAPTION = (
    "Means of trials. Server: bytes that the server process read from devices, including its own program file. "
    "Bucket: bytes that MinIO sent to s3fs. In memory: bytes of the data files in the page cache "
    "afterwards, including holes of sparse files."
)


def reads_table(run: Run) -> Table | Markdown:
    """Return a row for each cell: mean bytes over its trials that came from devices and from the bucket."""
    phases = run.queries
    if not phases:
        return missing("The bytes read by the queries", "this run has no queries")
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
                _storage_reads_text(_storage_reads_mean(run, own, [RESTART], FROM_DEVICE), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases, FROM_DEVICE), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, [RESTART], FROM_BUCKET), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases, FROM_BUCKET), "B"),
                _storage_reads_text(_storage_reads_mean(run, own, phases[:1], IN_MEMORY), "B"),
            ]
        )
    columns = [
        "System", "Caches", "Server, restart", "Server, queries", "Bucket, restart", "Bucket, queries", "In memory",
    ]  # fmt: skip
    if not rows:
        return missing("The bytes read by the queries", "this run has no valid trial")
    return Table(columns, rows, CAPTION, numeric=frozenset(columns[2:]))


def reads_sentence(run: Run) -> Markdown:
    """Return a sentence on whether warm queries were answered from memory, by the bytes that they read."""
    phases = run.queries
    warm = {str(one) for one in run.ok.filter(run.ok["cache_state"] == "warm")["trial_id"]}
    device, objects = (_by_phase(run, warm, phases, metric) for metric in (FROM_DEVICE, OBJECTS_READ))
    counted = device.keys() | objects.keys()
    if not counted:
        return Markdown(
            "It is unknown where warm queries read from: no trial of this run counted the bytes that they read."
        )
    trials = len({trial for _, trial in counted})
    if not any(device.values()) and not any(objects.values()):
        return Markdown(
            f"In all {trials} warm trials, the queries read no byte from a device and no object of a bucket: "
            "they were answered from memory." + _cold(run, phases)
        )
    found = [f"{quantity.text(max(device.values()), 'B')} from devices"] if any(device.values()) else []
    found += [f"{max(objects.values()):.0f} objects of the bucket"] if any(objects.values()) else []
    read = _share_read(run, counted)
    so = (
        f"at most {quantity.percent(read)} of the data; the rest came from memory."
        if read <= MINOR_SHARE
        else "so they were not answered from memory alone."
    )
    return Markdown(
        f"In {trials} warm trials, the queries read up to {' and '.join(found)}, {so}" + _cold(run, phases)
    )


MINOR_SHARE = 0.5
"""Share of the data up to which a sentence names the share that queries read; the rest came from memory."""


def _share_read(run: Run, counted: AbstractSet[tuple[str, str]]) -> float:
    """Return the largest share of the data that a phase of a trial read; 1 if it is unknown for one."""
    shares = [0.0]
    for phase in {phase for phase, _ in counted}:
        data, left = run.by_trial(phase, "data_bytes"), run.by_trial(phase, "data_unread_bytes")
        for trial in (trial for of, trial in counted if of == phase):
            shares.append(1 - left[trial] / data[trial] if trial in left and data.get(trial) else 1.0)
    return max(shares)


def _cold(run: Run, phases: list[str]) -> str:
    """Return a sentence if the server read most data for cold queries when it restarted, before the first query."""
    cold = {str(one) for one in run.ok.filter(run.ok["cache_state"] == "cold")["trial_id"]}
    started, asked = (
        max(_storage_reads_mean(run, cold, when, metric) or 0.0 for metric in (FROM_DEVICE, FROM_BUCKET))
        for when in ([RESTART], phases)
    )
    if not cold or started <= asked:
        return ""
    return " With cold caches, the server read most of its data when it restarted, before the timed queries."


def _by_phase(run: Run, trials: set[str], phases: list[str], metric: str) -> dict[tuple[str, str], float]:
    """Return (phase, trial) → value of a metric."""
    return {
        (phase, trial): value
        for phase in phases
        for trial, value in run.by_trial(phase, metric).items()
        if trial in trials
    }


def _storage_reads_mean(run: Run, trials: set[str], phases: list[str], metric: str) -> float | None:
    sums: dict[str, float] = {}
    for phase in phases:
        for trial, value in run.by_trial(phase, metric).items():
            if trial in trials:
                sums[trial] = sums.get(trial, 0.0) + value
    return sum(sums.values()) / len(sums) if sums else None


def _storage_reads_text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)


NEAR = 0.5
"""Share of the client's ceiling above which the client may limit the result."""


def ceiling_sentence(run: Run) -> Markdown:
    """Return sentences on what the client reached alone, and how close the systems came to it."""
    said = [*_load_ceiling(run), *_phase_ceilings(run)]
    if not said:
        return missing("The client's ceiling", "benchload was not measured alone")
    return Markdown(escape_markdown(" ".join(said)))


def _load_ceiling(run: Run) -> list[str]:
    """Return a sentence on loads; none if no load was measured."""
    found = limits.ceiling(run)
    if not found.seconds or not run.loads:
        return []
    lowest = found.of()
    if lowest is None:
        lasted = quantity.text(found.seconds, "s")
        why = f"the load into a server that discards it lasted {lasted}, and less than 1 s shows no ceiling"
        return [f"The client's ceiling is unknown: {why}."]
    where = ", on the same cores as in the trials" if found.own_cores else ""
    ceiling = quantity.text(lowest, "1/s", "rows")
    sentence = f"Alone, benchload sent at least {ceiling} to a server that discards them{where}"
    encoded = [float(one["rows_per_second"]) for one in found.loads if "systems" in one]
    if encoded:
        slowest = quantity.text(min(encoded), "1/s", "rows")
        sentence += f", and encoded at least {slowest} in each other protocol"
    shares = {
        estimate.cell.label: (estimate.value or 0.0) / (found.of(estimate.cell) or lowest)
        for phase in run.loads
        for estimate in estimates(run, phase, "rows_per_second")
        if estimate.value and not run.embedded(estimate.cell.system)
    }
    if not shares:
        return [f"{sentence}."]
    fastest = max(shares, key=lambda label: shares[label])
    most = quantity.percent(shares[fastest])
    said = [f"{sentence}. {fastest} came closest to that, with {most} at the same batches and workers."]
    if near := [label for label, share in shares.items() if share > NEAR]:
        said.append(
            f"Above {quantity.percent(NEAR)}, the client may have limited the result: {', '.join(near)}."
        )
    return said


def _phase_ceilings(run: Run) -> list[str]:
    """Return a sentence for each phase of queries, reads or objects: how near a server came to the client's ceiling."""
    said = []
    for workload, phase in run.phases_having(lambda one: one.rate):
        rate = workload.rate
        assert rate is not None
        found = [
            (one.value / alone, alone, one.cell.label)
            for one in estimates(run, phase, rate.metric)
            if one.value and not run.embedded(one.cell.system)
            and (alone := limits.phase_ceiling(run, phase, rate.alone, one.cell))
        ]  # fmt: skip
        if found:
            share, alone, label = max(found)
            doubt = ", so the client may have limited the result" if share > NEAR else ""
            said.append(
                f"In phase {phase}, {label} came nearest to what benchload reaches alone: "
                f"{quantity.percent(share)} of {quantity.text(alone, '1/s', describe(rate.metric).noun)}{doubt}."
            )
    return said
