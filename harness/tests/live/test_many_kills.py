"""kill -9 at random moments of the harness's whole life, each followed by a resume.

``BENCHBOOK_KILLS`` says how many (3 by default; ``.ci/full`` asks for 50).
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from bench import SMALL, begin, bench, need_benchload, rows
from test_run import assert_whole

KILLS = int(os.environ.get("BENCHBOOK_KILLS") or 3)


def test_no_trial_is_lost_or_doubled_however_often_the_harness_is_killed(tmp_path: Path) -> None:
    """One run is killed again and again while it is resumed, until it is whole; then the next one begins."""
    need_benchload()
    chance, kills, number = random.Random(), 0, 0
    while kills < KILLS:
        number += 1
        results = tmp_path / str(number)
        arguments = ["run", *SMALL, "--results", str(results)]
        while kills < KILLS:
            process = begin(*arguments, start_new_session=True)
            deadline = time.monotonic() + chance.choice([chance.uniform(0.3, 3), chance.uniform(0.3, 12)])
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            if process.poll() is not None:
                out, err = process.communicate()
                assert process.returncode == 0, out + err
                assert "Traceback" not in out + err
                break
            process.kill()
            process.communicate()
            kills += 1
            begun = list(results.glob("intentions/*.json")) or list(results.glob("runs/*/plan.json"))
            arguments = ["resume", "--results", str(results)] if begun else arguments
            if list(results.glob("*.duckdb")):  # the database is readable at any moment
                rows(results, "select count(*) as n from trials")
        done = bench(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert_whole(results)
        assert str(results) not in Path("/proc/self/mountinfo").read_text()
    assert kills == KILLS
