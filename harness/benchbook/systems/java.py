"""Helpers for servers on the Java virtual machine: the java program, jars and heap sizes."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.host.cgroup import groups
from benchbook.host.cgroup import memory_bytes as memory_limit
from benchbook.host.hardware import machine_bytes
from benchbook.host.reading import Tree, Unreadable
from benchbook.systems.driver import Place

LARGEST_HEAP = 31 << 30
"""Above this size pointers are twice as long; vendors advise staying below."""
HEAP = "heap"
"""Setting of an arm for the heap, such as ``4g`` or ``half``; it is not a setting of the server."""
LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>
"""
"""Configuration of logback: warnings only, to standard output."""


def program(place: Place | None = None) -> str:
    """Return the path of ``java``, or its name if the system's image has it on its PATH."""
    if place is not None and place.program.isolated:
        return "java"
    found = shutil.which("java")
    if found is None:
        raise TrialFailed(
            "java is not on PATH, but this system needs it.",
            "Install it with: apt-get install openjdk-17-jdk-headless",
        )
    return found


def jars_of(place: Place) -> list[Path]:
    """Return the jars of a trial's program, which may be in an image."""
    assert place.program.path is not None
    if not place.program.isolated:
        return jars(place.program.path)
    folder = place.program.path.parent.parent / "lib"
    return sorted(
        folder / name for name in place.call(["ls", folder]).stdout.split() if name.endswith(".jar")
    )


def jars(path: Path) -> list[Path]:
    """Return the jars of a program: those in a folder, or those in ``lib`` next to its ``bin``."""
    folder = path if path.is_dir() else path.resolve().parent.parent / "lib"
    found = sorted(folder.glob("*.jar"))
    if not found:
        raise TrialFailed(
            f"There are no .jar files in {folder}.",
            "Give the program of an unpacked distribution, with --system NAME=FOLDER/bin/PROGRAM; its .jar files are in"
            " FOLDER/lib.",
        )
    return found


def classpath(files: Sequence[Path]) -> str:
    """Return the files in the form of ``-cp``."""
    return ":".join(str(file) for file in files)


def heap(size: str, memory_bytes: int) -> str:
    """Return a heap size in the form of ``-Xmx``; ``half`` is half of the memory that the server may use.

    >>> heap("1g", 8 << 30), heap("half", 8 << 30), heap("half", 256 << 30)
    ('1g', '4096m', '31744m')
    """
    if size != "half":
        return size
    return f"{min(memory_bytes // 2, LARGEST_HEAP) >> 20}m"


def heap_of(place: Place) -> str:
    """Return the heap that the arm sets, else 1 GiB; a memory limit of the trial counts as the memory."""
    limit, available = place.limits.memory_bytes, memory_bytes()
    return heap(str(place.settings.get(HEAP, "1g")), available if limit is None else min(limit, available))


def memory_bytes() -> int:
    """Return the memory that a server may use: the tightest limit of a control group, else the machine's memory."""
    limits: list[int] = []
    with contextlib.suppress(Unreadable):
        limits = [limit for group in groups(Tree(), "memory") if (limit := memory_limit(group)) is not None]
    return min([int(machine_bytes()), *limits])


def home() -> str:
    """Return the folder of the Java installation, for ``JAVA_HOME``."""
    return str(Path(program()).resolve().parent.parent)
