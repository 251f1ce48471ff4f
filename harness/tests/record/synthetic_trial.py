"""The folder of one synthetic trial."""

from __future__ import annotations

import math
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.record import synthetic_facts, synthetic_lines
from tests.record.synthetic_facts import BYTES, QUERY_TYPES, ROWS, START, VALUES

LONGER_SECONDS = 1.5
"""Shortest recorded length of a timed phase: one under a second has no verdict."""
SPEED = {"duckdb": (400_000.0, 0.004), "sqlite": (180_000.0, 0.009), "influxdb-1.8.10": (90_000.0, 0.006)}
"""System → (rows loaded per second, seconds of the shortest query)."""


def write(
    folder: Path, run_id: str, experiment: str, profile: str, planned: dict[str, Any], seed: int,
    status: str, reason: str | None, instances: int, telemetry_seconds: int, intervals: int,
    wrong_answers_of: str | None,
) -> None:  # fmt: skip
    system = planned["levels"]["system"]
    chance = random.Random(f"{seed}/{planned['index']}")
    rate, shortest = SPEED.get(system, (100_000.0, 0.01))
    rate *= math.exp(chance.gauss(0, 0.03))
    shortest *= math.exp(chance.gauss(0, 0.04))
    started = START + timedelta(seconds=2 + 10 * planned["index"])
    measured: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    phases: list[dict[str, Any]] = []
    clock = 0.02

    def phase(name: str, workload: str | None, seconds: float, timed: bool) -> None:
        nonlocal clock
        phases.append(
            {
                "phase": name, "workload": workload, "position": len(phases),
                "started_seconds": round(clock, 6), "timed": timed,
                "duration_seconds": round(max(seconds, LONGER_SECONDS) if timed else seconds, 6),
            }
        )  # fmt: skip
        clock += seconds

    def measure(name: str, metric: str, value: float, unit: str, direction: str) -> None:
        measured.append(
            {"phase": name, "metric": metric, "value": value, "unit": unit, "direction": direction}
        )

    def shares(name: str, seconds: float) -> None:
        measure(name, "client_cpu_seconds", 0.3 * seconds, "s", "lower")
        measure(name, "server_cpu_seconds", 0.8 * seconds, "s", "lower")
        measure(name, "server_rss_peak_bytes", 180e6 * math.exp(chance.gauss(0, 0.02)), "B", "lower")
        measure(name, "client_cpu_fraction", 0.15, "1", "lower")
        measure(name, "server_read_bytes", 0.0, "B", "lower")
        measure(name, "server_write_bytes", 6e6, "B", "lower")
        measure(name, "machine_steal_fraction", 0.0, "1", "lower")

    answers: list[dict[str, Any]] = []
    telemetry: list[dict[str, Any]] = []
    start_seconds = 0.05 * math.exp(chance.gauss(0, 0.1))
    phase("start", None, start_seconds, False)
    if status != "skipped":
        load = ROWS / rate
        settle = 0.1 * load
        phase("prepare", None, 0.01, False)
        phase("load", "load", load, True)
        synthetic_lines.add_load(events, load, intervals, chance)
        measure("load", "rows_per_second", rate, "1/s", "higher")
        measure("load", "values_per_second", rate * VALUES / ROWS, "1/s", "higher")
        measure("load", "bytes_per_second", rate * BYTES / ROWS, "B/s", "higher")
        measure("load", "acknowledged_seconds", load, "s", "lower")
        measure("load", "settled_seconds", load + settle, "s", "lower")
        measure("load", "rows", ROWS, "1", "none")
        measure("load", "rows_refused", 0, "1", "lower")
        measure("load", "retries", 0, "1", "lower")
        shares("load", load)
        phase("settle", None, settle, False)
        phase("check", None, 0.02, False)
        for kind, longer in QUERY_TYPES.items():
            median = shortest * longer
            text, numbers = synthetic_lines.histogram(median, 200, chance.randrange(3))
            seconds = 200 * numbers[0]
            phase(kind, "query", seconds, True)
            synthetic_lines.add_query(events, kind, seconds, intervals, text, numbers)
            measure(kind, "queries_per_second", 200 / seconds, "1/s", "higher")
            for metric, value in zip(
                ("mean", "p50", "p90", "p95", "p99", "p999", "max"), numbers, strict=True
            ):
                measure(kind, f"latency_{metric}", value, "s", "lower")
            measure(kind, "queries", 200, "1", "none")
            measure(kind, "errors", 0, "1", "lower")
            shares(kind, seconds)
        phase("answers", None, 0.1, False)
        answers = synthetic_lines.answers(instances, wrong=system == wrong_answers_of)
        disk = 4.1e6 * (2.2 if system == "sqlite" else 1.0) * math.exp(chance.gauss(0, 0.002))
        measure("trial", "disk_bytes", disk, "B", "lower")
        measure("trial", "bytes_per_value", disk / VALUES, "B", "lower")
        telemetry = synthetic_lines.telemetry(telemetry_seconds, chance)
    phase("stop", None, 0.03, False)
    measure("trial", "start_seconds", start_seconds, "s", "lower")
    measure("trial", "overhead_fraction", 0.02 / clock, "1", "lower")
    folder.mkdir(parents=True, exist_ok=True)
    synthetic_lines.write(folder / "events.jsonl", events)
    synthetic_lines.write(folder / "telemetry.jsonl", telemetry)
    synthetic_lines.write(folder / "answers.jsonl", answers)
    synthetic_facts.write_json(
        folder / "trial.json",
        {
            "schema": 1,
            **{key: planned[key] for key in ("trial_id", "cell", "levels", "block", "position", "index")},
            "run_id": run_id, "experiment": experiment, "profile": profile,
            "system": system, "arm": planned["levels"]["arm"], "storage": planned["levels"]["storage"],
            "status": status, "reason": reason,
            "started_at": started.isoformat(), "ended_at": (started + timedelta(seconds=clock)).isoformat(),
            "duration_seconds": clock, "start_seconds": start_seconds, "overhead_seconds": 0.02,
            "version_reported": None if status == "skipped" else synthetic_facts.version(system),
            "program": synthetic_facts.program(system), "config_digest": synthetic_facts.digest("vanilla"),
            "dataset_digest": synthetic_facts.digest("devops"), "queries_digest": synthetic_facts.digest("queries"),
            "cache_state": "warm", "data_to_memory": BYTES / 25e9,
            "load_before": {"load1": 0.2, "load5": 0.3, "load15": 0.1},
            "phases": phases, "measurements": measured,
            "errors": [],
            "checks": [] if status == "skipped" else [
                {"kind": "rows", "name": "rows in cpu", "expected": ROWS, "found": ROWS, "ok": True},
                {"kind": "values", "name": "values in cpu.usage_user", "expected": ROWS // 9,
                 "found": ROWS // 9, "ok": True},
            ],
            "telemetry_cost_seconds": 0.004,
        },
    )  # fmt: skip
