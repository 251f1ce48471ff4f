"""State the size and digest of the files of a trial that enter the database, and compare them later.

A file that is removed, or cut at the end of a line, looks like one of a shorter trial: only a digest shows the change.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

Stated = Mapping[str, Mapping[str, object]]
"""File, as its path below the trial's folder → its ``bytes`` and ``sha256``."""


def files(trial: Path) -> list[Path]:
    """Return the files of a trial's folder that enter the database, in order."""
    return sorted([*trial.glob("*.jsonl"), *trial.glob("*/*.parquet")])


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


def _of(path: Path) -> dict[str, object]:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(None, "not a regular file", str(path))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}
