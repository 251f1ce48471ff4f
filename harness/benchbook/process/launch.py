"""What provision found of a system, and how a trial starts it: as processes of this machine or in containers.

A driver asks its place (``place.start``, ``place.call``) and need not know which of the two it is.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from benchbook.process.remote import Machines

CALL_SECONDS = 900.0
"""How long a program that a driver calls and waits for may take."""


@dataclass(frozen=True)
class ContainerOptions:
    """How a system runs in a container."""

    network: Literal["host", "private"] = "host"
    """The machine's network, or a private one of the trial in which the container has an address."""
    cpus: float | None = None
    """Processor time that it may use per second, in cores; None sets no limit."""
    cores: str | None = None
    """The cores it may run on, as ``0-3,6``; None allows all."""
    memory_bytes: int | None = None
    """Memory that it may use, including its share of the page cache; it gets no swap in addition."""
    user: str | None = None
    """``UID:GID`` that it runs as; None takes the harness's user, who then owns its files."""

    def description(self) -> str:
        """Return the options that are set, for the report."""
        parts = [f"network {self.network}"]
        parts += [f"at most {self.cpus:g} cores of time"] if self.cpus else []
        parts += [f"on the cores {self.cores}"] if self.cores else []
        parts += [f"at most {self.memory_bytes} B of memory"] if self.memory_bytes else []
        parts += [f"as user {self.user}"] if self.user else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Program:
    """A system that provision found: what a trial will start, and where it came from."""

    system: str
    version: str
    source: str
    """One of ``declare.system.SOURCE_NAMES``: ``given``, ``nix``, ``docker`` …"""
    path: Path | None = None
    """The executable, or its path inside the image; None for a running server and for Python bindings."""
    url: str | None = None
    """Address of a running server; None when the harness starts one."""
    digest: str | None = None
    """Digest of the executable or of the image, ``sha256:<hex>``."""
    detail: str = ""
    """How it was obtained, for the report: command, image or package."""
    image: str | None = None
    """Identity of the image that it runs from; None for what runs without a container."""
    container: ContainerOptions | None = None
    """How to make its container; only with ``image``."""


class Started(Protocol):
    """A server that was started: a process (``spawn.Running``) or a container."""

    def ending(self) -> str | None:
        """Return how it ended (``exited with code 1``), or None while it runs."""
        ...

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        ...

    def tree(self) -> list[int]:
        """Return the process ids of it and its descendants now, as this machine numbers them."""
        ...

    def kill(self) -> None:
        """Kill it at once, from any thread; ``stop`` must still be called."""
        ...

    def wait_ending(self, seconds: float) -> None:
        """Return when it has ended, or after ``seconds``."""
        ...

    def stop(self, grace_seconds: float = ..., first: signal.Signals | None = ...) -> None:
        """Send ``first``, then kill it after ``grace_seconds``; never raise."""
        ...


class Launch(Protocol):
    """Starts the programs of one system in one trial."""

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """Start a server; raise TrialFailed when that fails. ``name`` is what messages call it."""
        ...

    def call(
        self, command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the system to its end; raise OSError or TimeoutExpired as ``subprocess.run`` does."""
        ...

    def usage(self) -> Mapping[str, float]:
        """Return what the servers used so far, by metric of telemetry; empty where telemetry reads processes."""
        ...

    def close(self) -> None:
        """Remove what was made for the trial; never raise."""
        ...


def call(
    command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a program of this machine to its end, with an empty standard input."""
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_seconds,
    )


_MACHINES: ContextVar[Machines | None] = ContextVar("machines", default=None)


def client_machines() -> Machines | None:
    """Return the machines on which clients start; None means this machine."""
    return _MACHINES.get()


@contextmanager
def clients_on(machines: Machines | None) -> Iterator[None]:
    """Start the clients of a ``with`` block on other machines, in this thread."""
    token = _MACHINES.set(machines)
    try:
        yield
    finally:
        _MACHINES.reset(token)
