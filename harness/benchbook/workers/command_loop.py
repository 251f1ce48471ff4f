"""Run a command again and again and report each run: ``python -I -S command_loop.py``, a request on stdin.

A process of its own, with the standard library alone: it starts commands faster than the harness, and what the kernel
reports as the peak memory of a command is at least the memory of the process that started it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

PART_BYTES = 1 << 20
UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in the unit in which the kernel states a peak of memory."""
CHECK_SECONDS = 0.25
"""Time between two checks of a running command."""
MOST_OUTPUT_BYTES = 8 << 30
LEAST_FREE_BYTES = 512 << 20
"""A command is stopped when it has printed more, or when its output leaves less free on the disk."""
TOO_MUCH = f"printed more than {MOST_OUTPUT_BYTES >> 30} GiB, or filled the disk"


def main() -> None:
    """Measure the empty command, then run the command until it has run long enough; a line of JSON for each run."""
    asked = json.loads(sys.stdin.readline())
    began = time.perf_counter()
    for _ in range(asked["empty_runs"]):
        emit("empty", ran(asked["empty"], asked))
        if time.perf_counter() - began > asked["empty_seconds"]:
            break
    total, timed, number = 0.0, 0, -asked["warmup"]
    while number < 0 or timed < asked["runs"] or total < asked["seconds"]:
        aside("prepare", asked)
        one = ran(asked["command"], asked)
        one["answer"] = apart(Path(asked["output"]), asked["compared"])
        emit("warmup" if number < 0 else "run", one)
        if one["code"] not in asked["exit_codes"] or one["stopped"]:
            return
        aside("conclude", asked)
        if number >= 0:
            total, timed = total + one["seconds"], timed + 1
        number += 1


def emit(kind: str, content: dict[str, Any]) -> None:
    """Write one line at once."""
    sys.stdout.write(json.dumps({"type": kind, **content}) + "\n")
    sys.stdout.flush()


def ran(command: list[str], asked: dict[str, Any]) -> dict[str, Any]:
    """Run a command with its output in a file; return its time, what it used and how it ended."""
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, asked["output"], write, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, asked["errors"], write, 0o600),
    ]
    began = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    ended, why = threading.Event(), [""]
    guard = threading.Thread(target=watch, args=(pid, asked, ended, why), daemon=True)
    try:
        guard.start()
        _, status, used = os.wait4(pid, 0)
        seconds = time.perf_counter() - began
    except BaseException:  # interrupted: the command is in a process group of its own and would go on
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        ended.set()
    if why[0] == "output":
        for name in {asked["output"], asked["errors"]} - {os.devnull}:
            os.truncate(name, 0)
    return {
        "seconds": seconds,
        "user_seconds": used.ru_utime,
        "system_seconds": used.ru_stime,
        "memory_bytes": used.ru_maxrss * UNIT,
        "floor_bytes": own_peak(),
        "code": os.waitstatus_to_exitcode(status),
        "stopped": why[0],
    }


def own_peak() -> int:
    """Return the peak of this process's memory since it began, which commands inherit; not that of its parent."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def watch(pid: int, asked: dict[str, Any], ended: threading.Event, why: list[str]) -> None:
    """Kill a command that takes too long or prints too much, with all that it started, and say which of both."""
    end = time.monotonic() + asked["timeout"]
    while not ended.wait(min(CHECK_SECONDS, max(end - time.monotonic(), 0.0))):
        if time.monotonic() >= end:
            why[0] = "time"
        elif any(map(printed_too_much, (asked["output"], asked["errors"]))):
            why[0] = "output"
        if why[0]:
            with contextlib.suppress(ProcessLookupError):  # it ended by itself
                os.killpg(pid, signal.SIGKILL)
            return


def printed_too_much(output: str) -> bool:
    """Return whether an output is too large to be kept; one that goes to a device never is."""
    try:
        printed, disk = Path(output).stat().st_size, os.statvfs(output)
        full = disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES
        return printed > MOST_OUTPUT_BYTES or (full and printed > PART_BYTES)
    except OSError:  # the command may remove it
        return False


def aside(name: str, asked: dict[str, Any]) -> None:
    """Run the untimed command before or after a run, if there is one; end if it fails."""
    if asked[name] and (one := ran(asked[name], asked | {"output": os.devnull}))["code"]:
        emit(name, one)
        sys.exit(1)


def apart(output: Path, compared: str) -> str | int:
    """Return ``answer`` from a process of its own, so that this one stays small."""
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        code = 1
        try:
            os.write(write, json.dumps(answer(output, compared)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as stated:
        found = stated.read()
    os.waitpid(pid, 0)
    made: str | int = json.loads(found)
    return made


def answer(output: Path, compared: str) -> str | int:
    """Return what is compared of an output: a digest of it or of its sorted lines, its number of lines, or nothing."""
    if compared == "nothing":
        return ""
    if compared == "sorted":
        return hashlib.sha256(in_order(output)).hexdigest()
    digest, lines = hashlib.sha256(), 0
    with output.open("rb") as content:
        while part := content.read(PART_BYTES):
            digest.update(part)
            lines += part.count(b"\n")
    return lines if compared == "lines" else digest.hexdigest()


def in_order(output: Path) -> bytes:
    """Return the sorted lines of an output."""
    return b"\n".join(sorted(output.read_bytes().splitlines()))


if __name__ == "__main__":
    main()
