"""Ends a trial in which nothing moves any more: a server or client that was stopped, or waits for ever.

Clients have timeouts of their own for each operation. What they cannot see, an embedded engine that hangs or a
load tool that does, shows in this: none of the processes that the harness started uses any processor time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

from benchbook.systems.process_tree import tree
from benchbook.telemetry.process import read

HANG_SECONDS = 300.0
"""How long nothing may move. Databases and Go programs have background work each second."""
HANG_VARIABLE = "BENCHBOOK_HANG_SECONDS"
"""Environment variable that replaces it."""
MOVED_SECONDS = 0.02
"""Processor time in that length which is a sign of life."""


class Hang:
    """Watches the harness's processes for the length of a ``with`` block, from a thread of its own."""

    def __init__(self, processes: Callable[[], list[int]], seconds: float | None = None) -> None:
        """Take what names those to kill when nothing moves: the trial's server and client."""
        self.seconds = seconds or float(os.environ.get(HANG_VARIABLE) or HANG_SECONDS)
        self.found = False
        self._processes = processes
        self._end = threading.Event()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch until the block ends."""
        thread = threading.Thread(target=self._watch, name="hang", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def words(self) -> str:
        """Say that it hung, to be added to what failed because of it; empty where it did not."""
        return f" Nothing had moved for {self.seconds:g} s: it hung, and was ended." if self.found else ""

    def _watch(self) -> None:
        quiet, before = 0.0, _used()
        step = self.seconds / 10
        while not self._end.wait(step):
            now = _used()
            if before is None or now is None or abs(now - before) > MOVED_SECONDS:
                quiet, before = 0.0, now
                continue
            quiet += step
            if quiet >= self.seconds:
                self.found = True
                for pid in self._processes():
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                quiet = 0.0


def _used() -> float | None:
    """Return the processor time of all that this process started; None where nothing runs."""
    found = [one for pid in tree(os.getpid())[1:] if (one := read(pid)) is not None]
    if not found:
        return None
    return sum(one.usage.user + one.usage.system + one.reaped.user + one.reaped.system for one in found)
