"""How many bytes a folder takes, and what it stands on."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mount:
    """One line of the kernel's mount table."""

    point: str
    file_system: str
    source: str
    options: str
    device: str
    """``major:minor`` of the device."""


def allocated(folder: Path) -> int:
    """Return the bytes that the files under ``folder`` take on the device, as ``du`` counts them.

    Allocated, not apparent: databases make sparse files of many megabytes that hold a few kilobytes. A file
    that vanishes meanwhile counts nothing; a missing folder is 0.
    """
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - a Path a file is slow for many files
            except OSError:
                continue
            total += status.st_blocks * 512
    return total


def mount_of(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> Mount | None:
    """Return what is mounted where ``folder`` stands, or None where the system has no such table."""
    try:
        lines = table.read_text().splitlines()
    except OSError:
        return None
    path = folder.resolve()
    best: Mount | None = None
    for line in lines:
        left, _, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        point = _unescaped(before[4])
        inside = path == Path(point) or Path(point) in path.parents
        # The last of several mounts on one point is the one that is seen.
        if inside and (best is None or len(point) >= len(best.point)):
            options = ",".join(dict.fromkeys([*before[5].split(","), *after[2].split(",")]))
            best = Mount(point, after[0], _unescaped(after[1]), options, before[2])
    return best


def facts(folder: Path) -> dict[str, str | int | bool | None]:
    """Return file system, mount options, device and free bytes of the place where ``folder`` stands."""
    usage = shutil.disk_usage(folder)
    mount = mount_of(folder)
    return {
        "file_system": mount.file_system if mount else None,
        "mount_point": mount.point if mount else None,
        "mount_options": mount.options if mount else None,
        "device": mount.source if mount else None,
        "rotational": _rotational(mount.device) if mount else None,
        "free_bytes": usage.free,
        "total_bytes": usage.total,
    }


def _rotational(device: str) -> bool | None:
    """Say whether the device is a spinning disk; None where the kernel does not tell (overlay, tmpfs)."""
    base = Path("/sys/dev/block") / device
    for place in (base, base.resolve().parent):
        try:
            return (place / "queue" / "rotational").read_text().strip() == "1"
        except OSError:
            continue
    return None


def _unescaped(text: str) -> str:
    """Undo the octal escapes that the mount table has for spaces and such."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
