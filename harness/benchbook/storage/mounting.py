"""Mount and unmount, through the system's own commands, with their words where they refuse."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed, Unavailable
from benchbook.host.mounts import mounts
from benchbook.host.reading import Tree, Unreadable

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
