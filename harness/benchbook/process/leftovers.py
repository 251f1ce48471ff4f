"""Records of the processes that a harness started, and the sweep of processes that a killed harness left running."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.host import guarded
from benchbook.host.identity import boot, identity, process_space
from benchbook.process.marks import is_orphan
from benchbook.process.wait import until

GRACE_SECONDS = 5.0
"""Time that a leftover process may take to end after SIGTERM before it is killed."""


def write_record(file: Path, content: dict[str, Any]) -> None:
    """Write a record that names this harness as the owner; the file is complete or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    owner = {"owner_pid": os.getpid(), "owner_started": identity(os.getpid()), **_here()}
    new = file.with_name(f".{file.name}.new")
    new.write_text(json.dumps({**content, **owner}) + "\n")
    new.replace(file)


def abandoned(folder: Path, pattern: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the records of dead harnesses of this user, each with its file; leave every other file alone.

    Records of living harnesses and of other machines stay: processes of another machine are not visible here. A file
    that no harness of this user wrote is not a record, whatever its name is; neither is one behind a link.
    """
    if guarded.is_link(folder) or not folder.is_dir():
        return
    for file in sorted(folder.glob(pattern)):
        try:
            held = file.lstat()
            if not stat.S_ISREG(held.st_mode) or held.st_uid != os.geteuid():
                continue
            record = guarded.record(file)
            owner, started = guarded.whole_number(record["owner_pid"]), str(record["owner_started"])
        except (OSError, ValueError, KeyError):
            continue
        if not record.keys() >= {"boot", "process_space", "machine"}:
            continue
        if _is_visible(record) and identity(owner) != started:
            yield file, record


def discard(file: Path) -> None:
    """Remove a record; leave what cannot be removed, such as a folder under its name."""
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


@dataclass(frozen=True)
class Ended:
    """A leftover process that the sweep ended."""

    pid: int
    name: str
    """Its name in the record."""


def register(folder: Path, pid: int, name: str) -> None:
    """Record that this harness started ``pid``, unless the process is already gone."""
    started = identity(pid)
    if started is not None:
        write_record(folder / f"{pid}.json", {"pid": pid, "started": started, "name": name})


def unregister(folder: Path, pid: int) -> None:
    """Remove the record of a stopped process, if there is one."""
    (folder / f"{pid}.json").unlink(missing_ok=True)


def sweep(folder: Path) -> list[Ended]:
    """End the processes that dead harnesses left running, and return them.

    Both the id and the start time of a process must match the record, because ids are reused. The process itself must
    prove with its mark that a dead harness started it: a folder of results may come from anyone.
    """
    ended: list[Ended] = []
    for file, record in abandoned(folder, "*.json"):
        try:
            pid, started = guarded.whole_number(record["pid"]), str(record["started"])
        except (KeyError, ValueError):
            continue
        if file.name != f"{pid}.json":
            continue
        if identity(pid) == started and is_orphan(pid):
            _end(pid, started)
            ended.append(Ended(pid, str(record.get("name", ""))))
        discard(file)
    return ended


def _end(pid: int, started: str) -> None:
    """End a process, and its group if it leads one: SIGTERM, then SIGKILL."""

    def gone() -> bool:
        return identity(pid) != started

    with contextlib.suppress(ProcessLookupError, PermissionError):
        send = os.killpg if os.getpgid(pid) == pid else os.kill
        for number in (signal.SIGTERM, signal.SIGKILL):
            if gone():
                return
            send(pid, number)
            until(gone, GRACE_SECONDS, pause=0.02)


def _here() -> dict[str, Any]:
    """Return where this process runs, for a record: names that survive another host name."""
    try:
        name = Path("/etc/machine-id").read_text().strip()
    except OSError:
        name = ""
    return {"boot": boot(), "process_space": process_space(), "machine": name or socket.gethostname()}


def _is_visible(record: dict[str, Any]) -> bool:
    """Return whether the processes of a record would be visible here, if they still ran.

    Containers of one machine share its boot id, but each sees its own processes. A record of another boot is of this
    machine before it started again, or of another machine.
    """
    here = _here()
    if here["boot"] and record.get("boot") == here["boot"]:
        return bool(record.get("process_space") == here["process_space"])
    return bool(record.get("machine") == here["machine"])
