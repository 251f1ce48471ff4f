"""Objects a second: along the operations in flight, and along the objects of one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbook.report import cell as cells_of
from benchbook.report import scaled
from benchbook.report.charts.curve import Axes, Dot
from benchbook.report.charts.curve import figure as curve
from benchbook.report.comparison import refused
from benchbook.report.estimate import mean
from benchbook.report.figure import Figure
from benchbook.report.results import Run
from benchbook.report.words import Words, missing

RATE = "objects_per_second"
LIMIT = "synced_writes_per_second"
ALONG = "workers"
BESIDE = ("storage", "size")
"""Factors that fio's limit depends on: it is measured once a block for all cells that share them."""


def concurrency(
    run: Run,
    phase: str,
    fixed: Mapping[str, str],
    metric: str = RATE,
    unit: str = "Objects per second",
) -> Figure | Words:
    """Draw ``metric`` of a phase along the operations in flight, of the cells with certain levels.

    fio's rate in the same cells is the dashed limit of rates.
    """
    title = f"{unit}, {phase}, {_words(fixed)}"
    if words := refused(run, title):
        return words
    factor = 1000.0 if metric.startswith("latency") else 1.0
    dots = list(_dots(run, phase, metric, ALONG, fixed, factor))
    if len({one.at for one in dots}) < 2:
        return missing(title, f"it needs trials of {phase} at two or more levels of {ALONG}, {_words(fixed)}")
    limit = _limit(run, phase, fixed) if metric == RATE else []
    return curve(dots, scaled.title(run, title), Axes("Operations in flight", unit), limit)


def batches(run: Run, phases: Mapping[str, int], fixed: Mapping[str, str]) -> Figure | Words:
    """Draw the rate of puts along the objects of one transaction, of the cells with certain levels."""
    title = f"Objects put per second by objects a transaction, {_words(fixed)}"
    if words := refused(run, title):
        return words
    dots = []
    for phase, batch in phases.items():
        for one in _dots(run, phase, RATE, ALONG, fixed):
            dots.append(Dot(one.system, one.label, float(batch), one.value, one.low, one.high, one.trials))
    if len({one.at for one in dots}) < 2:
        return missing(title, "it needs trials of puts with two or more sizes of batch")
    return curve(dots, scaled.title(run, title), Axes("Objects a transaction", "Objects per second"))


def _words(fixed: Mapping[str, str]) -> str:
    return ", ".join(
        f"{level} in flight" if name == ALONG else f"{name} {level}" for name, level in fixed.items()
    )


def _fits(known: Mapping[str, str], fixed: Mapping[str, str]) -> bool:
    """Say whether a trial has these levels; a factor that the run does not have tells nothing apart."""
    return all(known.get(name, level) == level for name, level in fixed.items())


def _levels(run: Run) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for trial_id, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        found.setdefault(trial_id, {})[factor] = level
    return found


def _dots(
    run: Run, phase: str, metric: str, along: str, fixed: Mapping[str, str], factor: float = 1.0
) -> Iterator[Dot]:
    levels = _levels(run)
    free = {along, "system", *fixed}
    names = sorted({name for known in levels.values() for name in known} - free)
    meant = [known for known in levels.values() if _fits(known, fixed)]
    varying = [name for name in names if len({known.get(name) for known in meant}) > 1]
    groups: dict[tuple[str, str, float], list[float]] = {}
    for trial_id, system, value in (
        run.measured(phase, metric).select("trial_id", "system", "value").iter_rows()
    ):
        known = levels[trial_id]
        if not _fits(known, fixed) or along not in known:
            continue
        label = ", ".join([cells_of.title(run, system), *(f"{name} {known[name]}" for name in varying)])
        groups.setdefault((system, label, float(known[along])), []).append(float(value) * factor)
    for (system, label, at), values in sorted(groups.items()):
        middle, low, high = mean(values)
        if middle:
            yield Dot(system, label, at, middle, low, high, len(values))


def _limit(run: Run, phase: str, fixed: Mapping[str, str]) -> list[Dot]:
    levels, groups = _levels(run), {}  # type: tuple[dict[str, dict[str, str]], dict[float, list[float]]]
    beside = {name: fixed[name] for name in BESIDE if name in fixed}
    for trial_id, value in run.measured(phase, LIMIT).select("trial_id", "value").iter_rows():
        known = levels[trial_id]
        if _fits(known, beside) and ALONG in known:
            groups.setdefault(float(known[ALONG]), []).append(float(value))
    words = "fio: synced writes per second"
    found = []
    for at, values in sorted(groups.items()):
        middle, low, high = mean(values)
        if middle:
            found.append(Dot("fio", words, at, middle, low, high, len(values)))
    return found
