"""How long a plan takes: from trials that this machine has done, else from what the profile declares."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from benchbook.plan.plan import Plan
from benchbook.record.folder import TRIAL_FILE


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
