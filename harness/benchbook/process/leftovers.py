"""Record what is started in one small file each, and sweep what a killed harness left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

# What was started and must not outlive the harness: one small file a process, swept at the next start.
#
# A process is ended only when its number *and* its start time are the recorded ones, and the harness that
# started it is gone: a number alone may by now belong to somebody else's process.

GRACE_SECONDS = 5.0
"""How long a leftover may take to end by SIGTERM before it is killed."""


@dataclass(frozen=True)
class Ended:
    """A leftover process that the sweep ended."""

    pid: int
    words: str
    """What it was, as told when it was registered."""


def identity(pid: int) -> str | None:
    """Return what tells this process from any other with the same number, or None when it is gone.

    On Linux it is the boot and the start time in clock ticks: unlike a wall-clock time, it does not move
    when the clock is set.
    """
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        if fields[0] in "ZX":
            return None
        return f"{_boot()}:{fields[19]}"
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return None


def register(folder: Path, pid: int, words: str) -> None:
    """Write down that this harness started ``pid``; nothing is written when it is already gone."""
    started = identity(pid)
    if started is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "pid": pid,
        "started": started,
        "words": words,
        "owner_pid": os.getpid(),
        "owner_started": identity(os.getpid()),
        "host": socket.gethostname(),
    }
    final = folder / f"{pid}.json"
    new = folder / f".{pid}.json.new"
    new.write_text(json.dumps(record) + "\n")
    new.replace(final)


def unregister(folder: Path, pid: int) -> None:
    """Forget a process that was stopped; forgetting twice is no mistake."""
    (folder / f"{pid}.json").unlink(missing_ok=True)


def sweep(folder: Path) -> list[Ended]:
    """End what dead harnesses left running and return it; records of living harnesses stay.

    A record made on another host is left alone: that process cannot be seen from here.
    """
    ended: list[Ended] = []
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            record = json.loads(file.read_text())
            pid, started = int(record["pid"]), str(record["started"])
            owner, owner_started = int(record["owner_pid"]), str(record["owner_started"])
        except (OSError, ValueError, KeyError, TypeError):
            file.unlink(missing_ok=True)
            continue
        if record.get("host") != socket.gethostname() or identity(owner) == owner_started:
            continue
        if identity(pid) == started:
            _end(pid, started)
            ended.append(Ended(pid, str(record.get("words", ""))))
        file.unlink(missing_ok=True)
    return ended


def _end(pid: int, started: str) -> None:
    """End a process and, where it leads one, its group: SIGTERM, then SIGKILL."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        leads = os.getpgid(pid) == pid
        for number in (signal.SIGTERM, signal.SIGKILL):
            if identity(pid) != started:
                return
            if leads:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)
            deadline = time.monotonic() + GRACE_SECONDS
            while identity(pid) == started and time.monotonic() < deadline:
                time.sleep(0.02)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
