"""The metrics of a gate's run: base and head by phase, and the answer on each after the looks."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchbook.analyse import noise
from benchbook.analyse.cells import labelled
from benchbook.analyse.gate import Answer, Look, Series, decide, losses
from benchbook.analyse.interval import mean_log
from benchbook.analyse.model import Noise, fit
from benchbook.analyse.noise import Itself
from benchbook.analyse.paired import chain
from benchbook.analyse.ratio import ratio
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Pair
from benchbook.analyse.values import Series as Values
from benchbook.analyse.wording import label_words
from benchbook.declare.metric import describe
from benchbook.plan.gating import Gate


@dataclass(frozen=True)
class Row:
    """One metric of base and head, with the answer on it."""

    phase: str
    metric: str
    unit: str
    direction: str
    setting: str
    """The other levels that vary in the run, in words."""
    base: float | None
    """Typical value of the blocks that the answer rests on."""
    head: float | None
    answer: Answer

    @property
    def name(self) -> str:
        """Its name, unique in a gate."""
        return " ".join(filter(None, (self.phase, self.metric, self.setting)))

    @property
    def title(self) -> str:
        """The same for people."""
        return ", ".join(filter(None, (f"{self.phase}: {describe(self.metric).title}", self.setting)))


def pairs(run: Run, metrics: Sequence[str] = ()) -> list[Pair]:
    """Return the (phase, metric) pairs that a gate judges: these metrics, or the main one of each phase's workload."""
    if metrics:
        return [pair for pair in run.pairs() if pair[1] in metrics]
    held = {phase: one.compared[0] for one, phase in run.phases_having(lambda one: one.compared)}
    planned = [str(one["name"]) for one in run.facts("planned").get("phases") or []]
    return sorted(held.items(), key=lambda one: planned.index(one[0]) if one[0] in planned else len(planned))


def rows(run: Run, made: Gate, looks: Sequence[Look]) -> list[Row]:
    """Return each metric with its answer after these looks; none of a metric that neither side has."""
    found: list[tuple[Pair, Sides, Sides]] = [
        (pair, base, head)
        for base, head in _sides(run, made)
        for pair in pairs(run, made.metrics)
        if any(run.values(cell, pair).by_block for cell in (*base, *head))
    ]
    series = [_series(run, *one) for one in found]
    return [
        _row(run, pair, base, head, answer)
        for (pair, base, head), answer in zip(found, decide(series, looks, made.margin), strict=True)
    ]


Sides = tuple[Cell, ...]
"""The cells of base or head: one for each build."""


def _sides(run: Run, made: Gate) -> list[tuple[Sides, Sides]]:
    """Return the cells of base and head that differ in nothing else."""
    by_rest: dict[tuple[tuple[str, str], ...], dict[str, Cell]] = {}
    for cell in labelled(run):
        rest = tuple(sorted((name, level) for name, level in cell.levels.items() if name != made.factor))
        by_rest.setdefault(rest, {})[cell.levels.get(made.factor, "")] = cell
    return [
        (tuple(held[level] for level in made.base), tuple(held[level] for level in made.head))
        for held in by_rest.values()
        if {*made.base, *made.head} <= held.keys()
    ]


def _series(run: Run, pair: Pair, base: Sides, head: Sides) -> Series:
    direction = _measured(run, pair, (*base, *head)).direction
    each = [
        losses(run.values(one, pair).by_block, run.values(other, pair).by_block, direction)
        for one in base
        for other in head
    ]
    blocks = sorted(set.intersection(*(set(held) for held in each)))
    known = _noise(run.results, run.run_id, pair, frozenset(cell.system for cell in (*base, *head)))
    builds = of_builds(
        [[run.values(cell, pair).by_block for cell in side] for side in (base, head) if len(side) > 1]
    )
    noises = [one for one in (known, builds) if one is not None]
    largest = max(noises, key=lambda one: one.variance, default=None)
    return Series({block: sum(held[block] for held in each) / len(each) for block in blocks}, largest)


def _measured(run: Run, pair: Pair, cells: Sides) -> Values:
    """Return the values of the first cell that has any."""
    held = [run.values(cell, pair) for cell in cells]
    return next((one for one in held if one.by_block), held[0])


def of_builds(sides: Sequence[Sequence[Mapping[int, float]]]) -> Noise | None:
    """Return the noise of a ratio of two sides with several builds each, from block → value of each build.

    Builds of one source are equal setups. What their ratios show beyond the spread of their trials is always added,
    without a test: two builds would hardly ever pass it.
    """
    found = [
        Itself("", "", "", "", "", ratio(one, other))
        for side in sides
        for one, other in itertools.combinations(side, 2)
    ]
    made = noise.between(found, level=1.0)
    builds = min((len(side) for side in sides), default=1)
    return None if made is None else replace(made, variance=made.variance / builds)


@functools.lru_cache(maxsize=1024)
def _noise(results: Path, run_id: str, pair: Pair, systems: frozenset[str]) -> Noise | None:
    """Return the noise between equal setups from earlier A/A runs; it stays the same while a gate runs."""
    held = [one for one in noise.known(Run(results, run_id)).get(pair, ()) if one.run_id != run_id]
    return noise.between([one for one in held if one.system in systems] or held)


def _row(run: Run, pair: Pair, base: Sides, head: Sides, answer: Answer) -> Row:
    values = [
        mean_log(
            [
                value
                for cell in side
                for block, value in run.values(cell, pair).by_block.items()
                if block < answer.blocks
            ]
        ).value
        for side in (base, head)
    ]
    known, first = _measured(run, pair, (*base, *head)), base[0]
    setting = ", ".join(label_words(*level) for level in first.varying if level[0] != "system")
    return Row(
        *pair, known.unit, known.direction, _without_side(setting, first), values[0], values[1], answer
    )


def _without_side(setting: str, base: Cell) -> str:
    """Return the words of the levels that vary, without the label of the side."""
    sides = {label_words(name, base.levels[name]) for name in ("build", "aa") if name in base.levels}
    return ", ".join(part for part in setting.split(", ") if part and part not in sides)


def spreads(run: Run, metrics: Sequence[str] = ()) -> dict[Pair, float]:
    """Return pair → the typical standard deviation of a block's log ratio in an earlier run, where it has enough."""
    found = {}
    for pair in pairs(run, metrics):
        held = [made.spread for sample in chain(run, pair) if (made := fit(sample)) is not None]
        if held:
            found[pair] = median(held)
    return found
