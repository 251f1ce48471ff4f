"""What runs on a client's worker: starts benchload there and hands over what it says. A Dask actor.

Every call returns at once: all actors of a worker share one thread.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from benchbook.run import benchload
from benchbook.systems import process

LINES = 2000
"""Lines handed over at most at a time."""


class Agent:
    """The load clients of one worker."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="benchbook-client-"))
        self._running: dict[int, tuple[process.Running, deque[bytes], threading.Thread]] = {}

    def about(self) -> dict[str, Any]:
        """Say which machine this is."""
        return {"host": socket.gethostname(), "cores": len(os.sched_getaffinity(0)), "pid": os.getpid()}

    def now(self) -> float:
        """Return this machine's clock, s since 1970."""
        return time.time()

    def start(self, arguments: list[str], files: dict[int, bytes], environment: dict[str, str]) -> int:
        """Start benchload; ``files`` holds the content of arguments that name files. Returns a handle."""
        key = len(self._running)
        for place, content in files.items():
            path = self._folder / f"{key}-{place}"
            path.write_bytes(content)
            arguments[place] = str(path)
        log = self._folder / f"{key}.log"
        running = process.start(
            [benchload.find(), *arguments], words="benchload", log=log, pipes=True, environment=environment
        )
        lines: deque[bytes] = deque()
        pump = threading.Thread(target=_pump, args=(running, lines), daemon=True)
        pump.start()
        self._running[key] = running, lines, pump
        return key

    def begin(self, key: int, at: float) -> None:
        """Let a benchload that waits begin at a moment of this machine's clock."""
        running = self._running[key][0]
        threading.Timer(max(0.0, at - time.time()), _release, args=(running,)).start()

    def poll(self, key: int) -> tuple[list[bytes], str | None, str]:
        """Return new lines, how it ended (None while it runs or lines are left), and its messages at its end."""
        running, lines, pump = self._running[key]
        ending = running.ending()
        if ending is not None:
            pump.join(timeout=5)
        new = [lines.popleft() for _ in range(min(len(lines), LINES))]
        if ending is None or lines:
            return new, None, ""
        return new, ending, running.log.read_text(errors="replace")[-20000:]

    def stop(self, key: int) -> None:
        """End it by force."""
        self._running[key][0].stop(grace_seconds=0.0, first=signal.SIGKILL)

    def stop_all(self) -> None:
        """End all that runs here."""
        for running, _, _ in self._running.values():
            running.stop(grace_seconds=0.0, first=signal.SIGKILL)


def _pump(running: process.Running, lines: deque[bytes]) -> None:
    assert running.process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in running.process.stdout:
            lines.append(line)


def _release(running: process.Running) -> None:
    with contextlib.suppress(OSError, ValueError):
        running.release()
