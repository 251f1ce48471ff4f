"""kill -9 at random moments of the harness's whole life, each followed by a resume.

``BENCHBOOK_KILLS`` says how many (4 by default; ``.ci/full`` asks for 50). The runs differ in what a dead harness
could leave behind: processes of embedded systems, a server, mounts, control groups.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import SMALL, begin, bench, need_benchload, rows
from built import go_request
from fault import clean
from test_run import altered, assert_whole

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import Unavailable
from benchbook.provision.find import find

KILLS = int(os.environ.get("BENCHBOOK_KILLS") or 4)
SERVER = "influxdb-1.8.10"
GROUPS = Path("/sys/fs/cgroup")


def kinds(chance: random.Random) -> Iterator[list[str]]:
    """Yield what is run, in turn from any on: the embedded systems, and more where this machine can."""
    wanted = [[]]
    try:
        find(Catalogue().system(SERVER), go_request())
        wanted.append(["--set", f"system=duckdb,{SERVER}"])
    except Unavailable:
        pass
    if os.geteuid() == 0:
        wanted.append(["--set", "system=sqlite", "--set", "storage=tmpfs,loop-ext4", "--set", "size_mib=512"])
        wanted.append(["--set", "system=duckdb", "--set", "memory_limit=512MiB,none"])
    chance.shuffle(wanted)
    return itertools.cycle(wanted)


def groups_of(pids: set[int]) -> list[str]:
    """Return the control groups that these harnesses made and that are still there."""
    return [
        str(folder)
        for place in ("", "memory", "cpu")
        for folder in (GROUPS / place).glob("benchbook-*-*-*")
        if folder.name.split("-")[1].isdigit() and int(folder.name.split("-")[1]) in pids
    ]


@pytest.mark.timeout(300 + 60 * KILLS)
def test_no_trial_is_lost_or_doubled_however_often_the_harness_is_killed(tmp_path: Path) -> None:
    """One run is killed again and again while it is resumed, until it is whole; then the next one begins."""
    need_benchload()
    chance, kills = random.Random(), 0
    for number, more in enumerate(kinds(chance)):
        if kills == KILLS:
            return
        results, harnesses = tmp_path / str(number), set()
        arguments, ended = ["run", *SMALL, *more, "--results", str(results)], False
        while kills < KILLS and not ended:
            process = begin(*arguments, start_new_session=True)
            harnesses.add(process.pid)
            deadline = time.monotonic() + chance.choice([chance.uniform(0.3, 3), chance.uniform(0.3, 12)])
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            ended = process.poll() is not None
            if ended:  # whole before it could be killed (again)
                out, err = process.communicate()
                assert process.returncode == 0, out + err
                assert "Traceback" not in out + err
                continue
            process.kill()
            process.communicate()
            kills += 1
            begun = list(results.glob("runs/*/plan.json"))
            arguments = ["resume", "--results", str(results)] if begun else arguments
            if list(results.glob("*.duckdb")):  # the database is readable at any moment
                rows(results, "select count(*) as n from trials")
        if not ended:
            done = bench(*arguments, report=False)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "Traceback" not in done.stderr
        assert_whole(results)
        clean(results)
        assert groups_of(harnesses) == []
        [found] = rows(results, "select count(*) as n, count(distinct trial_id) as different from trials")
        assert found["n"] == found["different"]
        assert altered(results) == []
