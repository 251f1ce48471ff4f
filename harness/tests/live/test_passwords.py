"""A password that was drawn for a server is in no file of a run: real servers, whole runs, exports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench import HARNESS, bench, need_benchload, rows

DRAWN = "5ec2e75ec2e75ec2e75ec2e75ec2e7aa"
PATCH = (
    "import secrets, sys\n"
    "real = secrets.token_hex\n"
    "def known(size=32):\n"
    "    if size != 16: return real(size)\n"
    "    open(sys.argv[1], 'a').write('drawn\\n')\n"
    f"    return {DRAWN!r}\n"
    "secrets.token_hex = known\n"
    "from benchbook.cli.app import run\nsys.exit(run(sys.argv[2:]))"
)
OBJECTS = ("seaweedfs-vs-postgres", "--set", "arm=vanilla", "--set", "workers=1")
CASES = {
    "postgresql-15": (*OBJECTS, "--set", "system=postgresql-15"),
    "minio": (*OBJECTS, "--set", "system=minio"),
    "seaweedfs-s3-4": (*OBJECTS, "--set", "system=seaweedfs-s3-4"),
    "the storage minio-s3fs": ("quickstart", "--set", "system=sqlite", "--set", "storage=minio-s3fs"),
}
"""Oracle is the fourth that has one; it comes as an image only (process/test_secret.py)."""


def holding(folder: Path) -> list[str]:
    """Return the files below a folder that hold the password, their names included."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if DRAWN in path.name or (path.is_file() and DRAWN.encode() in path.read_bytes())
    ]


@pytest.mark.parametrize("case", CASES)
def test_it_is_in_no_log_result_report_or_export(case: str, open_folder: Path) -> None:
    need_benchload()
    marks, results = open_folder / "marks", open_folder / "results"
    command = [
        "run", *CASES[case], "--profile", "smoke", "--trials", "1", "--yes", "--results", str(results),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-c", PATCH, str(marks), *command],
        env={**os.environ, "PYTHONPATH": str(HARNESS)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    [trial] = rows(results, "select status, reason from trials")
    if trial["status"] == "skipped":
        pytest.skip(trial["reason"])
    assert trial["status"] == "ok", trial["reason"]
    assert marks.read_text().startswith("drawn"), "this run drew none"
    assert DRAWN not in done.stdout + done.stderr
    exported = bench(
        "export", "--private", "--output", str(open_folder / "export"), "--results", str(results)
    )
    assert exported.returncode == 0, exported.stderr
    assert list((open_folder / "export").rglob("*.log"))
    assert holding(results) == []
    assert holding(open_folder / "export") == []
