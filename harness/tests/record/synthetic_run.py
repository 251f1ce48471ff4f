"""Write a realistic run that nobody ran: 2 systems in 3 blocks, with phases, histograms, telemetry, answers.

Tests and authors of reports use it: ``write(results)`` in a test, or as a script
``python harness/tests/record/synthetic_run.py RESULTS_DIR``. Same options, same numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

QUERY_TYPES = {"1-host-1-hr": 1.0, "1-host-12-hr": 6.0, "8-host-1-hr": 5.0, "groupby": 14.0}
"""Types of the suite, with how much longer each takes than the first."""
SPEED = {"duckdb": (400_000.0, 0.004), "sqlite": (180_000.0, 0.009), "influxdb-1.8.10": (90_000.0, 0.006)}
"""System → (rows loaded per second, seconds of the shortest query)."""
ROWS = 32_400
VALUES = 363_600
BYTES = 9_100_000
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def write(
    results: Path,
    *,
    systems: tuple[str, ...] = ("duckdb", "sqlite"),
    blocks: int = 3,
    seed: int = 1,
    experiment: str = "quickstart",
    profile: str = "quick",
    run_id: str | None = None,
    finished: bool = True,
    trials: int | None = None,
    status: dict[int, tuple[str, str]] | None = None,
    instances: int = 20,
    telemetry_seconds: int = 8,
    intervals: int = 6,
    wrong_answers_of: str | None = None,
    batch_sizes: tuple[int, ...] = (5000,),
    database: bool = False,
) -> str:
    """Write plan.json, run.json, the declarations and the trial folders of one run; return its run_id.

    ``trials``: only so many trials of the plan (an unfinished run); ``status``: trial index →
    (status, reason); ``wrong_answers_of``: a system whose answers differ in one value; ``batch_sizes``: levels of a
    second factor, each a cell of its own;
    ``database``: also make results/benchbook.duckdb from the folders.
    """
    order = random.Random(seed)
    run_id = run_id or f"{experiment}-{START:%Y%m%dT%H%M%S}-{order.randrange(16**4):04x}"
    run = results / "runs" / run_id
    planned = []
    for block in range(blocks):
        shuffled = [(system, batch_size) for batch_size in batch_sizes for system in systems]
        order.shuffle(shuffled)
        for position, (system, batch_size) in enumerate(shuffled):
            index = len(planned)
            planned.append(
                {
                    "trial_id": f"{run_id}/{index:04d}",
                    "index": index,
                    "block": block,
                    "position": position,
                    "cell": f"system={system}"
                    + (f",batch_size={batch_size}" if len(batch_sizes) > 1 else ""),
                    "levels": {
                        "system": system,
                        "arm": "vanilla",
                        "storage": "local",
                        "batch_size": batch_size,
                    },
                }
            )
    _json(run / "plan.json", _plan(run_id, experiment, profile, seed, planned, blocks))
    _declared(run, experiment, systems)
    (run / "queries").mkdir(parents=True, exist_ok=True)
    queries = ""
    for kind in QUERY_TYPES:
        lines = "".join(json.dumps({"id": number, "query_type": kind}) + "\n" for number in range(instances))
        (run / "queries" / f"{kind}.jsonl").write_text(lines)
        queries += lines
    _json(run / "run.json", _run(run_id, experiment, profile, seed, systems, len(planned), finished, queries))
    for trial in planned[:trials]:
        number = int(str(trial["index"]))
        state, reason = (status or {}).get(number, ("ok", None))
        _trial(
            run / "trials" / f"{number:04d}", run_id, experiment, profile, trial, seed,
            state, reason, instances, telemetry_seconds, intervals, wrong_answers_of,
        )  # fmt: skip
    if database:
        from benchbook.record import rebuild

        rebuild.rebuild(results)
    return run_id


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _plan(
    run_id: str, experiment: str, profile: str, seed: int, planned: list[dict[str, Any]], blocks: int
) -> dict[str, Any]:
    return {
        "schema": 1,
        "run_id": run_id,
        "experiment": experiment,
        "title": "Quickstart: two embedded systems",
        "profile": profile,
        "order_seed": seed,
        "created_at": START.isoformat(),
        "trials": planned,
        "phases": [
            {"name": "load", "workload": "load", "options": {"batch_size": 5000, "workers": 1}},
            *({"name": kind, "workload": "query", "options": {"workers": 1}} for kind in QUERY_TYPES),
        ],
        "dataset": {
            "name": "devops",
            "generator": "devops",
            "seed": 1,
            "parameters": {
                "scale": 10,
                "start": "2026-01-01T00:00:00Z",
                "end": "2026-01-01T01:00:00Z",
                "interval": "10s",
            },
        },
        "trials_per_cell": blocks,
        "estimate_seconds": 9.0 * len(planned),
    }


def _declared(run: Path, experiment: str, systems: tuple[str, ...]) -> None:
    folder = run / "declared"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.toml").write_text(
        f'name = "{experiment}"\ntitle = "Quickstart: two embedded systems"\n'
    )
    (folder / "dataset-devops.toml").write_text(
        'name = "devops"\ngenerator = "devops"\nfloat_tolerance = 1e-9\n'
    )
    for system in systems:
        (folder / f"system-{system}.toml").write_text(f'name = "{system}"\ntitle = "{_title(system)}"\n')


def _title(system: str) -> str:
    return {"duckdb": "DuckDB 1.5.6", "sqlite": "SQLite 3.45.1", "influxdb-1.8.10": "InfluxDB 1.8.10"}.get(
        system, system
    )


def _version(system: str) -> str:
    return _title(system).rpartition(" ")[2]


def _program(system: str) -> dict[str, Any]:
    return {
        "version": _version(system),
        "source": "go" if system.startswith("influxdb") else "python",
        "path": f"bin/{system}" if system.startswith("influxdb") else None,
        "url": None,
        "digest": _digest(system),
        "detail": "official Python binding of the locked environment",
    }


def _run(
    run_id: str, experiment: str, profile: str, seed: int,
    systems: tuple[str, ...], planned: int, finished: bool, queries: str,
) -> dict[str, Any]:  # fmt: skip
    durability = {
        "fsync": "at every commit",
        "wal": "on",
        "replication": "none",
        "compression": "the system's own",
    }
    return {
        "schema": 1,
        "run_id": run_id,
        "experiment": experiment,
        "title": "Quickstart: two embedded systems",
        "question": "Which of two embedded systems loads and queries a fleet's metrics faster on this machine?",
        "profile": profile,
        "order_seed": seed,
        "created_at": START.isoformat(),
        "started_at": (START + timedelta(seconds=2)).isoformat(),
        "finished_at": (START + timedelta(seconds=2 + 10 * planned)).isoformat() if finished else None,
        "argv": ["bench", "run", experiment],
        "provenance": {
            "benchbook_version": "0.1.0",
            "git_revision": "0123456789abcdef0123456789abcdef01234567",
            "git_dirty": False,
            "lock_digest": _digest("lock"),
            "flake_lock_digest": None,
            "benchload": {"version": "0.1.0", "digest": _digest("benchload")},
            "python": "3.11.7",
            "experiment_digest": _digest(experiment),
            "dataset_digest": _digest("devops"),
            "queries_digest": _digest(queries),
        },
        "host": {
            "cpu": {"model": "Synthetic CPU", "cores": 2, "threads": 2, "governor": "performance", "smt": False},
            "kernel": "6.8.0",
            "memory": {"bytes": 25_000_000_000, "limit_bytes": None},
            "filesystem": {"type": "ext4", "options": "rw,relatime", "device": "vda"},
            "virtualisation": "kvm",
        },
        "controls": [
            {"control": "governor", "state": "controlled", "found": "performance", "fix": ""},
            {"control": "turbo", "state": "not controlled", "found": "on", "fix": "Switch turbo off in the firmware."},
            {"control": "other load", "state": "unknown", "found": "not readable", "fix": "Stop other programs."},
        ],
        "dataset": {
            "name": "devops", "generator": "devops", "seed": 1, "sha256": _digest("devops").removeprefix("sha256:"),
            "rows": ROWS, "values": VALUES, "bytes": BYTES,
        },
        "programs": {system: _program(system) for system in systems},
        "calibration": [
            {
                "v": 1, "type": "summary", "workload": "load", "rows": ROWS, "rows_per_second": 1_900_000.0,
                "operations_per_second": 380.0, "errors": 0,
            },
        ],
        "declared": {
            "systems": {
                system: {"title": _title(system), "version": _version(system), "durability": durability}
                for system in systems
            },
            "experiment": {"name": experiment, "title": "Quickstart: two embedded systems"},
        },
    }  # fmt: skip


def _histogram(median: float, count: int, seed: int) -> tuple[str, tuple[float, ...]]:
    """A log-normal histogram with about that median (s) and its mean, p50 … max (s)."""
    return _drawn(float(f"{median:.1e}"), count, seed % 3)  # encoding is slow: draw few different ones


@cache
def _drawn(median: float, count: int, seed: int) -> tuple[str, tuple[float, ...]]:
    histogram = HdrHistogram(1000, 3_600_000_000_000, 3)
    chance = random.Random(seed)
    for _ in range(count):
        histogram.record_value(int(1e9 * median * math.exp(chance.gauss(0, 0.25))))
    numbers = [histogram.get_mean_value() / 1e9]
    numbers += [histogram.get_value_at_percentile(p) / 1e9 for p in (50, 90, 95, 99, 99.9, 100)]
    return histogram.encode().decode(), tuple(numbers)


def _trial(
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
                "started_seconds": round(clock, 6), "duration_seconds": round(seconds, 6), "timed": timed,
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
        _load_events(events, load, intervals, chance)
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
            text, numbers = _histogram(median, 200, chance.randrange(3))
            seconds = 200 * numbers[0]
            phase(kind, "query", seconds, True)
            _query_events(events, kind, seconds, intervals, text, numbers)
            measure(kind, "queries_per_second", 200 / seconds, "1/s", "higher")
            for metric, value in zip(
                ("mean", "p50", "p90", "p95", "p99", "p999", "max"), numbers, strict=True
            ):
                measure(kind, f"latency_{metric}", value, "s", "lower")
            measure(kind, "queries", 200, "1", "none")
            measure(kind, "errors", 0, "1", "lower")
            shares(kind, seconds)
        phase("answers", None, 0.1, False)
        answers = _answers(instances, wrong=system == wrong_answers_of)
        disk = 4.1e6 * (2.2 if system == "sqlite" else 1.0) * math.exp(chance.gauss(0, 0.002))
        measure("trial", "disk_bytes", disk, "B", "lower")
        measure("trial", "bytes_per_value", disk / VALUES, "B", "lower")
        telemetry = _telemetry(telemetry_seconds, chance)
    phase("stop", None, 0.03, False)
    measure("trial", "start_seconds", start_seconds, "s", "lower")
    measure("trial", "overhead_fraction", 0.02 / clock, "1", "lower")
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "events.jsonl", events)
    _lines(folder / "telemetry.jsonl", telemetry)
    _lines(folder / "answers.jsonl", answers)
    _json(
        folder / "trial.json",
        {
            "schema": 1,
            **{key: planned[key] for key in ("trial_id", "cell", "levels", "block", "position", "index")},
            "run_id": run_id, "experiment": experiment, "profile": profile,
            "system": system, "arm": planned["levels"]["arm"], "storage": planned["levels"]["storage"],
            "status": status, "reason": reason,
            "started_at": started.isoformat(), "ended_at": (started + timedelta(seconds=clock)).isoformat(),
            "duration_seconds": clock, "start_seconds": start_seconds, "overhead_seconds": 0.02,
            "version_reported": None if status == "skipped" else _version(system),
            "program": _program(system), "config_digest": _digest("vanilla"),
            "dataset_digest": _digest("devops"), "queries_digest": _digest("queries"),
            "cache_state": "warm", "data_to_memory": BYTES / 25e9,
            "load_before": {"load1": 0.2, "load5": 0.3, "load15": 0.1},
            "phases": phases, "measurements": measured,
            "errors": [],
            "checks": [] if status == "skipped" else [
                {"name": "rows", "expected": ROWS, "found": ROWS, "ok": True},
                {"name": "values of cpu.usage_user", "expected": ROWS // 9, "found": ROWS // 9, "ok": True},
            ],
            "telemetry_cost_seconds": 0.004,
        },
    )  # fmt: skip


def _interval(
    phase: str, operation: str, index: int, seconds: float, count: int, **done: Any
) -> dict[str, Any]:
    length = seconds / count
    return {
        "phase": phase, "v": 1, "type": "interval", "operation": operation, "index": index,
        "start_ns": int(1e9 * index * length), "duration_ns": int(1e9 * length),
        "operations": 0, "rows": 0, "values": 0, "bytes": 0, "errors": 0, **done,
    }  # fmt: skip


def _whole(phase: str, operation: str, count: int, text: str, numbers: tuple[float, ...]) -> dict[str, Any]:
    return {
        "phase": phase, "v": 1, "type": "histogram", "operation": operation, "kind": "service", "unit": "ns",
        "count": count, "min_ns": int(0.3e9 * numbers[0]), "mean_ns": 1e9 * numbers[0],
        "max_ns": int(1e9 * numbers[-1]), "encoded": text,
    }  # fmt: skip


def _load_events(events: list[dict[str, Any]], seconds: float, count: int, chance: random.Random) -> None:
    events.append(
        {"phase": "load", "v": 1, "type": "start", "workload": "load", "workers": 1, "batch_rows": 5000}
    )
    for number in range(count):
        text, _ = _histogram(0.012, 40, chance.randrange(3))
        done = {"operations": 40, "rows": ROWS // count, "values": VALUES // count, "bytes": BYTES // count}
        events.append(_interval("load", "write", number, seconds, count, **done, histogram=text))
    events.append(_whole("load", "write", 240, *_histogram(0.012, 240, 1)))
    events.append(
        {
            "phase": "load", "v": 1, "type": "summary", "workload": "load", "duration_ns": int(1e9 * seconds),
            "operations": 240, "rows": ROWS, "values": VALUES, "bytes": BYTES, "errors": 0,
        }
    )  # fmt: skip


def _query_events(
    events: list[dict[str, Any]], kind: str, seconds: float, count: int, text: str, numbers: tuple[float, ...]
) -> None:
    events.append(
        {"phase": kind, "v": 1, "type": "start", "workload": "query", "workers": 1, "operations": 200}
    )
    events.append(_whole(kind, "warmup", 10, *_histogram(2 * numbers[1], 10, 0)))
    for number in range(count):
        part = _histogram(numbers[1], 200 // count, number)[0]
        events.append(
            _interval(kind, "query", number, seconds, count, operations=200 // count, histogram=part)
        )
    events.append(_whole(kind, "query", 200, text, numbers))
    events.append(
        {
            "phase": kind, "v": 1, "type": "summary", "workload": "query", "duration_ns": int(1e9 * seconds),
            "operations": 200, "errors": 0,
        }
    )  # fmt: skip


@cache
def _answer(kind: str, number: int) -> tuple[tuple[int, str, float], ...]:
    chance = random.Random(f"{kind}/{number}")
    begin = 1_767_225_600_000_000_000 + chance.randrange(3600) * 1_000_000_000
    return tuple(
        (begin + minute * 60_000_000_000, f"host_{number % 10}", chance.uniform(0, 100))
        for minute in range(5)
    )


def _answers(instances: int, *, wrong: bool) -> list[dict[str, Any]]:
    made = []
    for kind in QUERY_TYPES:
        for number in range(instances):
            rows = [list(row) for row in _answer(kind, number)]
            if wrong and number == 3:
                rows[2][2] = float(rows[2][2]) + 0.5
            made.append(
                {
                    "phase": "answers", "v": 1, "type": "answer", "id": number, "query_type": kind,
                    "columns": ["time_ns", "host", "max_usage_user"], "rows": rows,
                }
            )  # fmt: skip
    return made


def _telemetry(seconds: int, chance: random.Random) -> list[dict[str, Any]]:
    samples = []
    for second in range(seconds):
        phase = "load" if second == 0 else "groupby"
        for scope, metric, value, unit in (
            ("server", "cpu_user_seconds", second * 0.7, "s"),
            ("server", "cpu_system_seconds", second * 0.1, "s"),
            ("server", "rss_bytes", 120e6 + 8e6 * second, "B"),
            ("server", "read_bytes", 0.0, "B"),
            ("server", "write_bytes", 1e6 * second, "B"),
            ("client", "cpu_user_seconds", second * 0.3, "s"),
            ("client", "rss_bytes", 60e6, "B"),
            ("machine", "cpu_steal_seconds", 0.01 * second, "s"),
            ("machine", "psi_cpu_some_seconds", second * chance.uniform(0, 0.05), "s"),
            ("harness", "cpu_user_seconds", second * 0.001, "s"),
        ):
            samples.append(
                {
                    "phase": phase, "seconds": second + 0.5, "scope": scope, "metric": metric,
                    "value": value, "unit": unit,
                }
            )  # fmt: skip
    return samples


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python synthetic_run.py RESULTS_DIR")
    print(write(Path(sys.argv[1]), database=True))
