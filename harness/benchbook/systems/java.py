"""Servers of the Java virtual machine: their jars, their heap, the command that starts one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Place

LARGEST_HEAP = 31 << 30
"""Above it pointers are twice as long; the handbooks advise to stay below."""


def program() -> str:
    """Return the path of ``java``."""
    found = shutil.which("java")
    if found is None:
        raise TrialFailed(
            "There is no java on PATH, which this system runs in.",
            "Get it with: apt-get install openjdk-17-jdk-headless",
        )
    return found


def jars(path: Path) -> list[Path]:
    """Return the jars of a program: those of a folder, or those in ``lib`` beside its ``bin``."""
    folder = path if path.is_dir() else path.resolve().parent.parent / "lib"
    found = sorted(folder.glob("*.jar"))
    if not found:
        raise TrialFailed(
            f"There are no jars in {folder}.", "Give the program in the bin folder of a distribution."
        )
    return found


def classpath(files: Sequence[Path]) -> str:
    """Return the files as ``-cp`` takes them."""
    return ":".join(str(file) for file in files)


def heap(words: str, memory_bytes: int) -> str:
    """Return a heap size as ``-Xmx`` takes it; ``half`` is half of the memory that the server may use.

    >>> heap("1g", 8 << 30), heap("half", 8 << 30), heap("half", 256 << 30)
    ('1g', '4096m', '31744m')
    """
    if words != "half":
        return words
    return f"{min(memory_bytes // 2, LARGEST_HEAP) >> 20}m"


def heap_of(place: Place, setting: str) -> str:
    """Return the heap that the arm sets, 1 GiB where it sets none; a memory limit of the trial bounds its half."""
    limited = place.limits.memory_bytes
    here = memory_bytes()
    return heap(str(place.settings.get(setting, "1g")), here if limited is None else min(limited, here))


def memory_bytes() -> int:
    """Return the memory that a server started here may use: that of the control group, else that of the machine."""
    limits = [Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    total = next(
        int(line.split()[1]) << 10
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        if line.startswith("MemTotal:")
    )
    for file in limits:
        try:
            return min(total, int(file.read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return total
