"""Write a synthetic run with given cells and values, and enter it into the database."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from benchbook.declare.experiment import Experiment
from benchbook.record import seal
from benchbook.record.database import rebuild

FIXTURES = Path(__file__).parent / "experiments"
PUBLISHED = Path(__file__).parents[3] / "datasets" / "published"
MACHINE = "0123456789abcdef"

Value = Callable[[dict[str, Any], int], Mapping[tuple[str, str], float]]
"""(levels, block) → (phase, metric) → value."""


def experiment(name: str, **changes: Any) -> dict[str, Any]:
    """Return a fixture's declaration as run.json keeps it."""
    data = tomllib.loads((FIXTURES / name / "experiment.toml").read_text())
    return Experiment.model_validate({**data, **changes}).model_dump(mode="json")


def write(
    results: Path,
    run_id: str,
    factors: Mapping[str, list[Any]],
    value: Value,
    *,
    declared: dict[str, Any] | None = None,
    name: str = "cnos-vs-influx",
    blocks: int = 5,
    profile: str = "quick",
    created: str = "2026-03-01T09:30:00+00:00",
    status: Callable[[dict[str, Any], int], tuple[str, str | None]] = lambda levels, block: ("ok", None),
    errors: Callable[[dict[str, Any], int], list[dict[str, Any]]] = lambda levels, block: [],
    changes: Callable[[dict[str, Any]], dict[str, Any]] = lambda levels: {},
    answers: Callable[[dict[str, Any]], list[dict[str, Any]]] | None = None,
    checks: Callable[[dict[str, Any], int], list[dict[str, Any]]] = lambda levels, block: [],
    seconds: Callable[[dict[str, Any], int], float] | None = None,
    measured_although: Collection[str] = ("ok",),
    without: Callable[[dict[str, Any]], bool] = lambda levels: False,
    host: dict[str, Any] | None = None,
    programs: dict[str, Any] | None = None,
    systems: dict[str, Any] | None = None,
    plan: dict[str, Any] | None = None,
    database: bool = True,
    own: bool = True,
) -> str:
    """Write plan.json, run.json and the trials; return the run's id.

    ``seconds``: how long the load of a trial lasted. ``measured_although``: statuses of trials that have values.
    ``without``: combinations of levels that are left out. ``own``: the user of the test began it.
    """
    run = results / "runs" / run_id
    planned = []
    cells = [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]
    cells = [levels for levels in cells if not without(levels)]
    for block, levels in itertools.product(range(blocks), cells):
        index = len(planned)
        cell = ",".join(f"{factor}={level}" for factor, level in levels.items())
        planned.append(
            {"trial_id": f"{run_id}/{index:04d}", "index": index, "block": block, "position": index % len(cells),
             "cell": cell, "levels": levels}
        )  # fmt: skip
    facts = {"schema": 1, "run_id": run_id, "experiment": name, "title": name, "profile": profile,
             "order_seed": 1, "created_at": created}  # fmt: skip
    _json(
        run / "plan.json",
        {**facts, "trials": planned, "phases": [], "trials_per_cell": blocks, "dataset": {}, **(plan or {})},
    )
    _json(
        run / "run.json",
        {**facts, "question": "?", "started_at": created, "finished_at": created, "argv": [],
         "provenance": {"benchbook_version": "0.1.0", "dataset_digest": "d", "experiment_digest": "e"},
         "host": {"machine": {"id": MACHINE}, "cpu": {"usable_cores": 2, "model": "Synthetic"},
                  "memory": {"total_bytes": 25_000_000_000}, **(host or {})},
         "controls": [], "dataset": {"name": "devops", "rows": 10}, "programs": programs or {}, "calibration": [],
         "declared": {"systems": systems or {}, "experiment": declared or {}}},
    )  # fmt: skip
    if own:
        seal.seal_plan(run, (run / "plan.json").read_bytes())
    for trial in planned:
        levels, block = trial["levels"], trial["block"]
        said, reason = status(levels, block)
        measured = [
            {"phase": phase, "metric": metric, "value": number, "unit": "1/s" if "per_second" in metric else "s",
             "direction": "higher" if "per_second" in metric else "lower"}
            for (phase, metric), number in (value(levels, block) if said in measured_although else {}).items()
        ]  # fmt: skip
        place = run / "trials" / f"{trial['index']:04d}"
        phases = [{"phase": "q", "workload": "query", "position": 0, "started_seconds": 0.0, "duration_seconds": 1.0,
                   "timed": True}] if answers else []  # fmt: skip
        if seconds is not None:
            phases.append(
                {"phase": "load", "workload": "load", "position": 1, "started_seconds": 1.0, "timed": True,
                 "duration_seconds": seconds(levels, block)}
            )  # fmt: skip
        place.mkdir(parents=True)
        for file, lines in (
            ("events", []),
            ("telemetry", []),
            ("answers", answers(levels) if answers else []),
        ):
            (place / f"{file}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        _json(
            place / "trial.json",
            {"schema": 1, **trial, "run_id": run_id, "experiment": name, "profile": profile,
             "system": str(levels["system"]), "arm": str(levels.get("arm", "vanilla")), "storage": "local",
             "status": said, "reason": reason, "started_at": created, "ended_at": created, "duration_seconds": 1.0,
             "dataset_digest": "d", "queries_digest": "q", "config_digest": f"c-{levels['system']}",
             "version_reported": "1.0", "phases": phases, "measurements": measured,
             "checks": checks(levels, block),
             "errors": errors(levels, block) if said in measured_although else [], **changes(levels)},
        )  # fmt: skip
    if database:
        rebuild(results)
    return run_id


def _json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content) + "\n")
