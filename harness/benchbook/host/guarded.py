"""Files and folders that someone else may have put in the way: opened without waiting, read up to a limit."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

RECORD_BYTES = 64 << 10
"""Limit of a small record of Benchbook; the longest, of a mount with several images, has a few hundred bytes."""
RESULT_BYTES = 256 << 20
"""Limit of a JSON file of a run: a plan of 100,000 trials has about 50 MB, a trial's record less than 1 MB."""


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def kind(mode: int) -> str | None:
    """Return what has this mode, such as ``a pipe``; None for a regular file.

    >>> kind(stat.S_IFIFO), kind(stat.S_IFREG)
    ('a pipe', None)
    """
    if stat.S_ISREG(mode):
        return None
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "something else")


def irregular(path: Path) -> str | None:
    """Return what a path is that must not be read as a file; None for a regular file, or if there is nothing."""
    try:
        return kind(path.stat().st_mode)
    except OSError:
        return None


def regular(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes; raise OSError if it is something else.

    A named pipe would block its reader until somebody writes, and a device such as ``/dev/zero`` never ends.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        mode = os.fstat(descriptor).st_mode
        if kind(mode) is not None and not stat.S_ISDIR(mode):
            raise OSError(None, "not a regular file", str(path))
        return os.fdopen(descriptor, "rb")  # raises IsADirectoryError for a folder
    except BaseException:
        os.close(descriptor)
        raise


def contents(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file; raise OSError if it is something else or larger than ``most_bytes``."""
    with regular(path) as file:
        found = file.read(most_bytes + 1)
    if len(found) > most_bytes:
        raise OSError(None, f"larger than {most_bytes} bytes", str(path))
    return found


def record(path: Path) -> dict[str, Any]:
    """Return a small JSON object; raise OSError or ValueError."""
    try:
        found = json.loads(contents(path, RECORD_BYTES))
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deep") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} does not hold an object")  # noqa: TRY004 - one error for all
    return found


def whole_number(value: object) -> int:
    """Return a positive integer of a record; raise ValueError for anything else, ``true`` and Infinity included."""
    if type(value) is not int or value <= 0:
        raise ValueError(f"{str(value)[:40]!r} is not a positive integer")
    return value


def close_lock(path: Path) -> int:
    """Create the file of a lock, or correct that of this user: who may not write to its folder may not lock it.

    Everybody who may read a file can lock it for as long as they like. Returns its rights, which some releases of
    filelock set again. Raises OSError for a link.
    """
    writers = path.parent.stat().st_mode & 0o022
    rights = 0o600 | writers | writers << 1
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            with contextlib.suppress(OSError):  # a file system without rights
                os.fchmod(descriptor, rights)
    finally:
        os.close(descriptor)
    return rights


def is_link(path: Path) -> bool:
    """Return whether a path is a symbolic link, whatever it leads to; never raise."""
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, except for what is mounted there or may not be removed; never raise.

    ``rm`` takes folders that are nested deeper than Python's recursion and than the longest path.
    """
    if is_link(folder) or not folder.is_dir():
        return
    one_system = "--one-file-system" if sys.platform == "linux" else "-x"
    try:
        subprocess.run(
            ["rm", "-rf", one_system, "--", str(folder.absolute())], capture_output=True, check=False
        )
    except (OSError, ValueError):
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


def files_below(folder: Path) -> Iterator[str]:
    """Yield the paths of all files under a folder; links are files. ``os.walk`` fails on 1,000 nested folders."""
    left = [str(folder)]
    while left:
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                else:
                    yield entry.path


def own_folder(path: Path) -> Path:
    """Create a folder in which only this user may write, and return it; raise OSError if it is not that.

    In a folder that all users share, another user could have created it before, or a link under its name.
    """
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise OSError(None, "is a link or a file, not a folder", str(path))
    if found.st_uid != os.geteuid():
        raise OSError(None, "belongs to another user", str(path))
    if found.st_mode & 0o022:
        raise OSError(None, "is writable by other users", str(path))
    return path
