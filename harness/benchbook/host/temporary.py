"""Temporary folders, and the sweep of those that killed processes of this user left."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from benchbook.host.identity import name_of, process_space

_NAME = re.compile(r"benchbook-[a-z-]+-(\d+)-((\d+)-[\d.]+)-\w+", re.ASCII)
"""What it is for, the process space, the process and its start, and what makes it unique."""


def folder(purpose: str) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder of this process, for ``with``; remove those that dead processes of this user left."""
    sweep()
    prefix = f"benchbook-{purpose}-{process_space()}-{name_of(os.getpid())}-"
    return tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)


def holds(path: Path) -> bool:
    """Return whether a path lies in a temporary folder of this process, whose links are its own."""
    own = f"-{process_space()}-{name_of(os.getpid())}-"
    parents = (one for one in path.absolute().parents if one.parent == Path(tempfile.gettempdir()).absolute())
    return any(
        _NAME.fullmatch(one.name) and own in one.name and one.lstat().st_uid == os.geteuid()
        for one in parents
    )


def space_hint(path: Path, otherwise: str) -> str:
    """Return how to make room for a file; ``otherwise`` if it is not in a temporary folder of Benchbook."""
    root = Path(tempfile.gettempdir()).absolute()
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    if not parts or not _NAME.fullmatch(parts[0]):
        return otherwise
    return f"Free some space in {root}, where temporary files are, or name another folder in the variable TMPDIR."


def sweep() -> None:
    """Remove the temporary folders of dead processes of this user; never raise.

    Other users may put anything beside them: only real folders of this user whose whole name fits are removed.
    """
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            named = _NAME.fullmatch(entry.name)
            if named is None or int(named[1]) != process_space() or named[2] == name_of(int(named[3])):
                continue
            with contextlib.suppress(OSError):
                if (
                    entry.is_dir(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
                ):
                    shutil.rmtree(Path(entry.path), ignore_errors=True)
