"""The noise floor that a report's verdicts are held against: that of this machine, from its A/A runs."""

from __future__ import annotations

import functools

from benchbook.analyse import noise
from benchbook.analyse.main_metric import is_main
from benchbook.report.results import Run


def floor(run: Run, cells: tuple[str, ...], phase: str, metric: str) -> float | None:
    """Return the larger floor of these cells as a factor; None where none of them has one."""
    known = known_floors(run)
    found = [known[name, phase, metric] for name in cells if (name, phase, metric) in known]
    return max(found, default=None)


@functools.cache
def known_floors(run: Run) -> dict[tuple[str, str, str], float]:
    """Return (cell, phase, metric) → floor, for the metrics that are compared; read once a run."""
    measured = run.frame("measurements").select("phase", "metric").unique().iter_rows()
    return noise.by_cell(
        run.results, run.run_id, [(phase, name) for phase, name in measured if is_main(name)]
    )
