"""What an operation cost the device: flushes, writes and bytes, counted by the kernel for the whole machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

COUNTED = ("device_flushes", "device_writes", "device_write_bytes", "server_write_bytes")


def table(
    run: Run, phases: Sequence[str], only: Mapping[str, str | Sequence[str]] | None = None
) -> Table | Words:
    """Return one row a cell and phase: means over its trials, for each object of the phase.

    ``only`` gives levels of factors: cells of the run with others are left out, and what all rows share is not said
    in each.
    """
    rows = [
        row
        for cell in cells_of.cells(run)
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


def _row(
    run: Run, cell: cells_of.Cell, phase: str, only: Mapping[str, str | Sequence[str]]
) -> list[str] | None:
    objects = _of(run, phase, "objects", cell.name)
    whole = sum(objects.values())
    if not whole:
        return None
    texts = []
    for metric in COUNTED:
        found = _of(run, phase, metric, cell.name)
        known = [(found[one], objects[one]) for one in found if objects.get(one)]
        share = sum(value for value, _ in known) / sum(count for _, count in known) if known else None
        unit = "B" if metric.endswith("bytes") else "1"
        texts.append(quantity.MISSING if share is None else quantity.text(share, unit))
    return [cell.short(only), phase, str(len(objects)), *texts]


def _of(run: Run, phase: str, metric: str, cell: str) -> dict[str, float]:
    import polars as pl

    rows = run.measured(phase, metric).filter(pl.col("cell") == cell)
    return {str(trial): float(value) for trial, value in rows.select("trial_id", "value").iter_rows()}
