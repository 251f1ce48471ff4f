"""What distinguishes a process from every other one, on this machine and in this boot."""

from __future__ import annotations

from pathlib import Path


def identity(pid: int) -> str | None:
    """Return what distinguishes this process from any other with the same id; None if it is gone.

    On Linux it is the boot id and the start time in clock ticks. The start time that psutil returns changes when the
    clock is set, so psutil is used only on other systems.
    """
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        if fields[0] in "ZX":
            return None
        return f"{boot()}:{fields[19]}"
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return None


def boot() -> str:
    """Return the id of this boot; empty if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def process_space() -> int:
    """Return what identifies the processes that are visible here, of this machine or of a container; 0 if unknown."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def name_of(pid: int) -> str:
    """Return a name for files of a process that no later process with the same id gets."""
    return f"{pid}-{(identity(pid) or 'gone').rpartition(':')[2]}"
