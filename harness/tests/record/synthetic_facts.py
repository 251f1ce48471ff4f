"""Facts of a synthetic run: plan.json, run.json, declarations and programs."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

QUERY_TYPES = {"1-host-1-hr": 1.0, "1-host-12-hr": 6.0, "8-host-1-hr": 5.0, "groupby": 14.0}
"""Query type → its latency relative to the first."""
ROWS = 32_400
VALUES = 363_600
BYTES = 9_100_000
START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def plan(
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


def facts(
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
            "lock_digest": digest("lock"),
            "flake_lock_digest": None,
            "benchload": {"version": "0.1.0", "digest": digest("benchload")},
            "python": "3.11.7",
            "experiment_digest": digest(experiment),
            "dataset_digest": digest("devops"),
            "queries_digest": digest(queries),
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
            "name": "devops", "generator": "devops", "seed": 1, "sha256": digest("devops").removeprefix("sha256:"),
            "rows": ROWS, "values": VALUES, "bytes": BYTES,
        },
        "programs": {system: program(system) for system in systems},
        "calibration": [
            {
                "v": 1, "type": "summary", "workload": "load", "rows": ROWS, "rows_per_second": 1_900_000.0,
                "duration_ns": 2_000_000_000,
                "operations_per_second": 380.0, "errors": 0,
            },
        ],
        "declared": {
            "systems": {
                system: {"title": title(system), "version": version(system), "durability": durability}
                for system in systems
            },
            "experiment": {"name": experiment, "title": "Quickstart: two embedded systems"},
        },
    }  # fmt: skip


def declare(run: Path, experiment: str, systems: tuple[str, ...]) -> None:
    folder = run / "declared"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.toml").write_text(
        f'name = "{experiment}"\ntitle = "Quickstart: two embedded systems"\n'
    )
    (folder / "dataset-devops.toml").write_text(
        'name = "devops"\ngenerator = "devops"\nfloat_tolerance = 1e-9\n'
    )
    for system in systems:
        (folder / f"system-{system}.toml").write_text(f'name = "{system}"\ntitle = "{title(system)}"\n')


def program(system: str) -> dict[str, Any]:
    return {
        "version": version(system),
        "source": "go" if system.startswith("influxdb") else "python",
        "path": f"bin/{system}" if system.startswith("influxdb") else None,
        "url": None,
        "digest": digest(system),
        "detail": "official Python binding of the locked environment",
    }


def version(system: str) -> str:
    return title(system).rpartition(" ")[2]


def title(system: str) -> str:
    return {"duckdb": "DuckDB 1.5.6", "sqlite": "SQLite 3.45.1", "influxdb-1.8.10": "InfluxDB 1.8.10"}.get(
        system, system
    )


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")
