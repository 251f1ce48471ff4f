"""The limit that the disk sets: writes that fio syncs one by one, just before a put, on the same file system."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from benchbook.errors import TrialFailed

SECONDS = 1
"""How long fio writes; long enough for some hundred syncs of a slow disk."""
FIO = "fio"


def measure(folder: Path, workers: int, size: int) -> float | None:
    """Return synced writes a second of so many jobs, each into a file of its own; None without fio."""
    program = shutil.which(FIO)
    if program is None:
        return None
    place = folder / "sync-limit"
    place.mkdir()
    command = [
        program, "--name=sync", f"--directory={place}", "--rw=write", "--ioengine=psync", "--fsync=1",
        f"--bs={size}", "--size=16m", f"--numjobs={workers}", "--group_reporting", "--time_based",
        f"--runtime={SECONDS}", "--output-format=json",
    ]  # fmt: skip
    try:
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60 + SECONDS)
        found = json.loads(ran.stdout[ran.stdout.index("{") :])
        return float(found["jobs"][0]["write"]["iops"])
    except (OSError, ValueError, LookupError, subprocess.TimeoutExpired) as error:
        raise TrialFailed(f"fio could not measure what the disk syncs: {error}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
