"""Mount and unmount with the system's commands, and sweep the mounts of killed harnesses."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed, Unavailable
from benchbook.host import guarded
from benchbook.host.filesystem import mounts
from benchbook.host.reading import Tree, Unreadable
from benchbook.process.leftovers import abandoned, discard, write_record
from benchbook.process.wait import until

BUSY_SECONDS = 10.0
"""Time to retry an unmount of a busy folder before it is detached."""


def mount(arguments: Sequence[str | Path], storage: str) -> None:
    """Run ``mount``; raise Unavailable if this user may not mount, or the machine cannot."""
    run(
        ["mount", *arguments],
        f"{storage} cannot be mounted",
        "Mounting needs root (or the capability SYS_ADMIN).",
    )


def run(command: Sequence[str | Path], failure: str, hint: str) -> str:
    """Run a command and return its output; raise Unavailable with ``failure`` and the command's error."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(f"{failure}: {command[0]}: {error.strerror}.", hint) from None
    if done.returncode != 0:
        reason = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise Unavailable(f"{failure}: {reason}.", hint)
    return done.stdout


def mounted(point: Path) -> bool:
    """Return whether something is mounted at ``point``, without touching the mount, which may hang."""
    try:
        return any(one.point == str(point) for one in mounts(Tree()))
    except Unreadable:
        return False


def unmount(point: Path) -> bool:
    """Unmount ``point``, lazily if it stays busy; return whether it is unmounted now."""

    def tried(commands: list[list[str]]) -> bool:
        return not mounted(point) or (any(map(_succeeds, commands)) and not mounted(point))

    path = str(point)
    return until(lambda: tried([["umount", path], ["fusermount", "-u", path]]), BUSY_SECONDS) or tried(
        [["umount", "--lazy", path], ["fusermount", "-u", "-z", path]]
    )


def empty_folder(folder: Path) -> Path:
    """Create a folder for a trial and return it; refuse one with content, because a trial starts from nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = any(folder.iterdir())
    except OSError as error:
        raise TrialFailed(
            f"The data folder {folder} cannot be created: {error.strerror}.",
            "Free space, make its parent writable, or name another folder with --results.",
        ) from error
    if held:
        raise TrialFailed(f"The data folder {folder} is not empty.", "Remove it, then resume the run.")
    return folder


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def register_mount(folder: Path | None, point: Path, behind: tuple[Path, ...], storage: str) -> None:
    """Record, before mounting, that this harness mounts ``point`` and keeps the files ``behind`` for it."""
    if folder is not None:
        record = {"point": str(point), "behind": [str(path) for path in behind], "storage": storage}
        write_record(_file(folder, point), record)


def unregister_mount(folder: Path | None, point: Path) -> None:
    """Remove the record of a mount, if there is one."""
    if folder is not None:
        with contextlib.suppress(OSError):
            _file(folder, point).unlink(missing_ok=True)


def sweep_mounts(folder: Path) -> list[str]:
    """Unmount what dead harnesses left mounted, remove the files behind it, and return a description of each.

    Call it after the sweep of processes and before removing anything below a mount point. If an unmount fails, its
    record stays for the next start. A record of anything outside the scratch folder is not ours, and only removed.
    """
    undone: list[str] = []
    for file, record in abandoned(folder, "*.json"):
        try:
            point, *behind = (Path(path) for path in (record["point"], *record["behind"]))
        except (KeyError, TypeError):
            continue
        if file != _file(folder, point):
            continue
        scratch = folder.parent.resolve() / "scratch"
        if not all(_is_below(path, scratch) for path in (point, *behind)):
            discard(file)
            continue
        if mounted(point):
            if not unmount(point):
                continue
            undone.append(f"{record.get('storage', 'a storage')} at {point}")
        for path in (point, *behind):
            if path.is_dir():
                guarded.remove_tree(path)
            else:
                discard(path)
        discard(file)
    return undone


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether the folder of ``path`` lies below ``folder``, links followed; never touch ``path`` itself."""
    try:
        return (
            path.name not in ("", "..")
            and "\0" not in path.name
            and path.parent.resolve().is_relative_to(folder)
        )
    except (OSError, ValueError, RuntimeError):  # a NUL in the name, a circle of links
        return False


def _file(folder: Path, point: Path) -> Path:
    return folder / f"{hashlib.sha256(str(point).encode()).hexdigest()[:16]}.json"
