"""What was mounted and must not outlive the harness: one small file a mount, swept at the next start.

The sibling of ``systems/leftovers.py``. A mount is undone only when the harness that made it is gone; what
stood behind it (an image file, a cache) is removed with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
from pathlib import Path

from benchbook.storage import mounting
from benchbook.systems.leftovers import identity


def register(folder: Path | None, point: Path, behind: tuple[Path, ...], words: str) -> None:
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


def unregister(folder: Path | None, point: Path) -> None:
    """Forget a mount that was undone; forgetting twice is no mistake."""
    if folder is not None:
        with contextlib.suppress(OSError):
            _file(folder, point).unlink(missing_ok=True)


def sweep(folder: Path) -> list[str]:
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
        if mounting.mounted(point):
            if not mounting.unmount(point):
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
