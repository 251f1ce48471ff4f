"""What ``trial.json`` holds: the record that is made of a trial when it has ended."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchbook.host import memory
from benchbook.run import cache
from benchbook.run.context import program_name, program_record
from benchbook.run.neighbour import neighbours
from benchbook.workloads.measurement import Measurement

if TYPE_CHECKING:
    from benchbook.run.trial import Trial

SCHEMA = 1
"""Version of ``trial.json``."""


def record_of(
    trial: Trial, status: str, reason: str | None, started_at: datetime, load_before: dict[str, float]
) -> dict[str, Any]:
    """Return the record of a trial that ends now; adds what the harness measures of every trial."""
    planned, plan, found, timeline = trial.planned, trial.context.plan, trial.findings, trial.timeline
    start_seconds = timeline.seconds_of("start")
    duration = timeline.seconds()
    overhead = timeline.overhead_seconds()
    if trial.running:
        found.unmeasured["start_seconds"] = "the server was not started by this harness"
    elif status != "skipped":
        found.measurements.append(Measurement("trial", "start_seconds", start_seconds, "s", "lower"))
    if status != "skipped":
        found.measurements.append(
            Measurement("trial", "overhead_fraction", overhead / duration, "1", "lower")
        )
    return {
        "schema": SCHEMA,
        "trial_id": planned.trial_id,
        "run_id": plan.run_id,
        "experiment": plan.experiment,
        "profile": plan.profile,
        **{factor: str(planned.levels[factor]) for factor in ("system", "arm", "storage")},
        "cell": planned.cell,
        "levels": planned.levels,
        "block": planned.block,
        "position": planned.position,
        "index": planned.index,
        "status": status,
        "reason": reason,
        "started_at": started_at.isoformat(timespec="milliseconds"),
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "duration_seconds": duration,
        "start_seconds": None if trial.running else start_seconds,
        "overhead_seconds": overhead,
        "version_reported": trial.version,
        "program": program_record(trial.context.programs[program_name(planned)]),
        "config_digest": None if trial.running else trial.config_digest,
        "storage_facts": trial.storage_facts,
        "dataset_digest": f"sha256:{trial.digest['sha256']}",
        "queries_digest": trial.context.queries_digest(),
        "cache_state": cache.of_trial(cache.seen(found.cache_states, found.measurements)),
        "data_to_memory": float(trial.digest["bytes"])
        / min(memory.machine_bytes(), trial.limits.memory_bytes or math.inf),
        "confinement": trial.confined.as_dict() if trial.confined else None,
        "load_before": {**load_before, "other_runs": len(neighbours())},
        "phases": [entry.as_dict() for entry in timeline.phases],
        "measurements": [measurement.as_dict() for measurement in found.measurements],
        "errors": found.errors,
        "unmeasured": found.unmeasured,
        "checks": found.checks,
        "telemetry_cost_seconds": trial.telemetry.cost_seconds if trial.telemetry else 0.0,
    }
