"""State the size and digest of the files of a trial that enter the database, and compare them later.

A file that is removed, or cut at the end of a line, looks like one of a shorter trial: only a digest shows the change.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.record.trial_record import Digest

Stated = dict[str, "Digest"]
"""File, as its path below the trial's folder → its ``bytes`` and ``sha256``."""


def files(trial: Path) -> list[Path]:
    """Return the files of a trial's folder that enter the database, in order."""
    return sorted([*trial.glob("*.jsonl"), *trial.glob("*/*.parquet")])


def remove_foreign(trial: Path) -> list[str]:
    """Remove what no client of a trial makes in its folder, and return the names.

    That is a link, a pipe, a folder in place of a file, and a file with a second name elsewhere: a program of the trial
    may have linked a file of the user, which must be neither read nor changed.
    """
    if trial.is_symlink() or not trial.is_dir():
        trial.unlink()
        trial.mkdir()
        return [trial.name]
    removed = [path for path in sorted(trial.iterdir()) if _is_foreign(path, folders=True)]
    for path in removed:
        _remove(path)
    inside = [path for path in sorted(trial.glob("*/*.parquet")) if _is_foreign(path, folders=False)]
    for path in inside:
        _remove(path)
    return [path.relative_to(trial).as_posix() for path in (*removed, *inside)]


def _is_foreign(path: Path, *, folders: bool) -> bool:
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode):
        return not folders or path.suffix in (".json", ".jsonl")
    return not stat.S_ISREG(found.st_mode) or found.st_nlink != 1


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def state(trial: Path) -> Stated:
    """Return size and digest of each file; raise OSError if one cannot be read."""
    return {path.relative_to(trial).as_posix(): _of(path) for path in files(trial)}


def verify(trial: Path, stated: Stated) -> None:
    """Raise ValueError that names the first file that is missing, new or not as stated."""
    here = {path.relative_to(trial).as_posix(): path for path in files(trial)}
    for name in sorted(here.keys() | stated.keys()):
        path = trial / name
        if name not in here:
            raise ValueError(f"{path} is missing, but the trial ended with it")
        if name not in stated:
            raise ValueError(f"{path} is new: the trial ended without it")
        try:
            size = path.stat().st_size
            same = size == stated[name]["bytes"] and _of(path) == stated[name]
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
        if not same:
            ended = f", in place of {stated[name]['bytes']:,}" if size != stated[name]["bytes"] else ""
            raise ValueError(f"{path} has changed since the trial ended: it has {size:,} bytes{ended}")


def _of(path: Path) -> Digest:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(None, "not a regular file", str(path))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}
