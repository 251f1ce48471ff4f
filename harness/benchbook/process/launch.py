"""Interfaces for starting the programs of a system: as processes of this machine or in containers.

Drivers call ``place.start`` and ``place.call``, which do the same in both cases.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from benchbook.process import output
from benchbook.process.remote import Machines

CALL_SECONDS = 900.0
"""Default time limit of a program that a driver calls and waits for."""


@dataclass(frozen=True)
class ContainerOptions:
    """Options of the container of a system."""

    network: Literal["host", "private"] = "host"
    """The machine's network, or a private network of the trial in which the container has an address."""
    cpus: float | None = None
    """Limit of processor time per second, in cores; None sets no limit."""
    cores: str | None = None
    """The cores that it may use, such as ``0-3,6``; None allows all."""
    memory_bytes: int | None = None
    """Memory limit, including its share of the page cache; it gets no swap."""
    user: str | None = None
    """``UID:GID`` of its processes; None means the harness's user, who then owns the files."""

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
    """The program of a system, as provision found it: what a trial starts and where it came from."""

    system: str
    version: str
    source: str
    """One of ``declare.system.SOURCE_NAMES``: ``given``, ``nix``, ``docker`` …"""
    path: Path | None = None
    """The executable, or its path inside the image; None for a running server and for Python bindings.

    A binding with a separate environment has the path of that environment's Python."""
    url: str | None = None
    """Address of a running server; None when the harness starts one."""
    digest: str | None = None
    """Digest of the executable or of the image, ``sha256:<hex>``."""
    detail: str = ""
    """How it was found, for the report: command, image or package."""
    origin: str | None = None
    """Where the user got a program given by its path (``declare.program_origin``); None if that is not stated."""
    size: int | None = None
    """Bytes of the executable."""
    libraries: tuple[str, ...] | None = None
    """Shared libraries of a program given by its path, as ``name => path``; None if unknown."""
    image: str | None = None
    """Id of the image; None if it runs without a container."""
    container: ContainerOptions | None = None
    """Options of its container; only with ``image`` or ``root``."""
    root: Path | None = None
    """Folder of its unpacked image; None if it runs in a container or without an image."""

    @property
    def isolated(self) -> bool:
        """True if its files are those of an image."""
        return self.image is not None or self.root is not None


class Started(Protocol):
    """A started server: a process (``spawn.Running``) or a container."""

    def ending(self) -> str | None:
        """Return how it ended (``exited with code 1``), or None while it runs."""
        ...

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if it has died."""
        ...

    def tree(self) -> list[int]:
        """Return the process ids of the server and its descendants, in this machine's numbering."""
        ...

    def kill(self) -> None:
        """Kill it at once, from any thread; ``stop`` must still be called."""
        ...

    def wait_ending(self, seconds: float) -> None:
        """Wait until it has ended, at most ``seconds``."""
        ...

    def stop(self, grace_seconds: float = ..., first: signal.Signals | None = ...) -> None:
        """Send ``first``, then kill it after ``grace_seconds``; never raise."""
        ...


class Launch(Protocol):
    """Starts the programs of one system in one trial."""

    host: str | None
    """The server's address in a private network; None on the machine's network."""

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Started:
        """Start a server; raise TrialFailed if that fails. Messages call it ``name``."""
        ...

    def call(
        self,
        command: Sequence[str | Path],
        timeout_seconds: float = CALL_SECONDS,
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the system to its end; raise OSError or TimeoutExpired like ``subprocess.run``."""
        ...

    def usage(self) -> Mapping[str, float]:
        """Return the resources that the servers have used, by telemetry metric; empty if telemetry reads processes."""
        ...

    def close(self) -> None:
        """Remove everything that was created for the trial; never raise."""
        ...


def call(
    command: Sequence[str | Path], timeout_seconds: float | None = CALL_SECONDS, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program of this machine to its end; options and errors are those of ``output.run``."""
    return output.run(command, timeout_seconds, **options)


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
