"""How many bytes a folder takes on its device."""

from __future__ import annotations

import os
from pathlib import Path


def allocated(folder: Path) -> int:
    """Return the bytes that the files under ``folder`` take on the device, as ``du`` counts them.

    Allocated, not apparent: databases make sparse files of many megabytes that hold a few kilobytes. A file
    that vanishes meanwhile counts nothing; a missing folder is 0.
    """
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - a Path a file is slow
            except OSError:
                continue
            total += status.st_blocks * 512
    return total
