"""Faults with real processes: each ends with a message, rows, and a run that continues or can be resumed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench import HARNESS, SMALL, begin, bench, need_benchload, rows, unmount
from fault import clean, ended, once, reasons

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
ONE = ["quickstart", "--profile", "smoke", "--trials", "1", "--set", "queries=20"]


@pytest.fixture(autouse=True)
def _load_tool() -> None:
    need_benchload()


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def test_a_system_that_hangs_is_ended_and_the_run_goes_on(tmp_path: Path) -> None:
    """SIGSTOP: no timeout of an operation sees it, for the embedded system is its own client."""
    os.environ["BENCHBOOK_HANG_SECONDS"] = "5"
    try:
        process = begin("run", *SMALL, "--results", str(tmp_path), report=False)
    finally:
        del os.environ["BENCHBOOK_HANG_SECONDS"]
    once(process, tmp_path, "worker", stop, after="")
    ended(process, 4)
    [reason] = reasons(tmp_path)
    assert "All processes were idle for" in reason
    assert rows(tmp_path, "select count(*) as n from trials where status = 'ok'") == [{"n": 3}]
    clean(tmp_path)


@pytest.mark.parametrize(
    ("fault", "words"), [("SIGSTOP", "timeout|did not|time"), ("SIGKILL", "SIGKILL|refused|EOF|reset")]
)
def test_a_server_that_hangs_or_dies_in_a_load_fails_its_trial_alone(
    tmp_path: Path, fault: str, words: str
) -> None:
    import re

    process = begin("run", *ONE, "--set", "system=null-server", "--set", "timeout=1s", "--set", "retries=1",
                    "--set", "scale=200", "--results", str(tmp_path), report=fault == "SIGKILL")  # fmt: skip
    once(process, tmp_path, "null-server", lambda pid: os.kill(pid, getattr(signal, fault)), after="")
    ended(process, 4)
    found = rows(tmp_path, "select status, reason from trials")
    assert [one["status"] for one in found] == ["failed"]
    assert re.search(words, found[0]["reason"]), found
    clean(tmp_path)


def test_memory_that_runs_out_is_told_by_its_limit(tmp_path: Path) -> None:
    process = begin(
        "run", *ONE, "--set", "system=duckdb", "--set", "memory_limit=32MiB", "--results", str(tmp_path), report=False
    )  # fmt: skip
    out, err = process.communicate(timeout=240)
    assert "Traceback" not in out + err
    [found] = rows(tmp_path, "select status, reason from trials")
    if found["status"] == "skipped":
        pytest.skip(found["reason"])
    assert found["status"] == "failed", found
    assert "memory limit of 33554432 bytes was reached: the kernel killed 1" in found["reason"]
    clean(tmp_path)


def test_a_port_that_somebody_takes_in_time_is_told(tmp_path: Path) -> None:
    """Between the choice of a port and the start of a server anybody may take it."""
    from benchbook.errors import TrialFailed
    from benchbook.process.launch import Program
    from benchbook.process.spawn import find_benchload
    from benchbook.systems.driver import Place
    from benchbook.systems.null_server import NullServer

    place = Place(
        Program("null-server", "0", "own", path=find_benchload()), "vanilla", {}, tmp_path, tmp_path, tmp_path
    )
    driver = NullServer(place)
    driver.configure()
    with (
        socket.create_server(("127.0.0.1", int(driver.url.rpartition(":")[2]))),
        pytest.raises(TrialFailed) as caught,
    ):
        wait_until_dead(driver)
    driver.stop()
    assert "address already in use" in str(caught.value).lower()


def wait_until_dead(driver: Any) -> None:
    driver.start()
    while True:
        driver.ready()
        time.sleep(0.02)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 96 MB on a loop device."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("needs root and mkfs.ext4 to make a small disk")
    image, folder = tmp_path / "image", tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(96 << 20)
    folder.mkdir()
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    done = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a loop device cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        unmount(folder)


def test_a_full_disk_is_one_sentence_and_after_room_is_made_the_run_goes_on(small_disk: Path) -> None:
    """Results and data lie on it: first it fills up in the midst of a load, then there is room."""
    results = small_disk / "results"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (73 << 20))
    done = bench("run", *SMALL, "--set", "scale=40", "--results", str(results))
    assert done.returncode in (2, 4), done.stderr
    assert "Traceback" not in done.stderr
    assert "space" in done.stderr, done.stderr
    ballast.unlink()
    again = bench("resume", "--results", str(results), report=False)
    assert again.returncode in (0, 4), again.stderr
    found = rows(results, "select trial_id, count(*) as n from trials group by all")
    assert len(found) == 4
    assert {one["n"] for one in found} == {1}


BROKEN_DISK = """
import errno
from pathlib import Path
from benchbook.run import findings
keep = findings.require_kept
def fail(file):
    if Path(file.name).parent.name == "0001":
        raise OSError(errno.EIO, "Input/output error")
    keep(file)
