"""The history of an experiment: each main metric over its recorded runs, or over the releases of a system."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchbook.analyse.change_points import change_points, smallest_p
from benchbook.analyse.interval import ALPHA, Interval, mean_log
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Pair
from benchbook.declare.metric import is_main

By = Literal["run", "release"]
Direction = Literal["better", "worse"]


@dataclass(frozen=True)
class Point:
    """What one run measured, or all runs of one release."""

    label: str
    """Its run or its system."""
    day: str
    """When the run began, or when the release was published; ISO 8601."""
    version: str
    """The version that the system reported."""
    typical: Interval
    logs: dict[Any, float]
    """Block → logarithm of the value; a single one for a run."""


@dataclass(frozen=True)
class Change:
    """A change of a series."""

    place: int
    """The first point after it."""
    p: float
    ratio: float
    """Typical value after it, up to the next change, over that before it, from the previous one."""
    direction: Direction


@dataclass
class Series:
    """One metric of one setup over its points, which did the same work on one processor."""

    by: By
    profile: str
    processor: str
    cell: str
    phase: str
    metric: str
    unit: str
    direction: str
    points: list[Point] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    level: float = ALPHA
    """The chance of a change in a series of noise."""

    @property
    def enough(self) -> bool:
        """Whether a clear change would be found with this number of points, among so many series."""
        columns = len(self.shared)
        return bool(columns) and smallest_p(len(self.points), columns) <= self.level

    @property
    def shared(self) -> list[Any]:
        """The blocks that all points have."""
        return sorted(set.intersection(*(set(one.logs) for one in self.points)))


def has_releases(run: Run) -> bool:
    """Return whether a run measured two releases of one system, whose declarations state their days."""
    drivers = [_driver(run, cell) for cell in run.cells if cell.ok and _released(run, cell)]
    return len(drivers) > len(set(drivers))


def of_runs(runs: Iterable[Run], by: By, metrics: Sequence[str] = ()) -> list[Series]:
    """Return the series of runs, oldest first, with the changes of each.

    With all series together, there is a change in noise with a chance of at most 5 % (Bonferroni).
    """
    held: dict[Any, tuple[Series, list[tuple[Run, Cell, Pair]]]] = {}
    for run in sorted(runs, key=lambda one: str(one.info["created_at"])):
        for cell in run.cells:
            if not cell.ok or (by == "release" and not _released(run, cell)):
                continue
            for pair in run.pairs():
                if (
                    is_main(pair[1])
                    and (not metrics or pair[1] in metrics)
                    and run.values(cell, pair).by_block
                ):
                    key, series = _series(run, cell, pair, by)
                    held.setdefault(key, (series, []))[1].append((run, cell, pair))
    found = []
    for series, measured in held.values():
        series.points = _of_releases(measured) if by == "release" else list(map(_of_run, measured))
        found.append(series)
    judged = [one for one in found if len(one.points) > 1]
    for series in judged:
        series.level = ALPHA / len(judged)
        series.changes = _changes(series)
    return found


def _series(run: Run, cell: Cell, pair: Pair, by: By) -> tuple[Any, Series]:
    """Return what the points of a series share, and the series without points."""
    levels = {name: level for name, level in cell.levels.items() if by == "run" or name != "system"}
    name = cell.label if by == "run" else ", ".join(filter(None, (_driver(run, cell), cell.setting)))
    processor = str(run.processor.name) if run.processor else "an unknown processor"
    values = run.values(cell, pair)
    options = [
        phase.get("options")
        for phase in run.facts("planned").get("phases") or []
        if isinstance(phase, dict) and phase.get("name") == pair[0]
    ]
    work = json.dumps([levels, cell.datasets, cell.queries, options], sort_keys=True, default=str)
    made = Series(by, run.profile, processor, name, *pair, values.unit, values.direction)
    return (run.profile, processor, name if by == "release" else cell.name, pair, work), made


def _driver(run: Run, cell: Cell) -> str:
    return str(run.systems.get(cell.system, {}).get("driver") or cell.system)


def _released(run: Run, cell: Cell) -> str:
    return str(run.systems.get(cell.system, {}).get("released") or "")


def _of_run(measured: tuple[Run, Cell, Pair]) -> Point:
    run, cell, pair = measured
    typical = mean_log(list(run.values(cell, pair).by_block.values()))
    logs = {0: math.log(typical.value)} if typical.value and typical.value > 0 else {}
    return Point(run.run_id, str(run.info["created_at"])[:10], ", ".join(cell.versions), typical, logs)


def _of_releases(measured: Sequence[tuple[Run, Cell, Pair]]) -> list[Point]:
    """Return a point for each release, in the order of their days, with the blocks of all runs."""
    groups: dict[tuple[str, str], list[tuple[Run, Cell, Pair]]] = {}
    for one in sorted(measured, key=lambda one: (_released(*one[:2]), one[1].system)):
        groups.setdefault((_released(*one[:2]), one[1].system), []).append(one)
    points = []
    for (day, system), held in groups.items():
        values = {
            (run.run_id, block): value
            for run, cell, pair in held
            for block, value in run.values(cell, pair).by_block.items()
        }
        versions = dict.fromkeys(version for _, cell, _ in held for version in cell.versions)
        logs = {block: math.log(value) for block, value in values.items() if value > 0}
        points.append(Point(system, day, ", ".join(versions), mean_log(list(values.values())), logs))
    return points


def _changes(series: Series) -> list[Change]:
    """Return the changes of a series, by the blocks that all of its points have."""
    shared = series.shared
    if not shared:
        return []
    rows = [[one.logs[block] for block in shared] for one in series.points]
    found = change_points(rows, series.level)
    means = [math.fsum(row) / len(row) for row in rows]
    borders = [0, *(one.place for one in found), len(rows)]
    levels = [math.fsum(means[first:end]) / (end - first) for first, end in itertools.pairwise(borders)]
    made = []
    for one, before, after in zip(found, levels, levels[1:], strict=False):
        better = (after > before) == (series.direction == "higher")
        direction: Direction = "better" if better else "worse"
        made.append(Change(one.place, one.p, math.exp(after - before), direction))
    return made
