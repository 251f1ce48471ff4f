"""A storage that dies in the middle of a load: its trial soon fails with a message, and the run continues."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from bench import begin, need_benchload, rows
from fault import clean, ended, once, reasons

RUN = ["influx-local-vs-s3fs", "--profile", "smoke", "--set", "cache=warm", "--set", "scale=60"]
"""The load takes several times the second after which its first interval is written, on a fast machine too."""
SECONDS = 60.0
"""A bound far beyond what it takes, and far below the timeouts of the phases (5 minutes and 5 retries)."""


def records(results: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in results.glob("runs/*/trials/*/trial.json")]


@pytest.mark.parametrize("who", ["MinIO", "s3fs"])
def test_a_mount_pulled_away_in_a_load_fails_its_trial_and_the_run_goes_on(tmp_path: Path, who: str) -> None:
    need_benchload()
    words = [*RUN, "--set", "storage=minio-s3fs", "--trials", "2", "--results", str(tmp_path)]
    process = begin("run", *words, report=who == "MinIO")
    killed: list[float] = []

    def kill(pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        killed.append(time.time())

    # An interval of the load is in the file within the second in which it ended: the load continues.
    once(process, tmp_path, who, kill, after='"phase":"load","v":1,"type":"interval"')
    ended(process, 4)
    [reason] = reasons(tmp_path)
    # In words of the server too, if it tried to write before the trial ended: which, depends on what it wrote then.
    [failed] = [one for one in records(tmp_path) if one["status"] == "failed"]
    written = [one["message"] for one in failed["errors"] if one["kind"] == "server"]
    assert not written or any(message in reason for message in written)
    assert f"{who} was ended by SIGKILL" in reason
    found = rows(tmp_path, "select status, epoch(ended_at) as ended from trials order by started_at")
    if any(one["status"] == "skipped" for one in found):
        pytest.skip("s3fs, fio or FUSE is missing: apt-get install s3fs fio fuse3")
    assert [one["status"] for one in found] == ["failed", "ok"]
    assert found[0]["ended"] - killed[0] < SECONDS
    clean(tmp_path)
