"""Ends an operation that takes too long, through the engine's own interruption."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHECK_SECONDS = 0.05


class Watchdog:
    """One thread that looks at one deadline: starting a timer for each operation would cost more."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._deadline: float | None = None
        self.expired = False
        """Whether the last operation was ended for taking too long."""
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Stop looking."""
        self._stopped.set()

    def kind(self) -> str:
        """Return the kind of the error that the last operation met: ``timeout`` or ``refused``."""
        return "timeout" if self.expired else "refused"

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Interrupt what runs inside when it takes longer than ``seconds``."""
        self.expired = False
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while not self._stopped.wait(CHECK_SECONDS):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self.expired = True
                self._interrupt()
