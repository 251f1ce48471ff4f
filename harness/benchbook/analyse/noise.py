"""The noise between equal setups on a processor, from A/A runs (rule 4 of docs/methods.md).

An A/A run has every cell twice, under two labels of the factor ``aa``. Its trials are shuffled and begin with empty
folders, so its ratios should differ from 1 by chance alone: by what the spread of their own trials explains. The run
tests that. If its ratios differ by more, the rest is noise that other ratios of these systems have in their error.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.analyse import processors
from benchbook.analyse.model import ALPHA, Noise, prior
from benchbook.analyse.ratio import Ratio, log_ratios, of_logs
from benchbook.analyse.run import Run
from benchbook.analyse.values import AA, Cell, Pair
from benchbook.host import processor
from benchbook.record import origin

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LABELS = ("A", "B")
LEVEL = 0.1
"""Level of the test for noise. Few ratios show little, so it is the 10 % that is usual for tests of heterogeneity."""


@dataclass(frozen=True)
class Itself:
    """One metric of one cell, compared with itself."""

    run_id: str
    cell: str
    """The cell without its label."""
    system: str
    phase: str
    metric: str
    ratio: Ratio
    """A over B."""

    @property
    def factor(self) -> float | None:
        """The largest factor that the interval does not exclude, at least 1; None without an interval."""
        if self.ratio.low is None or self.ratio.high is None:
            return None
        return max(self.ratio.high, 1 / self.ratio.low, 1.0)


def measured(run: Run, pairs: Iterable[Pair] | None = None) -> list[Itself]:
    """Return what an A/A run measured, by cell and metric; of ``pairs``, or of every metric with a direction."""
    wanted = run.pairs() if pairs is None else sorted(set(pairs))
    by_size: dict[Any, dict[str, Cell]] = {}
    for cell in run.cells:
        if AA in cell.levels:
            by_size.setdefault(cell.size, {})[cell.levels[AA]] = cell
    both = [held for held in by_size.values() if all(label in held for label in LABELS)]
    found: list[Itself] = []
    for pair in wanted:
        samples = [
            list(log_ratios(*(run.values(held[label], pair).by_block for label in LABELS)).values())
            for held in both
        ]
        spread = prior(samples)
        for held, sample in zip(both, samples, strict=True):
            if sample:
                first = held[LABELS[0]]
                name = ",".join(f"{key}={level}" for key, level in first.levels.items() if key != AA)
                found.append(Itself(run.run_id, name, first.system, *pair, of_logs(sample, spread)))
    order = {name: place for place, name in enumerate(dict.fromkeys(one.cell for one in found))}
    return sorted(found, key=lambda one: (order[one.cell], one.phase, one.metric))


def between(found: Iterable[Itself], level: float = LEVEL) -> Noise | None:
    """Return the noise of one metric from its A/A comparisons; None where none has an interval.

    It is zero unless the comparisons differ from 1 by more than chance: Fisher's combination of their p-values at
    ``level``. The estimate alone would not do. It is never negative, so where there is no noise, it is above zero in
    about every third run, and widens intervals that are right.

    Source: the method of moments for a variance between groups (DerSimonian and Laird 1986), around a mean of 0.
    """
    from scipy.special import chdtrc

    held = [(one.run_id, one.ratio, one.ratio.fit) for one in found if one.ratio.fit is not None]
    if not held:
        return None
    chances = [max(ratio.differs, 1e-300) for _, ratio, _ in held]
    by_chance = float(chdtrc(2 * len(held), -2 * math.fsum(map(math.log, chances))))
    excess = math.fsum(fit.centre**2 - fit.error**2 for _, _, fit in held) / len(held)
    return Noise(
        max(0.0, excess) if by_chance <= level else 0.0,
        len(held),
        tuple(sorted({run_id for run_id, _, _ in held})),
        sum(fit.error > 0 for _, _, fit in held),
        sum(one <= ALPHA for one in chances),
    )


@functools.cache
def of(run: Run, pair: Pair, *systems: str) -> Noise | None:
    """Return the noise of a ratio of these systems in a metric; None where it is unknown.

    It is that of the A/A comparisons of these systems, or of all systems if none of these was compared with itself.
    """
    held = known(run).get(pair, ())
    return between([one for one in held if one.system in systems] or held)


def always(run: Run, pair: Pair, systems: Collection[str]) -> Noise:
    """Return the noise that estimates over runs always add, from the A/A comparisons of these systems, if any."""
    itself = [one for one in known(run).get(pair, ()) if one.system in systems]
    return processors.equal([one.ratio.fit for one in itself if one.ratio.fit is not None])


@functools.cache
def known(run: Run) -> Mapping[Pair, Sequence[Itself]]:
    """Return (phase, metric) → comparisons with an interval, from all A/A runs that count for a run.

    These are of the same origin, experiment, profile and processor, and share data. The machine may be another one:
    its id says little, because copies of a virtual machine share it. A stranger's A/A run may claim any processor, so
    it widens the noise of no other run; for a run of unknown origin, such as an imported one, none counts.
    """
    if run.whole is not run:
        return known(run.whole)
    if run.processor is None:
        return {}
    found: dict[Pair, list[Itself]] = {}
    made = _origin(run.results, run.run_id)
    if made is None:
        return {}
    with run.connected() as connection:
        for run_id in _runs(connection, run.experiment, run.profile):
            if _origin(run.results, run_id) != made:
                continue
            itself = Run(run.results, run_id, connection)
            if not processor.is_one(itself.processor, run.processor) or not _data(itself) & _data(run):
                continue
            for one in measured(itself):
                if one.ratio.fit is not None:
                    found.setdefault((one.phase, one.metric), []).append(one)
    return found


def _origin(results: Path, run_id: str) -> str | None:
    return origin.of(results / "runs" / run_id)


def _data(run: Run) -> set[str]:
    return {digest for cell in run.cells for digest in cell.datasets}


def _runs(connection: DuckDBPyConnection, experiment: str, profile: str) -> list[str]:
    """Return the A/A runs of an experiment at a profile, the latest first."""
    text = (
        "SELECT r.run_id FROM runs r WHERE r.experiment = ? AND r.profile = ? "
        "AND EXISTS (SELECT 1 FROM trials t JOIN levels l USING (trial_id) WHERE t.run_id = r.run_id AND l.factor = ?) "
        "ORDER BY r.created_at DESC, r.run_id DESC"
    )
    return [str(row[0]) for row in connection.execute(text, [experiment, profile, AA]).fetchall()]


def rows(found: Iterable[Itself]) -> list[dict[str, Any]]:
    """Return A/A comparisons as rows of a table: ratios with their interval, the floor as a factor and in per cent."""
    return [
        {
            "cell": one.cell, "phase": one.phase, "metric": one.metric, "trials": one.ratio.trials,
            "ratio": one.ratio.value, "low": one.ratio.low, "high": one.ratio.high, "floor": one.factor,
            "percent": None if one.factor is None else 100 * (one.factor - 1), "reason": one.ratio.reason,
        }
        for one in found
    ]  # fmt: skip
