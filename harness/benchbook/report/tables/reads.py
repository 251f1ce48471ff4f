"""What a phase of reads did in each cell: reads in flight, bars that came and bars decoded, bytes read from disk."""

from __future__ import annotations

from benchbook.analyse.run import Run
from benchbook.report import cell as cells_of
from benchbook.report import quantity
from benchbook.report.table import Table, Words, missing
from benchbook.report.versus import Estimate, estimates


def table(run: Run, phase: str) -> Table | Words:
    """Return one row a cell; means of its trials."""
    names = (
        "reads_per_second",
        "in_flight",
        "latency_mean",
        "latency_max",
        "rows_per_read",
        "rows_decoded_per_read",
        "server_read_bytes",
        "errors",
    )
    of = {name: {one.cell.name: one for one in estimates(run, phase, name)} for name in names}
    rows = []
    for cell in cells_of.cells(run):
        rate, latency = of["reads_per_second"][cell.name].value, of["latency_mean"][cell.name].value
        if rate is None:
            continue
        rows.append(
            [
                cell.label,
                _text(of["in_flight"][cell.name]),
                quantity.number(rate * latency) if latency is not None else quantity.MISSING,
                quantity.number(rate),
                of["latency_mean"][cell.name].text(),
                of["latency_max"][cell.name].text(),
                _text(of["rows_per_read"][cell.name]),
                _text(of["rows_decoded_per_read"][cell.name]),
                of["server_read_bytes"][cell.name].text(),
                _text(of["errors"][cell.name]),
            ]
        )
    if not rows:
        return missing(f"What the {phase} reads did", "no trial of this run that counts has such a phase")
    columns = [
        "Cell", "In flight, asked", "In flight, by Little's law", "Reads/s", "Mean latency", "Longest latency",
        "Bars that came, a read", "Bars decoded, a read", "Read from disk", "Failed",
    ]  # fmt: skip
    return Table(
        columns, rows, f"{phase.capitalize()} reads: means of a cell's trials", frozenset(columns[1:])
    )


def _text(estimate: Estimate) -> str:
    return quantity.MISSING if estimate.value is None else quantity.number(estimate.value)
