"""The disk of a run as fio sees it at the start, by two jobs of one second, which distinguish unlike disks.

Absolute numbers differ within hours on a virtual disk. They show the class of a disk, such as one that flushes 200 or
20,000 times a second; no verdict uses them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchbook.host.reading import Facts, Unreadable, read_fact

SECONDS = 1
"""Length of each job."""
TIMEOUT_SECONDS = 30.0
_COMMON = (
    "--bs=4k",
    "--size=64m",
    "--ioengine=psync",
    "--time_based",
    f"--runtime={SECONDS}",
    "--output-format=json",
)
JOBS = {
    "synced_writes_per_second": ("write", ("--rw=randwrite", "--fsync=1")),
    "reads_per_second": ("read", ("--rw=randread", "--direct=1")),
}
"""Fact → fio's name for the direction, and the options of the job."""


def disk_speed(folder: Path) -> Facts:
    """Return how often per second the disk of a folder writes and syncs, and reads, 4 KiB at a random place.

    Needs fio; without it, or on a file system without direct access, the fact is the text ``not readable: why``.
    """
    version = read_fact(_version)
    found: Facts = {"tool": version}
    for fact, (direction, options) in JOBS.items():
        found[fact] = read_fact(_measured, folder, direction, options)
    return found


def _version() -> str:
    return _output(["--version"]).strip()


def _measured(folder: Path, direction: str, options: tuple[str, ...]) -> float:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".disk-speed-", dir=folder) as scratch:
        held: dict[str, Any] = json.loads(
            _output(["--name=disk", f"--directory={scratch}", *_COMMON, *options])
        )
    return round(float(held["jobs"][0][direction]["iops"]), 1)


def _output(arguments: list[str]) -> str:
    program = shutil.which("fio")
    if program is None:
        raise Unreadable("fio is not installed")
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unreadable(f"fio failed ({type(error).__name__})") from error
    return done.stdout
