"""Start the programs of a system: as processes of this machine, or in containers."""

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

# A system's program: what provision found, and what a trial will start.


@dataclass(frozen=True)
class ContainerOptions:
    """How a system runs in a container."""

    network: Literal["host", "private"] = "host"
    """The machine's own network, or one of the trial's own in which the container has an address."""
    cpus: float | None = None
    """Processor time a second that it may take, in cores; None sets no limit."""
    cores: str | None = None
    """The cores it may run on, as ``0-3,6``; None allows all."""
    memory_bytes: int | None = None
    """Memory it may take, its share of the page cache included; swap is not given beside it."""
    user: str | None = None
    """``UID:GID`` that it runs as; None takes the harness's own, so that its files are the harness's."""

    def words(self) -> str:
        """Return the options that are set, for the report."""
        told = [f"network {self.network}"]
        told += [f"at most {self.cpus:g} cores of time"] if self.cpus else []
        told += [f"on the cores {self.cores}"] if self.cores else []
        told += [f"at most {self.memory_bytes} B of memory"] if self.memory_bytes else []
        told += [f"as user {self.user}"] if self.user else []
        return ", ".join(told)


@dataclass(frozen=True)
class Program:
    """A system that provision found: what will be started, and where it came from."""

    system: str
    version: str
    source: str
    """One of ``given``, ``nix``, ``docker``, ``go``, ``host``, ``python``."""
    path: Path | None = None
    """The executable, inside the image where there is one; absent for a server that already runs and for
    Python bindings."""
    url: str | None = None
    """Where an already running server answers, absent when the harness starts its own."""
    digest: str | None = None
    """sha256 of the executable or the image digest, ``sha256:<hex>``."""
    detail: str = ""
    """How it was obtained, in words for the report (command, image, package)."""
    image: str | None = None
    """Identity of the image that it runs from, absent for what runs without a container."""
    container: ContainerOptions | None = None
    """How its container is made; with ``image`` only."""


# How a system's programs are started: as processes of this machine, or in containers.
#
# A driver asks its place (``place.start``, ``place.call``) and does not know which of them it is.

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


# Where clients are started: on this machine, or on the machines that a trial was given for them.

_MACHINES: ContextVar[Machines | None] = ContextVar("machines", default=None)


def current() -> Machines | None:
    """Return the machines that clients are started on; None: on this one."""
    return _MACHINES.get()


@contextmanager
def on(machines: Machines | None) -> Iterator[None]:
    """Start clients on other machines from now on, in this thread."""
    token = _MACHINES.set(machines)
    try:
        yield
    finally:
        _MACHINES.reset(token)
