"""One server in a container: its log, its last words, its end; the counterpart of ``process.Running``."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.systems import leftovers
from benchbook.systems.process import GRACE_SECONDS, last_words
from benchbook.telemetry.control_group import ControlGroup

NOTICE_SECONDS = 5.0
"""How long the engine may take to notice that the process of a container has ended."""


class Container:
    """A container that was started; ``handle`` is its object in Docker's SDK."""

    def __init__(self, handle: Any, words: str, log: Path) -> None:
        self._handle = handle
        self.words = words
        self.log = log
        # Attached before the start: nothing that it says is lost, and the engine keeps no second copy.
        stream = handle.attach(stdout=True, stderr=True, stream=True, logs=False)
        self._writer = threading.Thread(target=_keep, args=(stream, log), daemon=True)
        self._writer.start()
        handle.start()
        handle.reload()
        self.pid = int(handle.attrs["State"]["Pid"])
        self._identity = leftovers.identity(self.pid) if self.pid else None
        self.group = ControlGroup.of(self.pid) if self.pid else ControlGroup({})
        self._ending: str | None = None

    def ending(self) -> str | None:
        """Say how it ended, or None while it runs. The engine is asked only when its process is gone."""
        if self._ending is None and not self._alive():
            self._ending = self._ask()
        return self._ending

    def _alive(self) -> bool:
        return self._identity is not None and leftovers.identity(self.pid) == self._identity

    def _ask(self) -> str:
        deadline = time.monotonic() + NOTICE_SECONDS
        state: dict[str, Any] = {}
        while time.monotonic() < deadline:
            try:
                self._handle.reload()
            except Exception:  # the container, or the engine, is gone
                return "was removed, or its engine stopped"
            state = self._handle.attrs["State"]
            if not state.get("Running"):
                break
            time.sleep(0.02)
        if state.get("OOMKilled"):
            return "was ended because it used more memory than its limit"
        return f"exited with code {state.get('ExitCode')}"

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        ending = self.ending()
        if ending is not None:
            self._writer.join(timeout=1)
            raise TrialFailed(
                f"{self.words}, in a container, {ending}. Its last words: {last_words(self.log)}",
                f"Its whole log is {self.log}.",
            )

    def tree(self) -> list[int]:
        """Process ids of all in the container, as this machine numbers them."""
        return [] if self.ending() is not None else self.group.pids() or [self.pid]

    def kill(self) -> None:
        """Kill it at once."""
        self._signal(signal.SIGKILL)

    def wait_ending(self, seconds: float) -> None:
        """Return when it has ended, or after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.ending() is None and time.monotonic() < deadline:
            time.sleep(0.01)

    def stop(
        self, grace_seconds: float = GRACE_SECONDS, first: signal.Signals | None = signal.SIGTERM
    ) -> None:
        """End it: ``first``, SIGKILL after ``grace_seconds``; then remove it and its anonymous volumes."""
        if first is not None and self.ending() is None:
            self._signal(first)
        self.wait_ending(grace_seconds)
        self._writer.join(timeout=0 if self._alive() else 5)
        remove(self._handle)
        self._ending = self._ending or "was removed"

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(Exception):  # it has ended by itself, or its engine has
            self._handle.kill(signal=number.name)


def remove(handle: Any) -> None:
    """Remove a container with its anonymous volumes, by force; one that is gone is fine."""
    with contextlib.suppress(Exception):
        handle.remove(v=True, force=True)


def _keep(stream: Iterator[bytes], log: Path) -> None:
    """Write what a container says into its log, until it ends."""
    with log.open("ab", buffering=0) as file, contextlib.suppress(Exception):
        for part in stream:
            file.write(part)
