"""Scratch folders of harnesses, and a registry of the runs on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbook.process.leftovers import identity

FOLDER = Path("/tmp/benchbook-runs")  # noqa: S108 - all users of a machine share it; it holds no secrets


@dataclass(frozen=True)
class Neighbour:
    """Another harness that carries out a run on this machine now."""

    run_id: str
    pid: int


@contextlib.contextmanager
def announced(run_id: str, folder: Path | None = None) -> Iterator[None]:
    """Register this process as carrying out a run during the ``with`` block; never raise.

    Two runs on one machine disturb each other, so each trial records how many others there were. The file names the
    start time of its process, so that the file of a dead harness is recognised.
    """
    place = (folder or FOLDER) / f"{os.getpid()}.json"
    with contextlib.suppress(OSError):
        if not place.parent.exists():
            place.parent.mkdir(parents=True)
            place.parent.chmod(0o1777)
        record = {"run_id": run_id, "pid": os.getpid(), "started": identity(os.getpid())}
        place.unlink(missing_ok=True)  # never write through another user's old file
        place.write_text(json.dumps(record) + "\n", encoding="utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


def neighbours(folder: Path | None = None) -> list[Neighbour]:
    """Return the other harnesses that carry out a run on this machine; never raise."""
    found = []
    for path in sorted((folder or FOLDER).glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            pid, started = int(record["pid"]), str(record["started"])
            if pid != os.getpid() and identity(pid) == started:
                found.append(Neighbour(str(record["run_id"])[:200], pid))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def neighbours_note(found: list[Neighbour]) -> str:
    """Return a note about other runs for the user."""
    named = ", ".join(f"{one.run_id} (pid {one.pid})" for one in found)
    return f"another run is active on this machine: {named}; the runs disturb each other, and each trial records that"


@contextmanager
def scratch_folder(results: Path) -> Iterator[Path]:
    """Create a scratch folder for this process and remove it at the end."""
    folder = _folder(results) / _name(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:  # some servers then run as another user, whatever the umask is
        for own in (folder.parent, folder):
            own.chmod(own.stat().st_mode | 0o011)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_scratch(results: Path) -> None:
    """Remove the scratch folders of dead harnesses."""
    for folder in _folder(results).glob("*"):
        pid = folder.name.partition("-")[0]
        if not pid.isdigit() or folder.name != _name(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _folder(results: Path) -> Path:
    return results / "scratch"


def _name(pid: int) -> str:
    """Return a name that no later process with the same id gets."""
    started = identity(pid) or "gone"
    return f"{pid}-{started.rpartition(':')[2]}"
