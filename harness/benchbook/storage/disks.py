"""The disks of a data folder: the folders that a storage of several devices mounts, else the folder itself."""

from __future__ import annotations

from pathlib import Path

NAME = "disk-"


def disks(data: Path) -> list[Path]:
    """Return one folder a disk, in their order."""
    found = sorted(data.glob(f"{NAME}*")) if data.is_dir() else []
    return found or [data]
