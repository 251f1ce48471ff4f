"""The noise floor that a report's verdicts are held against: that of this machine, from its A/A runs."""

from __future__ import annotations

import functools

from benchbook.analyse import noise
from benchbook.analyse.main_metric import is_main
from benchbook.analyse.observed import observe
from benchbook.report.results import Run


def floor(run: Run, cells: tuple[str, ...], phase: str, metric: str) -> float | None:
    """Return the larger floor of these cells as a factor; None where none of them has one."""
    known = known_floors(run)
    found = [known[name, phase, metric] for name in cells if (name, phase, metric) in known]
    return max(found, default=None)


def known_floors(run: Run) -> dict[tuple[str, str, str], float]:
    """Return (cell, phase, metric) → floor, for the metrics that are compared."""
    return _read(run)[0]


def sources(run: Run) -> list[str]:
    """Return the A/A runs that the floors come from, by name."""
    return _read(run)[1]


@functools.cache
def _read(run: Run) -> tuple[dict[tuple[str, str, str], float], list[str]]:
    """Read the floors and where they come from, once a run."""
    measured = run.frame("measurements").select("phase", "metric").unique().iter_rows()
    pairs = [(phase, name) for phase, name in measured if is_main(name)]
    observed = observe(run.results, run.run_id, pairs)
    found = noise.floors(run.results, observed, pairs)
    return noise.of_cells(observed, found), found.runs
