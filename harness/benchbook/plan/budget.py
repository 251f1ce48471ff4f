"""Estimate how long a plan takes and how much disk it needs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from benchbook.declare.dataset import DevopsParameters, IotParameters
from benchbook.declare.workload import LoadOptions
from benchbook.plan.plan import Plan, phase_options, trial_dataset
from benchbook.record.folder import TRIAL_FILE

# How long a plan takes: from trials that this machine has done, else from what the profile declares.


def median_trial_seconds(results: Path, plan: Plan) -> dict[str, float]:
    """Return measured lengths of trials by cell, from earlier runs of the same experiment and profile."""
    found: dict[str, list[float]] = {}
    own = re.compile(
        re.escape(plan.experiment) + r"-\d{8}T\d{6}-[0-9a-f]{4}"
    )  # another's slug may begin with ours
    runs = sorted(path for path in (results / "runs").glob("*") if own.fullmatch(path.name))[-5:]
    for path in (file for run in runs for file in run.glob(f"trials/*/{TRIAL_FILE}")):
        try:
            trial = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if trial.get("profile") == plan.profile and trial.get("status") == "ok":
            found.setdefault(str(trial["cell"]), []).append(float(trial["duration_seconds"]))
    return {cell: sorted(lengths)[len(lengths) // 2] for cell, lengths in found.items()}


def estimate_seconds(results: Path, plan: Plan, skipped: Collection[str] = ()) -> float:
    """Return how long the plan takes: measured where this machine has done such trials, else as declared.

    Trials of systems that are ``skipped`` take no time.
    """
    measured = median_trial_seconds(results, plan)
    trials = (trial for trial in plan.trials if trial.levels["system"] not in skipped)
    return sum(measured.get(trial.cell, plan.trial_seconds) for trial in trials)


# How much a plan asks of a machine, told before it starts: hours, and bytes on disk at a time.

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
