"""What a load cost its server: processor time and peak memory for each million rows, bytes on disk for each row."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.cell import Wanted
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

MILLION = 1e6


def table(run: Run, phase: str = "load", only: Mapping[str, Wanted] | None = None) -> Table | Words:
    """Return one row a cell that loaded: means over its trials, of the load and the settling after it.

    ``only`` leaves out the cells of other levels.
    """
    rows = _of(run, phase, "rows_found")
    if not rows:
        return missing("What the load cost", "no trial of this run that counts loaded any rows")
    cpu, settling = _of(run, phase, "server_cpu_seconds"), _of(run, "settle", "server_cpu_seconds")
    memory, disk = _of(run, phase, "server_rss_peak_bytes"), _of(run, "trial", "bytes_per_row")
    lines = []
    for cell in cells_of.chosen(run, only).values():
        own = [trial for trial in _trials(run, cell.name) if rows.get(trial)]
        if not own:
            continue
        loading = _mean([cpu[one] / rows[one] * MILLION for one in own if one in cpu])
        settled = _mean([settling[one] / rows[one] * MILLION for one in own if one in settling])
        peak, each = (
            _mean([memory[one] for one in own if one in memory]),
            _mean([memory[one] / rows[one] * MILLION for one in own if one in memory]),
        )
        bytes_each = _mean([disk[one] for one in own if one in disk])
        lines.append(
            [
                cell.label, str(len(own)), _text(loading, "s"), _text(settled, "s"), _text(peak, "B"),
                _text(each, "B"), _text(bytes_each, "B"),
            ]
        )  # fmt: skip
    columns = [
        "System", "Trials", "Processor time a million rows, loading", "the same, settling", "Peak memory, loading",
        "the same a million rows", "Bytes on disk a row",
    ]  # fmt: skip
    return Table(columns, lines, numeric=frozenset(columns[1:]))


def _of(run: Run, phase: str, metric: str) -> dict[str, float]:
    return {
        str(trial): float(value)
        for trial, value in run.measured(phase, metric).select("trial_id", "value").iter_rows()
    }


def _trials(run: Run, cell: str) -> list[str]:
    import polars as pl

    return [str(one) for one in run.ok.filter(pl.col("cell") == cell)["trial_id"]]


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _text(value: float | None, unit: str) -> str:
    return quantity.MISSING if value is None else quantity.text(value, unit)
