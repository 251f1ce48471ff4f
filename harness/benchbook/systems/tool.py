"""A program without a server, such as fio or s3fs: a trial measures what it does on its storage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event
from benchbook.process.launch import call
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Client, Place, TableCount


class Tool:
    """A program in one trial; no process of it runs between ``start`` and ``stop``."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.watched_seconds = 0.0

    def configure(self) -> dict[str, str]:
        """Return no files: it has no configuration."""
        return {}

    def start(self) -> None:
        """Refuse a URL; there is nothing to start."""
        name = self.place.program.system
        if self.place.program.path is None:
            raise TrialFailed(f"{name} is a program, not a server.", f"Give its path: --system {name}=PATH")

    def ready(self) -> bool:
        """Return true."""
        return True

    def prepare(self) -> None:
        """Do nothing: it has no database."""

    def settle(self) -> None:
        """Do nothing: its data is already in the storage."""

    def size(self) -> dict[str, int]:
        return {"data": allocated(self.place.data)}

    def version(self) -> str:
        """Return the first number in the output of ``--version``."""
        ran = call([str(self.place.program.path), "--version"])
        found = re.search(r"\d+\.[\w.]*", ran.stdout + ran.stderr)
        return found[0] if found else "unknown"

    def count(self) -> dict[str, TableCount]:
        """Return no tables."""
        return {}

    def client(self, benchload: Path) -> Client:  # noqa: ARG002 - the signature of a driver
        """Return a client that refuses rows and queries."""
        return _NoClient(self.place.program.system)

    def processes(self) -> list[int]:
        """Return no process."""
        return []

    def stop(self) -> None:
        """Do nothing."""


class _NoClient:
    """Refuses loads and queries, which need a server."""

    shares_process = False

    def __init__(self, name: str) -> None:
        self._name = name

    def load(self, _request: object) -> Iterator[Event]:
        raise self._refusal("stores no rows")

    def query(self, _request: object) -> Iterator[Event]:
        raise self._refusal("answers no queries")

    def perform(self, _operations: object) -> Iterator[Event]:
        raise self._refusal("does no operations")

    def processes(self) -> list[int]:
        return []

    def cancel(self) -> None:
        pass

    def _refusal(self, reason: str) -> TrialFailed:
        return TrialFailed(
            f"{self._name} {reason}, because it is a program and not a server.",
            "Use a workload that needs no server, such as fio, or another system.",
        )


driver = Tool
