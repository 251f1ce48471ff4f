"""How a system's programs are started: as processes of this machine, or in containers.

A driver asks its place (``place.start``, ``place.call``) and does not know which of them it is.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

CALL_SECONDS = 900.0
"""How long a program that a driver calls and waits for may take."""


class Started(Protocol):
    """A server that was started; see ``process.Running`` for what each call does."""

    def ending(self) -> str | None:
        """Say how it ended (``exited with code 1``), or None while it runs."""
        ...

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        ...

    def tree(self) -> list[int]:
        """Process ids of it and its descendants now, as this machine numbers them."""
        ...

    def kill(self) -> None:
        """Kill it at once, from any thread; ``stop`` must still be called."""
        ...

    def wait_ending(self, seconds: float) -> None:
        """Return when it has ended, or after ``seconds``."""
        ...

    def stop(self, grace_seconds: float = ..., first: signal.Signals | None = ...) -> None:
        """End it: ``first``, then by force. Never raises."""
        ...


class Launch(Protocol):
    """Starts the programs of one system in one trial."""

    def start(
        self,
        command: Sequence[str | Path],
        *,
        words: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """Start a server; raise TrialFailed when it cannot be."""
        ...

    def call(
        self, command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the system to its end; raise OSError or TimeoutExpired as ``subprocess.run``."""
        ...

    def usage(self) -> Mapping[str, float]:
        """Return what the servers used so far, by metric of telemetry; empty where their processes tell it."""
        ...

    def close(self) -> None:
        """Take away what was made for the trial; never raises."""
        ...


def call(
    command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a program of this machine to its end, with nothing to read."""
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_seconds,
    )
