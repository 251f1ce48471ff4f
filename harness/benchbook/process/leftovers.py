"""Records of what a harness started, one small file each, and the sweep of what a killed harness left running."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.process.wait import until

GRACE_SECONDS = 5.0
"""How long a leftover process may take to end by SIGTERM before the sweep kills it."""


def identity(pid: int) -> str | None:
    """Return what distinguishes this process from any other with the same number; None when it is gone.

    On Linux it is the boot and the start time in clock ticks. The start time of psutil moves when somebody
    sets the clock, so psutil is used only on other systems.
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


def write_record(file: Path, content: dict[str, Any]) -> None:
    """Write a record that names this harness as the owner; the file is whole or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    owner = {
        "owner_pid": os.getpid(),
        "owner_started": identity(os.getpid()),
        "host": socket.gethostname(),
    }
    new = file.with_name(f".{file.name}.new")
    new.write_text(json.dumps({**content, **owner}) + "\n")
    new.replace(file)


def abandoned(folder: Path, pattern: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the records whose harness is dead, each with its file; remove files that are no records.

    Records of living harnesses and of other hosts stay: this host cannot see the processes of another one.
    """
    for file in sorted(folder.glob(pattern)) if folder.is_dir() else []:
        try:
            record = json.loads(file.read_text())
            owner, started = int(record["owner_pid"]), str(record["owner_started"])
        except (OSError, ValueError, KeyError, TypeError):
            file.unlink(missing_ok=True)  # its harness died while it wrote it, before it started anything
            continue
        if record.get("host") == socket.gethostname() and identity(owner) != started:
            yield file, record


@dataclass(frozen=True)
class Ended:
    """A leftover process that the sweep ended."""

    pid: int
    name: str
    """What it was, as the harness registered it."""


def register(folder: Path, pid: int, name: str) -> None:
    """Record that this harness started ``pid``; record nothing when the process is already gone."""
    started = identity(pid)
    if started is not None:
        write_record(folder / f"{pid}.json", {"pid": pid, "started": started, "name": name})


def unregister(folder: Path, pid: int) -> None:
    """Forget a process that was stopped; forgetting it twice is no error."""
    (folder / f"{pid}.json").unlink(missing_ok=True)


def sweep(folder: Path) -> list[Ended]:
    """End the processes that dead harnesses left running, and return them.

    A process must have both the recorded number and the recorded start time: the number alone may belong to
    another process by now.
    """
    ended: list[Ended] = []
    for file, record in abandoned(folder, "*.json"):
        with contextlib.suppress(KeyError, ValueError, TypeError):
            pid, started = int(record["pid"]), str(record["started"])
            if identity(pid) == started:
                _end(pid, started)
                ended.append(Ended(pid, str(record.get("name", ""))))
        file.unlink(missing_ok=True)
    return ended


def _end(pid: int, started: str) -> None:
    """End a process and, if it leads one, its group: SIGTERM, then SIGKILL."""

    def gone() -> bool:
        return identity(pid) != started

    with contextlib.suppress(ProcessLookupError, PermissionError):
        send = os.killpg if os.getpgid(pid) == pid else os.kill
        for number in (signal.SIGTERM, signal.SIGKILL):
            if gone():
                return
            send(pid, number)
            until(gone, GRACE_SECONDS, pause=0.02)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
