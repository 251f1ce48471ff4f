"""How much a plan asks of a machine, told before it starts: hours, and bytes on disk at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchbook.declare.devops import DevopsParameters
from benchbook.declare.iot import IotParameters
from benchbook.declare.workload import LoadOptions
from benchbook.plan.plan import Plan, trial_dataset
from benchbook.run.estimate import estimate_seconds
from benchbook.run.options import phase_options

BYTES_PER_ROW = 100
"""What a row takes on disk while it is loaded, log and data together: half of it in line protocol, rounded up."""
LONG_HOURS = 2.0
LARGE_BYTES = 20 * 10**9


@dataclass(frozen=True)
class Magnitude:
    """The estimate of a plan."""

    hours: float
    disk_bytes: float
    """Of the largest trial; each trial removes its data before the next."""

    @property
    def large(self) -> bool:
        """Whether it is asked for before it is done."""
        return self.hours > LONG_HOURS or self.disk_bytes > LARGE_BYTES

    def words(self) -> str:
        """Return the estimate in words.

        >>> Magnitude(30.2, 22.7e9).words()
        'about 30 hours and 23 GB of disk'
        """
        time = f"{self.hours:.0f} hours" if self.hours >= 2 else f"{self.hours * 60:.0f} minutes"
        return f"about {time} and {self.disk_bytes / 1e9:.0f} GB of disk"


def magnitude(results: Path, plan: Plan) -> Magnitude:
    """Return what a plan asks for: hours as ``estimate_seconds`` has them, disk from the rows that it loads."""
    largest = 0.0
    for trial in plan.trials:
        parameters = trial_dataset(plan, trial.levels).typed()
        if not isinstance(parameters, DevopsParameters | IotParameters):
            continue
        options = [phase_options(phase, trial.levels) for phase in plan.phases]
        loads = sum(one.clients for one in options if isinstance(one, LoadOptions))
        largest = max(largest, float(parameters.rows() * loads * BYTES_PER_ROW))
    return Magnitude(estimate_seconds(results, plan) / 3600, largest)
