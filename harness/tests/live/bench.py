"""Starts the command line as a user does, with the interpreter and the load tool of this test run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.process.wait import until

HARNESS = Path(__file__).resolve().parents[2]
SMALL = ["quickstart", "--profile", "smoke", "--trials", "2", "--set", "queries=20"]
"""A run of four trials that takes a few seconds."""


def need_benchload() -> None:
    """Skip the calling test, by name, where the load tool is not built."""
    from benchbook.errors import Unavailable
    from benchbook.process.spawn import find_benchload

    try:
        find_benchload()
    except Unavailable as reason:
        pytest.skip(str(reason))


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BENCHBOOK_RES")}
    return {**kept, "PYTHONPATH": str(HARNESS), **changes}


WITHOUT_REPORT = """
import sys, types
def report(results, run_id):
    return results / "runs" / run_id
sys.modules["benchbook.report.render"] = types.SimpleNamespace(report=report)
from benchbook.__main__ import main
main()
"""
"""Benchbook that renders no report: for the tests of everything before it, as rendering takes most of a small run."""


def begin(*arguments: str, report: bool = True, before: str = "", **options: Any) -> subprocess.Popen[str]:
    """Start a command without waiting for it; ``report`` says whether a run ends with its report.

    Without a report, Python carries out the lines ``before`` first, such as those that inject a fault.
    """
    program = ["-m", "benchbook"] if report else ["-c", before + WITHOUT_REPORT]
    return subprocess.Popen(
        [sys.executable, "-P", *program, *arguments],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def bench(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    with begin(*arguments, **options) as process:
        out, err = process.communicate(timeout=240)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def rows(results: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query."""
    done = bench("sql", "--json", "--results", str(results), sql)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def answers(results: Path) -> list[dict[str, Any]]:
    """Return each query of a run with how many systems answered it, and how many different answers they gave."""
    return rows(
        results,
        "SELECT query_type, query_id, count(*) AS answers, count(DISTINCT answers.rows) AS different "
        "FROM answers GROUP BY ALL",
    )


def unmount(folder: Path) -> None:
    """Unmount a folder; processes that end just after a command must let go of it."""
    assert until(lambda: subprocess.run(["umount", folder], check=False).returncode == 0, 10)
