"""A system's program: what provision found, and what a trial will start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


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
