"""Objects on real stores through the command line: what is there is run, the rest is skipped by name."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path

import pytest
from bench import begin, bench, need_benchload, rows
from engine import build, engine
from fault import clean

RUN = ["seaweedfs-vs-postgres", "--profile", "smoke", "--set", "size=4KiB"]
SMALL = [*RUN, "--set", "storage=local", "--set", "workers=1,3"]
"""One in flight puts in transactions too; three share what is deleted and put."""
SYSTEMS = ["filesystem", "sqlite", "postgresql-15", "minio", "redis-7", "seaweedfs-4", "seaweedfs-s3-4"]
TAG = "benchbook-test/weed:4"
DISKS = [*RUN, "--set", "workers=20", "--set", "arm=durable"]


def run(results: Path, *arguments: str, report: bool = False) -> list[dict[str, object]]:
    """Run it and return its trials; skip where the system is unavailable, or nothing may be mounted."""
    need_benchload()
    done = bench("run", *arguments, "--yes", "--results", str(results), report=report)
    trials = rows(results, "select cell, arm, storage, status, reason from trials order by cell")
    if skipped := [one["reason"] for one in trials if one["status"] == "skipped"]:
        pytest.skip(str(skipped[0]))
    assert done.returncode == 0, done.stderr
    return trials


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_object_comes_back(system: str, open_folder: Path) -> None:
    trials = run(open_folder, *SMALL, "--set", f"system={system}", report=system == "sqlite")
    arms = ["vanilla"] if system == "seaweedfs-s3-4" else ["durable", "vanilla"]
    assert sorted(str(one["arm"]) for one in trials) == sorted(2 * arms)
    held = rows(open_folder, "select count(*) as n, count(*) filter (not ok) as wrong from checks")
    assert held[0]["n"] >= len(trials) * 10
    assert held[0]["wrong"] == 0
    kinds = rows(
        open_folder,
        "select count(distinct operation) as n from histograms where phase = 'mixed' and operation is not null",
    )
    assert kinds[0]["n"] == 3
    batches = rows(
        open_folder,
        "select phase, min(value) as n from measurements where metric = 'objects' and phase like 'put-%' group by 1",
    )
    assert {one["phase"]: one["n"] for one in batches} == {"put-10": 20, "put-100": 200}
    read_back = rows(
        open_folder, "select distinct name from checks where name like 'objects read back%' order by 1"
    )
    # Not after get, which changes nothing.
    assert [one["name"].rpartition(" ")[2] for one in read_back] == ["mixed", "put", "put-10", "put-100"]


@pytest.mark.parametrize("system", ["filesystem", "seaweedfs-4"])
def test_objects_are_spread_over_disks_of_their_own(system: str, open_folder: Path) -> None:
    storages = "storage=loop-ext4,loop-disks"
    trials = run(open_folder, *DISKS, "--set", f"system={system}", "--set", storages)
    assert [(one["storage"], one["status"]) for one in trials] == [("loop-disks", "ok"), ("loop-ext4", "ok")]
    facts = [
        json.loads(path.read_text())["storage_facts"]
        for path in open_folder.glob("runs/*/trials/*/trial.json")
    ]
    assert sorted(one.get("disks", 1) for one in facts) == [1, 4]
    clean(open_folder)


def test_the_kernel_limits_the_writes_to_slow_disks(open_folder: Path) -> None:
    run(open_folder, *DISKS, "--set", "system=filesystem", "--set", "storage=slow-disk")
    limited = rows(
        open_folder, "select found from checks where name = 'devices with a limit of writes in force'"
    )
    assert [one["found"] for one in limited] == ["1"]
    clean(open_folder)


def test_disks_of_a_harness_that_was_killed_are_unmounted_at_the_next_start(open_folder: Path) -> None:
    need_benchload()
    arguments = ["--set", "system=filesystem", "--set", "storage=loop-disks", "--results", str(open_folder)]
    process = begin("run", *DISKS, *arguments)
    while process.poll() is None and f"{open_folder}/scratch" not in Path("/proc/self/mountinfo").read_text():
        time.sleep(0.005)
    if process.poll() is not None:
        process.communicate()
        pytest.skip("mounting needs root")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    run(open_folder, *DISKS, "--set", "system=filesystem", "--set", "storage=loop-disks")
    clean(open_folder)
    assert list((open_folder / "mounts").glob("*.json")) == []


def test_seaweedfs_from_an_image(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weed = shutil.which("weed")
    if weed is None:
        pytest.skip("weed is not on PATH: an image cannot be made from it here")
    with engine() as address:
        build(address, TAG, Path(weed), "/usr/bin/weed")
        monkeypatch.setenv("DOCKER_HOST", address)
        given = ["--system", f"seaweedfs-4=docker://{TAG}"]
        chosen = ["--set", "system=seaweedfs-4", "--set", "arm=durable"]
        trials = run(open_folder, *SMALL, *given, *chosen)
    assert [one["status"] for one in trials] == ["ok", "ok"]
    held = rows(open_folder, "select count(*) filter (not ok) as wrong from checks")
    assert held[0]["wrong"] == 0


def test_objects_by_time(open_folder: Path) -> None:
    length = [
        "--set",
        "duration=500ms",
        "--set",
        "workers=3",
        "--set",
        "arm=vanilla",
        "--set",
        "storage=local",
    ]
    run(open_folder, *RUN, *length, "--set", "system=filesystem,sqlite")
    [held] = rows(open_folder, "select count(*) as n, count(*) filter (not ok) as wrong from checks")
    assert held["n"] > 0
    assert held["wrong"] == 0
    # The last phase deletes: it ends when no object is left, and the trial says so; or its time was too short.
    done = rows(open_folder, "select system, phase, value from measurements join trials using (trial_id) "
                          "where metric = 'objects'")  # fmt: skip
    assert {one["system"] for one in done} == {"filesystem", "sqlite"}
    assert all(one["value"] > 0 for one in done)
