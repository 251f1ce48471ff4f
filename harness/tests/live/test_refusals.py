"""A refusal that an experiment expects is counted and shown; the trial is ok. One that it does not expect fails it.

The real InfluxDB with its cache limit lowered, so that it answers as it did in the publication.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from bench import bench, need_benchload, rows

ROOT = Path(__file__).resolve().parents[3]
PARTS = ("benchload", "datasets", "docs", "experiments", "reports", "storage", "systems")
LOWERED = """
[arms.lowered]
description = "A cache of 2 MB that is not written out in time: for tests."
[arms.lowered.settings]
"data.cache-max-memory-size" = 2000000
"data.cache-snapshot-memory-size" = 1900000
[arms.lowered.durability]
fsync = "yes"
wal = "yes"
replication = "none"
compression = "yes"
"""
RUN = [
    "run", "cnos-vs-influx", "--profile", "smoke",
    "--set", "system=influxdb-1.8.10", "--set", "arm=lowered", "--set", "clients=2", "--set", "workers=4",
    "--set", "batch_size=20000", "--set", "scale=100", "--set", "end=2022-01-01T08:00:00Z",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project whose InfluxDB has an arm with a lowered cache limit."""
    need_benchload()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / "root" / part)
    with (tmp_path / "root/systems/influxdb-1.8.10.toml").open("a") as file:
        file.write(LOWERED)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path / "root"))
    if not os.environ.get("BENCHBOOK_GO") and not shutil.which("influxd"):
        cached = Path(os.environ.get("BENCHBOOK_CACHE", Path.home() / ".cache/benchbook")) / "systems"
        if not list(cached.glob("influxdb-1.8.10-*/influxd")):
            pytest.skip(
                "InfluxDB 1.8.10 is neither on PATH nor in the cache, and BENCHBOOK_GO names no toolchain"
            )
    return tmp_path / "root"


def test_expected_refusals_are_counted_and_the_trial_is_ok(root: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = bench(*RUN, "--results", str(results))
    assert done.returncode == 0, done.stderr
    found = {
        row["metric"]: row["value"]
        for row in rows(results, "SELECT metric, value FROM measurements WHERE phase = 'load'")
    }
    assert found["rows_refused"] > 0
    assert found["rows"] > 0
    assert found["rows_per_second_attempted"] > found["rows_per_second"]
    [error] = rows(results, "SELECT kind, status, message, sum(rows) AS rows FROM errors GROUP BY ALL")
    assert "cache-max-memory-size exceeded" in error["message"]
    assert error["rows"] == found["rows_refused"]
    checks = rows(results, "SELECT name, expected, found, ok FROM checks")
    assert all(check["ok"] for check in checks)
    assert any("acknowledged values found" in check["name"] for check in checks)


def test_refusals_in_other_words_fail_the_trial(root: Path, tmp_path: Path) -> None:
    declared = root / "experiments/cnos-vs-influx/experiment.toml"
    declared.write_text(declared.read_text().replace('"cache-max-memory-size exceeded"', '"no such words"'))
    results = tmp_path / "results"
    done = bench(*RUN, "--results", str(results), report=False)
    assert done.returncode == 4
    [trial] = rows(results, "SELECT status, reason FROM trials")
    assert trial["status"] == "failed"
    assert "does not expect" in trial["reason"]
    assert "cache-max-memory-size exceeded" in trial["reason"]
