"""A process and its descendants, as they are now."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path


def tree(pid: int) -> list[int]:
    """Return ``pid`` and all its descendants that run now."""
    found, seen = [pid], 0
    while seen < len(found):
        found += _children(found[seen])
        seen += 1
    return found


def _children(pid: int) -> list[int]:
    listings = list(Path(f"/proc/{pid}/task").glob("*/children"))
    if not listings and sys.platform != "linux":
        import psutil

        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    children: list[int] = []
    for listing in listings:
        with contextlib.suppress(OSError):
            children += [int(number) for number in listing.read_text().split()]
    return children
