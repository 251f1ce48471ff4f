"""Cut long logs of a trial after its programs have ended: a server may write gigabytes in a short trial."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from benchbook.host import guarded

KEPT_BYTES = 8 << 20
"""Bytes that are kept of the beginning, where a server states its settings, and of the end, with why it died."""


def cut(folder: Path, kept_bytes: int = KEPT_BYTES) -> list[Path]:
    """Cut each file below ``folder`` to its beginning and end; return the changed files. No link is followed."""
    files = map(Path, sorted(guarded.files_below(folder))) if not folder.is_symlink() else ()
    return [path for path in files if shorten(path, kept_bytes)]


def shorten(path: Path, kept_bytes: int) -> bool:
    """Cut a file to its beginning and end, unless it is short, linked or none; return whether it has changed."""
    found = path.lstat()
    long = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size > 2 * kept_bytes + 1024
    if long:
        _cut(path, found.st_size, kept_bytes)
    return long


def _cut(path: Path, size: int, kept_bytes: int) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)
    try:
        with path.open("rb") as file, beside.open("xb") as kept:
            _write_ends(file, kept, size, kept_bytes)
        shutil.copymode(path, beside)
        os.replace(beside, path)  # noqa: PTH105
    finally:
        beside.unlink(missing_ok=True)


def excerpt(source: Path, target: Path, kept_bytes: int) -> None:
    """Copy a file, of a long one only its beginning and end. Raise OSError."""
    size = source.stat().st_size
    with source.open("rb") as file, target.open("wb") as kept:
        if size > 2 * kept_bytes:
            _write_ends(file, kept, size, kept_bytes)
        else:
            shutil.copyfileobj(file, kept)


def _write_ends(file: BinaryIO, kept: BinaryIO, size: int, kept_bytes: int) -> None:
    kept.write(file.read(kept_bytes))
    kept.write(f"\n[Benchbook left out {size - 2 * kept_bytes:,} bytes of this file]\n".encode())
    file.seek(size - kept_bytes)
    kept.write(file.read(kept_bytes))
