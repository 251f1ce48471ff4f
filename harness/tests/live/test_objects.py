"""Objects on real stores through the command line: what is there is run, the rest is skipped by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench import bench, need_benchload, rows

SMALL = ["seaweedfs-vs-postgres", "--profile", "smoke", "--set", "workers=3"]


@pytest.mark.parametrize("system", ["filesystem", "postgresql-15", "minio", "redis-7", "seaweedfs-4"])
def test_every_object_comes_back(system: str, tmp_path: Path) -> None:
    need_benchload()
    for parent in (tmp_path, *tmp_path.parents[:2]):
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(0o755)  # as root, PostgreSQL runs as another user
    done = bench("run", *SMALL, "--set", f"system={system}", "--yes", "--results", str(tmp_path))
    trials = rows(tmp_path, "select arm, status, reason from trials order by arm")
    skipped = [one["reason"] for one in trials if one["status"] == "skipped"]
    if skipped:
        pytest.skip(skipped[0])
    assert done.returncode == 0, done.stderr
    assert [(one["arm"], one["status"]) for one in trials] == [("durable", "ok"), ("vanilla", "ok")]
    held = rows(tmp_path, "select count(*) as n, count(*) filter (not ok) as wrong from checks")
    assert held[0]["n"] >= 2 * 20
    assert held[0]["wrong"] == 0
    kinds = rows(
        tmp_path,
        "select count(distinct operation) as n from histograms where phase = 'mixed' and operation is not null",
    )
    assert kinds[0]["n"] == 3
