"""The YCSB core workloads against SQLite, PostgreSQL and Redis: every record that is acknowledged comes back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench import HARNESS, bench, need_benchload, rows

PHASES = "".join(
    f'[[phases]]\nname = "{do}"\nworkload = "ycsb"\noptions = {{ do = "{do}" }}\n\n'
    for do in ("load", *"abcdef")
)
EXPERIMENT = f"""
title = "YCSB"
question = "Does each store keep its records?"
dataset = "devops"

[factors]
system = ["sqlite", "postgresql-15", "redis-7"]
workers = [2]

{PHASES}
[profiles.smoke]
trials = 1
trial_seconds = 5
dataset = {{ scale = 1, end = "2016-01-01T00:10:00Z", interval = "60s" }}
options = {{ records = 100, operations = 200 }}
"""


@pytest.fixture
def project(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a root with this experiment alone."""
    for name in ("systems", "storage", "datasets", "docs"):
        (open_folder / name).symlink_to(HARNESS.parent / name)
    (open_folder / "experiments" / "ycsb").mkdir(parents=True)
    (open_folder / "experiments" / "ycsb" / "experiment.toml").write_text(EXPERIMENT)
    shutil.copytree(
        HARNESS.parent / "reports", open_folder / "reports", ignore=shutil.ignore_patterns("data")
    )
    (open_folder / "reports" / "quickstart.qmd").rename(open_folder / "reports" / "ycsb.qmd")
    monkeypatch.setenv("BENCHBOOK_ROOT", str(open_folder))
    return open_folder


@pytest.mark.parametrize("system", ["sqlite", "postgresql-15", "redis-7"])
def test_every_record_comes_back(system: str, project: Path) -> None:
    need_benchload()
    results = project / "results"
    done = bench(
        "run", "ycsb", "--profile", "smoke", "--set", f"system={system}", "--yes", "--results", str(results),
        report=system == "sqlite",
    )  # fmt: skip
    (trial,) = rows(results, "select status, reason from trials")
    if trial["status"] == "skipped":
        pytest.skip(str(trial["reason"]))
    assert done.returncode == 0, done.stderr
    read_back = rows(
        results, "select name, ok from checks where name like 'records read back%' order by name"
    )
    assert [(one["name"].rpartition(" ")[2], one["ok"]) for one in read_back] == [
        (phase, True) for phase in ("a", "b", "d", "e", "f", "load")
    ]
    counted = rows(
        results, "select phase, value from measurements where metric = 'operations' order by phase"
    )
    assert {one["phase"]: one["value"] for one in counted} == {**dict.fromkeys("abcdef", 200), "load": 100}
