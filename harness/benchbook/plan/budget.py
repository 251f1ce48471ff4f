"""Estimate how long a plan takes and how much disk it needs, before it starts."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.declare.dataset import DevopsParameters, IotParameters
from benchbook.declare.level import Setting
from benchbook.plan.factors import AA
from benchbook.plan.plan import Plan, trial_dataset
from benchbook.record.folder import PLAN_FILE, TRIAL_FILE, read_object

BYTES_PER_ROW = 100
"""Bytes on disk per row during a load, log and data together: half in line protocol, rounded up."""
ROWS_PER_SECOND = 2_000_000
"""Rows of a load per second at most, which benchload generates on few cores. The profile estimates its own rows."""
LATEST = 5
"""Earlier runs whose trials count for the time of a plan."""
LONG_HOURS = 2.0
LARGE_BYTES = 20 * 10**9


def median_trial_seconds(results: Path, plan: Plan) -> dict[str, float]:
    """Return the median length of a trial by cell, from the latest runs that did the same work.

    These have the same dataset and phases, whatever their profile, and whatever else their experiment declares. Trials
    of A/A runs count too.
    """
    found: dict[str, list[float]] = {}
    # Match the whole name, because the slug of another experiment may begin with this one's.
    run_id = re.compile(re.escape(plan.experiment) + r"-\d{8}T\d{6}-[0-9a-f]{4}")
    runs = sorted(path for path in (results / "runs").glob("*") if run_id.fullmatch(path.name))
    wanted = _work(json.loads(plan.text()))
    alike = [path for path in runs if _work(_read(path / PLAN_FILE)) == wanted][-LATEST:]
    for trial in (_read(file) for run in alike for file in run.glob(f"trials/*/{TRIAL_FILE}")):
        with contextlib.suppress(KeyError, TypeError, ValueError):
            if trial["status"] == "ok":
                found.setdefault(_alone(trial["cell"]), []).append(float(trial["duration_seconds"]))
    medians = {cell: sorted(lengths)[len(lengths) // 2] for cell, lengths in found.items()}
    return {cell: medians[_alone(cell)] for cell in plan.cells() if _alone(cell) in medians}


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_object(path)
    except ValueError:
        return {}


def _work(planned: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what each trial of a plan does: its dataset and its phases."""
    return planned.get("dataset"), planned.get("phases")


def _alone(cell: str) -> str:
    """Return the name of a cell without the label of an A/A run."""
    return ",".join(part for part in cell.split(",") if not part.startswith(f"{AA}="))


def estimate_seconds(results: Path, plan: Plan, skipped: Collection[str] = ()) -> float:
    """Return the expected length of the plan, from earlier trials in these results, else from the profile's estimate.

    Trials of ``skipped`` systems take no time.
    """
    measured = median_trial_seconds(results, plan)
    cells = {trial.cell: trial.levels for trial in plan.trials}
    seconds = {
        cell: measured.get(cell) or max(plan.trial_seconds, _loaded_rows(plan, levels) / ROWS_PER_SECOND)
        for cell, levels in cells.items()
    }
    return sum(seconds[trial.cell] for trial in plan.trials if trial.levels["system"] not in skipped)


def _loaded_rows(plan: Plan, levels: dict[str, Setting]) -> int:
    """Return the rows that a trial loads whole, in all its databases; 0 if a duration ends its loads."""
    parameters = trial_dataset(plan, levels).typed()
    if not isinstance(parameters, DevopsParameters | IotParameters):
        return 0
    options = (phase.replaced(levels) for phase in plan.phases if phase.done_at(levels))
    return parameters.rows() * sum(one.copies() for one in options if not getattr(one, "duration", None))


def largest_bytes(plan: Plan) -> float:
    """Return the bytes on disk of the largest trial; each trial removes its data at its end."""
    largest = 0.0
    for trial in plan.trials:
        parameters = trial_dataset(plan, trial.levels).typed()
        if not isinstance(parameters, DevopsParameters | IotParameters):
            continue
        options = [phase.replaced(trial.levels) for phase in plan.phases]
        loads = sum(one.copies() for one in options)
        largest = max(largest, float(parameters.rows() * loads * BYTES_PER_ROW))
    return largest


@dataclass(frozen=True)
class Magnitude:
    """Estimated time and disk space of a plan."""

    hours: float
    disk_bytes: float
    """Bytes of the largest trial."""

    @property
    def large(self) -> bool:
        """True if a run asks for confirmation before it starts."""
        return self.hours > LONG_HOURS or self.disk_bytes > LARGE_BYTES

    def text(self) -> str:
        """Return the estimate as text; disk below 100 MB is not mentioned.

        >>> Magnitude(1.2e7, 7.02e19).text()
        'about 1,369 years and 70,200 PB of disk'
        >>> Magnitude(30.2, 22.7e9).text(), Magnitude(0.05, 1e6).text(), Magnitude(0.007, 0).text()
        ('about 30 hours and 23 GB of disk', 'about 3 minutes', 'about 25 seconds')
        """
        minutes = self.hours * 60
        time = (
            f"{self.hours / 8766:,.0f} years" if self.hours >= 2 * 8766
            else f"{self.hours / 24:,.0f} days" if self.hours >= 1000
            else f"{self.hours:.0f} hours" if self.hours >= 2
            else f"{minutes:.0f} minutes" if minutes >= 2
            else f"{minutes * 60:.0f} seconds"
        )  # fmt: skip
        disk = f" and {_size(self.disk_bytes)} of disk"
        return f"about {time}{disk if self.disk_bytes >= 1e8 else ''}"


def _size(size: float) -> str:
    """Return bytes in a unit with few digits.

    >>> _size(3e8), _size(22.7e9), _size(4e13)
    ('0.3 GB', '23 GB', '40 TB')
    """
    exponent, unit = next(
        (held for held in ((15, "PB"), (12, "TB")) if size >= 10 ** (held[0] + 1)), (9, "GB")
    )
    amount = size / 10**exponent
    return f"{amount:,.{0 if amount >= 1 else 1}f} {unit}"


def magnitude(results: Path, plan: Plan) -> Magnitude:
    """Return how long a plan takes and how much disk it needs."""
    return Magnitude(estimate_seconds(results, plan) / 3600, largest_bytes(plan))
