"""Telemetry over time: processor, memory and disk of server, client and machine, one line a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchbook.report import axis as axes
from benchbook.report import cell as cells_of
from benchbook.report import quantity, scaled, theme
from benchbook.report.cell import Cell, Wanted
from benchbook.report.figure import Figure, Figures
from benchbook.report.results import Run
from benchbook.report.samples import PANELS, Panel, Series, mean, series
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

DRAWN_TRIALS = 3
"""Trials of a cell that are drawn; the table covers all."""
DRAWN_SAMPLES = 120
"""Points of one line; longer series are drawn by the mean of neighbours."""
MARKED_SAMPLES = 15
"""Up to so many samples each is marked by a point."""
HEIGHT = 170


def chart(
    run: Run, panels: tuple[Panel, ...] = PANELS, only: Mapping[str, Wanted] | None = None
) -> Figures | Words:
    """Draw one figure a panel; panels nobody sampled are named in a sentence below.

    ``only`` gives the levels of factors whose cells are drawn, of a run that has too many to tell apart.
    """
    figures, absent = [], []
    shown = cells_of.chosen(run, only)
    inside = [cell for cell in shown.values() if cells_of.embedded(run, cell.system)]
    for panel in panels:
        found = [
            replace(one, cell=shown[one.cell.name]) for one in series(run, panel) if one.cell.name in shown
        ]
        if not found:
            if panel.scope != "server" or len(inside) < len(shown):
                absent.append(f"{panel.title} (not sampled)")
        elif all(value == 0 for one in found for _, value in one.samples):
            absent.append(f"{panel.title} (zero in every sample)")
        else:
            figures.append(
                Figure(
                    scaled.title(run, panel.title),
                    _draw(found, panel),
                    _alternative(found, panel),
                    _table(found, panel),
                    width=theme.HALF_WIDTH,
                )
            )
    if not figures:
        return missing("Telemetry", "no trial of this run that counts has two samples, taken once a second")
    note = f"One line a trial, at most {DRAWN_TRIALS} of each system; the tables cover all trials."
    if inside:
        note += (
            " An embedded system runs inside the client's process: the client's numbers are its own as well."
        )
    if absent:
        note += f" Not drawn: {'; '.join(absent)}."
    return Figures(figures, note)


def _short(cells: list[Cell]) -> dict[str, str]:
    """Return label → what of it is drawn: the system's title is left out where all have the same."""
    if len({cell.titled for cell in cells}) > 1 or any(cell.label == cell.titled for cell in cells):
        return {cell.label: cell.label for cell in cells}
    return {cell.label: cell.label.removeprefix(f"{cell.titled}, ") for cell in cells}


def _thinned(samples: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    size = -(-len(samples) // DRAWN_SAMPLES)
    groups = [samples[start : start + size] for start in range(0, len(samples), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def _draw(found: list[Series], panel: Panel) -> Any:
    import altair as alt

    largest = max(value for one in found for _, value in one.samples)
    divisor, unit = quantity.scale(largest, panel.unit)
    cells = list(dict.fromkeys(one.cell for one in found))
    short = _short(cells)
    labels, systems = list(short.values()), [cell.system for cell in cells]
    of_cell: dict[str, list[Series]] = {}
    for one in found:
        of_cell.setdefault(one.cell.name, []).append(one)
    drawn = [one for own in of_cell.values() for one in own[:DRAWN_TRIALS]]
    rows = [
        {
            "cell": short[one.cell.label],
            "block": one.block + 1,
            "seconds": round(seconds, 3),
            "value": float(f"{value / divisor:.4g}"),
        }
        for one in drawn
        for seconds, value in _thinned(one.samples)
    ]
    few = max(len(one.samples) for one in drawn) <= MARKED_SAMPLES
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("seconds:Q", title="Time since the start of the trial (s)", axis=alt.Axis(format=axes.PLAIN)),
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=True), axis=alt.Axis(format=axes.PLAIN)),
        color=alt.Color("cell:N", scale=theme.colours(systems, labels), legend=theme.legend(labels)),
        detail="block:N",
    )
    lines = base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
        strokeDash=alt.StrokeDash("cell:N", scale=theme.dashes(systems, labels))
    )
    points = base.mark_point(size=18 if few else 40, opacity=1 if few else 0).encode(
        tooltip=[
            alt.Tooltip("cell:N"),
            alt.Tooltip("block:O"),
            alt.Tooltip("seconds:Q"),
            alt.Tooltip("value:Q", format=".3~g", title=unit),
        ]
    )
    return alt.layer(lines, points).properties(width="container", height=HEIGHT)


def _summary(found: list[Series], panel: Panel) -> list[tuple[str, int, int, str, str]]:
    """Label, trials, samples, mean and largest of each cell."""
    made = []
    of_label: dict[str, list[Series]] = {}
    for one in found:
        of_label.setdefault(one.cell.label, []).append(one)
    for label, own in of_label.items():
        values = [value for one in own for _, value in one.samples]
        made.append((label, len(own), len(values), _text(mean(own), panel), _text(max(values), panel)))
    return made


def _text(value: float, panel: Panel) -> str:
    if panel.unit == "share":
        return quantity.percent(value)
    return quantity.text(value, "1", "cores") if panel.unit == "cores" else quantity.text(value, panel.unit)


def _alternative(found: list[Series], panel: Panel) -> str:
    parts = [
        f"{label} {mean} on average, at most {largest}"
        for label, _, _, mean, largest in _summary(found, panel)
    ]
    return f"{panel.title} over the time of a trial: {'; '.join(parts)}."


def _table(found: list[Series], panel: Panel) -> Table:
    columns = ["System", "Trials", "Samples", "Mean", "Largest"]
    rows = [[str(part) for part in line] for line in _summary(found, panel)]
    return Table(columns, rows, numeric=frozenset(columns[1:]))
