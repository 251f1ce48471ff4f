"""Tables of measured numbers: all numbers of a run, and one metric by levels of factors."""

from __future__ import annotations

from benchbook.analyse import quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, estimates
from benchbook.analyse.run import Run
from benchbook.declare.metric import describe
from benchbook.report.conclusion import refused
from benchbook.report.table import Details, Markdown, Table, missing


def numbers_table(run: Run) -> Details | Markdown:
    """Return a row for each phase, metric and cell: number of trials, mean and interval."""
    pairs = run.frame("measurements").select("phase", "metric").unique(maintain_order=True).iter_rows()
    phases = (
        run.frame("phases")
        .sort("position", maintain_order=True)["phase"]
        .unique(maintain_order=True)
        .to_list()
    )
    order = {phase: place for place, phase in enumerate(phases)}
    rows = []
    for phase, metric in sorted(pairs, key=lambda pair: order.get(pair[0], len(order))):
        for one in estimates(run, phase, metric):
            shown = [one.text(), one.interval()] if one.points else [quantity.MISSING, "not measured"]
            rows.append([phase, describe(metric).title, one.cell.label, str(len(one.points)), *shown])
    if not rows:
        return missing("The table of all numbers", "no trial of this run has a measurement")
    columns = ["Phase", "Metric", "System", "Trials", "Mean", "95 % CI"]
    numbers = Table(columns, rows, numeric=frozenset({"Trials", "Mean"}))
    return Details(f"All {len(rows)} numbers with their intervals", numbers)


NOT_MEASURED = quantity.MISSING


def matrix_table(run: Run, phase: str, metric: str, across: str = "workers") -> Table | Markdown:
    """Return ``metric`` of a phase: a row for each cell, a column for each level of the factor ``across``."""
    title = describe(metric).title
    found = [one for one in estimates(run, phase, metric) if one.points]
    if not found:
        return missing(title, f"no valid trial of this run measured {metric}")
    levels = _levels(run, across)
    names = list(dict.fromkeys(levels.get(one.cell.name, "") for one in found))
    lines: dict[str, dict[str, Estimate]] = {}
    for one in found:
        level = levels.get(one.cell.name, "")
        lines.setdefault(_without(one.cell.label, across, level), {})[level] = one
    heads = [f"{across.replace('_', ' ')} {name}" if name else title for name in names]
    rows = [[label, *(_text(held.get(name)) for name in names)] for label, held in lines.items()]
    return Table(["System", *heads], rows, f"{title}: mean and 95 % CI", frozenset(heads))


def queries(run: Run, metric: str = "latency_p50") -> Table | Markdown:
    """Return ``metric`` of every query type: a row for each cell, a column for each type."""
    title = f"{describe(metric).title} by query type"
    if refusal := refused(run, title):
        return refusal
    phases = run.phases("query")
    by_phase = {phase: {one.cell.name: one for one in estimates(run, phase, metric)} for phase in phases}
    rows = [
        [cell.label, *(_text(by_phase[phase].get(cell.name)) for phase in phases)]
        for cell in labelled(run)
        if cell.ok
    ]
    if not rows or not phases:
        return missing(title, "no valid trial of this run ran queries")
    return Table(["System", *phases], rows, f"{title}: mean and 95 % CI", frozenset(phases))


def _levels(run: Run, factor: str) -> dict[str, str]:
    """Return cell → level of a factor; empty if the run has only one level."""
    trials = dict(run.frame("trials").select("trial_id", "cell").iter_rows())
    held = {
        trials[trial_id]: str(level)
        for trial_id, name, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows()
        if name == factor
    }
    return held if len(set(held.values())) > 1 else {}


def _without(label: str, factor: str, level: str) -> str:
    return label.replace(f", {factor.replace('_', ' ')} {level}", "", 1) if level else label


def _text(found: Estimate | None) -> str:
    if found is None or found.value is None:
        return NOT_MEASURED
    if found.low is None or found.high is None:
        return found.text()
    return f"{found.text()} ({found.interval()})"