findings.require_kept = fail
"""
"""The disk of the results fails when the events of the second trial are written out."""


def test_a_broken_disk_stops_the_run_with_its_name_and_another_command_continues(tmp_path: Path) -> None:
    done = bench("run", *SMALL, "--results", str(tmp_path), report=False, before=BROKEN_DISK)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "failed to read or write (input/output error)" in done.stderr
    assert "[2/4]" not in done.stderr
    again = bench("resume", "--results", str(tmp_path), report=False)
    assert again.returncode == 0, again.stderr
    assert [one["n"] for one in rows(tmp_path, "select count(*) as n from trials where status = 'ok'")] == [4]


@root_only
@pytest.mark.parametrize("system", ["duckdb", "sqlite", "influxdb-1.8.10", "postgresql-15"])
def test_a_full_disk_of_data_fails_its_trial_in_words_and_the_run_goes_on(
    open_folder: Path, system: str
) -> None:
    """The data is on a separate ext4 on a loop device: first one that is too small, then one that is not."""
    small = 96 if system == "postgresql-15" else 16  # what an empty cluster takes, and little more
    done = bench("run", *ONE, "--set", f"system={system}", "--set", "storage=loop-ext4", "--set", "scale=120",
                 "--set", f"size_mib={small},2048", "--results", str(open_folder), report=False)  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    found = {
        row["size"]: row
        for row in rows(
            open_folder,
            "select level as size, status, reason from trials join levels using (trial_id) where factor = 'size_mib'",
        )
    }
    if found["2048"]["status"] == "skipped":
        pytest.skip(found["2048"]["reason"])
    assert done.returncode == 4, done.stderr
    assert found["2048"]["status"] == "ok", found
    assert found[str(small)]["status"] == "failed"
    assert "The storage loop-ext4 is full: " in found[str(small)]["reason"], found
    clean(open_folder)


@root_only
@pytest.mark.skipif(shutil.which("postgres") is None, reason="postgres is not on PATH")
def test_a_folder_that_the_servers_user_may_not_enter_is_told_before_the_first_trial(
    open_folder: Path,
) -> None:
    """As root, PostgreSQL runs as another user."""
    results = open_folder / "closed" / "results"
    results.mkdir(parents=True)
    (open_folder / "closed").chmod(0o700)
    command = ("run", *ONE, "--set", "system=postgresql-15,duckdb", "--results", str(results))
    done = bench(*command)
    if "unavailable" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2, done.stderr
    assert f"this user may not enter {open_folder}/closed" in done.stderr
    assert f"chmod o+x {open_folder}/closed" in done.stderr
    assert list(results.glob("runs/*/trials/*")) == []
    (open_folder / "closed").chmod(0o711)
    again = bench("resume", "--results", str(results), report=False)
    assert again.returncode == 0, again.stderr
    assert rows(results, "select status, count(*) as n from trials group by all") == [
        {"status": "ok", "n": 2}
    ]
    clean(results)


def test_a_wall_clock_that_jumps_makes_the_trial_invalid(tmp_path: Path) -> None:
    """The jump is injected into the harness's own reading of the clock: setting it would disturb the machine."""
    code = (
        "import sys, time\nreal, asked = time.clock_gettime, []\n"
        "def spoiled(which):\n"
        "    asked.append(which)\n"
        "    return real(which) + (3600 if which == time.CLOCK_REALTIME and len(asked) > 2 else 0)\n"
        "time.clock_gettime = spoiled\n"
        "from benchbook.cli.app import run\nsys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "run", *SMALL, "--results", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(HARNESS)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    found = rows(tmp_path, "select status, reason from trials")
    assert len(found) == 4
    invalid = [one for one in found if one["status"] == "invalid"]
    assert done.returncode == 4, done.stdout + done.stderr
    assert ["forward by 3600.0 s" in one["reason"] for one in invalid] == [True]


@pytest.mark.parametrize("toxic", ["latency", "reset_peer", "timeout"])
def test_a_network_that_delays_or_cuts(tmp_path: Path, toxic: str, proxied: Any) -> None:
    """A delay is measured, a cut fails the trial in words; both end."""
    proxied.poison(toxic)
    done = bench("run", *ONE, "--system", f"null-server={proxied.url}", "--set", "system=null-server",
                 "--set", "timeout=2s", "--set", "retries=1", "--results", str(tmp_path), report=False)  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == 4, done.stderr
    [found] = rows(tmp_path, "select status, reason from trials")
    if toxic == "latency":
        [slow] = rows(
            tmp_path, "select value from measurements where phase = 'load' and metric = 'latency_p50'"
        )
        assert slow["value"] >= 0.1  # a write waits for what the proxy adds: the null server itself has none
    else:
        assert found["status"] == "failed", found
        assert len(found["reason"]) > 20
    clean(tmp_path)
