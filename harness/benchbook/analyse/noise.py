"""The noise floor of a machine: what a system measured against itself seems to differ by (rule 4 of docs/methods.md).

It comes from A/A runs: runs of an experiment whose factor ``aa`` gives every cell twice, under two labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchbook.analyse import ratio
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.run import AA, Cell, Pair, Run
from benchbook.analyse.verdict import noise_floor

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LABELS = ("A", "B")

Key = tuple[tuple[tuple[str, str], ...], tuple[str, ...], Pair]
"""Levels of a cell, digests of its data, phase and metric."""


@dataclass(frozen=True)
class Floor:
    """The noise floor of one metric in one cell."""

    run_id: str
    cell: str
    """The cell without its label."""
    system: str
    levels: dict[str, str]
    phase: str
    metric: str
    unit: str
    ratio: Ratio
    """A over B."""
    factor: float | None
    """At least 1: ratios up to it are noise. None where fewer than 3 blocks have both."""


@dataclass(frozen=True)
class Floors:
    """The floors known for one experiment, profile and machine; the latest A/A run of each cell counts."""

    known: dict[Key, Floor] = field(default_factory=dict)

    def floor(self, cell: Cell, pair: Pair) -> Floor | None:
        """Return the floor of a metric in cells of the same levels and the same data; None where none is known."""
        return self.known.get((cell.size, cell.datasets, pair))

    def factor(self, cells: Iterable[Cell], pair: Pair) -> float | None:
        """Return the largest floor of these cells as a factor; None where none of them has one."""
        found = [floor.factor for cell in cells if (floor := self.floor(cell, pair)) and floor.factor]
        return max(found, default=None)

    @property
    def runs(self) -> list[str]:
        """The A/A runs that they come from."""
        return sorted({floor.run_id for floor in self.known.values()})


def measured(run: Run, pairs: Iterable[Pair] | None = None) -> dict[Key, Floor]:
    """Return the floors that an A/A run gives, in the order of its cells and metrics; of ``pairs``, or of all."""
    run.preload(pairs)
    wanted = run.pairs() if pairs is None else sorted(set(pairs))
    by_size: dict[Any, dict[str, Cell]] = {}
    for cell in run.cells:
        if AA in cell.levels:
            by_size.setdefault(cell.size, {})[cell.levels[AA]] = cell
    found: dict[Key, Floor] = {}
    for size, labelled in by_size.items():
        if any(label not in labelled for label in LABELS):
            continue
        a, b = (labelled[label] for label in LABELS)
        for pair in wanted:
            of_a, of_b = run.values(a, pair), run.values(b, pair)
            made = ratio.ratio(of_a.by_block, of_b.by_block)
            if made.value is not None:
                levels = dict(size)
                name = ",".join(f"{key}={level}" for key, level in a.levels.items() if key != AA)
                found[size, a.datasets, pair] = Floor(
                    run.run_id, name, a.system, levels, *pair, of_a.unit, made, noise_floor(made)
                )
    return found


def floors(run: Run, pairs: Iterable[Pair] | None = None) -> Floors:
    """Return the floors that hold for a run: same experiment, same profile, same machine; the latest of each.

    ``pairs`` limits what is read; by default it is every metric that has a direction.
    """
    if run.machine is None:
        return Floors()
    wanted = None if pairs is None else list(pairs)
    known: dict[Key, Floor] = {}
    with run.opened() as connection:
        for run_id in _runs(connection, run.experiment, run.profile, run.machine):
            against_itself = Run(run.results, run_id, connection)
            for key, floor in measured(against_itself, wanted).items():
                if floor.factor is not None:
                    known.setdefault(key, floor)
    return Floors(known)


def of_cells(
    run: Run, found: Floors, pairs: Iterable[Pair] | None = None
) -> dict[tuple[str, str, str], float]:
    """Return (cell, phase, metric) → noise floor as a factor, for every cell of a run where one is known.

    Two cells are compared by the larger of their floors: give it to ``verdict.compare`` as ``noise``.
    """
    return {
        (cell.name, *pair): floor.factor
        for cell in run.cells
        for pair in (run.pairs() if pairs is None else sorted(set(pairs)))
        if (floor := found.floor(cell, pair)) and floor.factor
    }


def _runs(connection: DuckDBPyConnection, experiment: str, profile: str, machine: str) -> list[str]:
    """Return the A/A runs of a machine, the latest first."""
    text = (
        "SELECT r.run_id FROM runs r JOIN run_facts f USING (run_id) "
        "WHERE r.experiment = ? AND r.profile = ? AND f.topic = 'host' AND f.key = 'machine' "
        "AND (f.value ->> '$.id') = ? AND EXISTS (SELECT 1 FROM trials t JOIN levels l USING (trial_id) "
        "WHERE t.run_id = r.run_id AND l.factor = ?) ORDER BY r.created_at DESC, r.run_id DESC"
    )
    return [str(row[0]) for row in connection.execute(text, [experiment, profile, machine, AA]).fetchall()]


def rows(found: Mapping[Key, Floor]) -> list[dict[str, Any]]:
    """Return floors as rows of a table: ratios with their interval, the floor as a factor and in per cent."""
    return [
        {
            "cell": one.cell, "phase": one.phase, "metric": one.metric, "trials": one.ratio.trials,
            "ratio": one.ratio.value, "low": one.ratio.low, "high": one.ratio.high, "floor": one.factor,
            "percent": None if one.factor is None else 100 * (one.factor - 1), "reason": one.ratio.reason,
        }
        for one in found.values()
    ]  # fmt: skip
