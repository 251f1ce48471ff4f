"""Mount and unmount, through the system's own commands, with their words where they refuse."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed, Unavailable
from benchbook.host.filesystem import mounts
from benchbook.host.reading import Tree, Unreadable
from benchbook.process.leftovers import identity

BUSY_SECONDS = 10.0
"""How long a mount that is still in use is asked to go before it is detached from the tree."""


def mount(arguments: Sequence[str | Path], words: str) -> None:
    """Run ``mount``; raise Unavailable where this user may not, or the machine cannot."""
    run(
        ["mount", *arguments],
        f"{words} cannot be mounted",
        "Mounting needs root (or the capability SYS_ADMIN).",
    )


def run(command: Sequence[str | Path], words: str, hint: str) -> str:
    """Run a command and return its output; raise Unavailable with its words."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"{words}: {command[0]}: {error.strerror}.", hint) from None
    if done.returncode != 0:
        said = (
            " ".join((done.stderr or done.stdout).split())
            or f"{command[0]} ended with code {done.returncode}"
        )
        raise Unavailable(f"{words}: {said}.", hint)
    return done.stdout


def mounted(point: Path) -> bool:
    """Say whether something is mounted at ``point``; the mount itself is not touched, for it may hang."""
    try:
        return any(one.point == str(point) for one in mounts(Tree()))
    except Unreadable:
        return False


def unmount(point: Path) -> bool:
    """Undo the mount at ``point``, by force where it stays in use; say whether nothing is mounted there now."""
    deadline = time.monotonic() + BUSY_SECONDS
    while mounted(point):
        late = time.monotonic() > deadline
        commands = [["umount", str(point)], ["fusermount", "-u", str(point)]]
        if late:
            commands = [["umount", "--lazy", str(point)], ["fusermount", "-u", "-z", str(point)]]
        if not any(_quiet(command) for command in commands) and late:
            return not mounted(point)
        time.sleep(0.0 if late else 0.05)
    return True


def empty_folder(folder: Path) -> Path:
    """Make a folder for a trial; one that already holds something is refused, for a trial starts from nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = any(folder.iterdir())
    except OSError as error:
        raise TrialFailed(
            f"The data folder {folder} cannot be made: {error.strerror}.",
            "Free space, make its parent writable, or name another folder with --results.",
        ) from error
    if held:
        raise TrialFailed(f"The data folder {folder} is not empty.", "Remove it, then resume the run.")
    return folder


def _quiet(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


# What was mounted and must not outlive the harness: one small file a mount, swept at the next start.
#
# The sibling of ``systems/leftovers.py``. A mount is undone only when the harness that made it is gone; what
# stood behind it (an image file, a cache) is removed with it.


def register_mount(folder: Path | None, point: Path, behind: tuple[Path, ...], words: str) -> None:
    """Write down, before it is mounted, that this harness mounts ``point`` and keeps ``behind`` for it."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "point": str(point),
        "behind": [str(path) for path in behind],
        "words": words,
        "owner_pid": os.getpid(),
        "owner_started": identity(os.getpid()),
        "host": socket.gethostname(),
    }
    final = _file(folder, point)
    new = final.with_suffix(".new")
    new.write_text(json.dumps(record) + "\n")
    new.replace(final)


def unregister_mount(folder: Path | None, point: Path) -> None:
    """Forget a mount that was undone; forgetting twice is no mistake."""
    if folder is not None:
        with contextlib.suppress(OSError):
            _file(folder, point).unlink(missing_ok=True)


def sweep_mounts(folder: Path) -> list[str]:
    """Undo what dead harnesses left mounted and return what it was; records of living harnesses stay.

    Call it after the sweep of processes and before anything below a mount point is removed. A mount that
    cannot be undone keeps its record, for the next start.
    """
    undone: list[str] = []
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            record = json.loads(file.read_text())
            point, words = Path(record["point"]), str(record["words"])
            behind = [Path(path) for path in record["behind"]]
            owner, owner_started = int(record["owner_pid"]), str(record["owner_started"])
        except (OSError, ValueError, KeyError, TypeError):
            file.unlink(missing_ok=True)
            continue
        if record.get("host") != socket.gethostname() or identity(owner) == owner_started:
            continue
        if mounted(point):
            if not unmount(point):
                continue
            undone.append(f"{words} at {point}")
        for path in (point, *behind):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        file.unlink(missing_ok=True)
    return undone


def _file(folder: Path, point: Path) -> Path:
    return folder / f"{hashlib.sha256(str(point).encode()).hexdigest()[:16]}.json"
