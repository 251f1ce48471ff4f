"""Scratch folders of living harnesses, and how many other runs share this machine."""

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

# Other runs on this machine: two at once measure each other, so each trial says how many there were.
#
# Every harness keeps one small file in a folder that all users of the machine share. What a dead harness left is
# known by its process's start time, and passed over.

FOLDER = Path("/tmp/benchbook-runs")  # noqa: S108 - the one place that all users of a machine share; no secrets in it


@dataclass(frozen=True)
class Neighbour:
    """Another harness that measures on this machine now."""

    run_id: str
    pid: int


@contextlib.contextmanager
def announced(run_id: str, folder: Path | None = None) -> Iterator[None]:
    """Say for the length of a ``with`` block that this process carries out a run; never raises."""
    place = (folder or FOLDER) / f"{os.getpid()}.json"
    with contextlib.suppress(OSError):
        if not place.parent.exists():
            place.parent.mkdir(parents=True)
            place.parent.chmod(0o1777)
        record = {"run_id": run_id, "pid": os.getpid(), "started": identity(os.getpid())}
        place.unlink(missing_ok=True)  # another user's old file must not be written through
        place.write_text(json.dumps(record) + "\n", encoding="utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)


def neighbours(folder: Path | None = None) -> list[Neighbour]:
    """Return the other harnesses that are carrying out a run on this machine; never raises."""
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


def words(found: list[Neighbour]) -> str:
    """Return the note on them."""
    named = ", ".join(f"{one.run_id} (pid {one.pid})" for one in found)
    return f"another run is going on on this machine: {named}; the two measure each other, and each trial records it"


# Scratch folders: where a living harness keeps the data of the system under test.


@contextmanager
def own_scratch(results: Path) -> Iterator[Path]:
    """Give this process a scratch folder of its own and remove it at the end."""
    folder = _folder(results) / _name(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_scratch(results: Path) -> None:
    """Remove the scratch folders of harnesses that are gone."""
    for folder in _folder(results).glob("*"):
        pid = folder.name.partition("-")[0]
        if not pid.isdigit() or folder.name != _name(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _folder(results: Path) -> Path:
    return results / "scratch"


def _name(pid: int) -> str:
    """Return a name that no later process with the same number has."""
    started = identity(pid) or "gone"
    return f"{pid}-{started.rpartition(':')[2]}"
