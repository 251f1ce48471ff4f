"""Servers that only a client library can query: benchload reports their version and counts (``benchload inspect``)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.process.launch import call
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.server import Server

COUNT_SECONDS = 900.0
PROBE_SECONDS = 10.0


class Inspected(Server):
    """A server whose version and counts benchload reads."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._benchload: Path | None = None

    def client(self, benchload: Path) -> Client:
        """Return benchload as the client, and keep its path for the driver's own requests."""
        self._benchload = benchload
        return super().client(benchload)

    def answers(self) -> bool:
        try:
            self._inspect(timeout_seconds=PROBE_SECONDS)
        except TrialFailed:
            return False
        return True

    def version(self) -> str:
        self.check_alive(0.0)
        return str(self._inspect()["version"])

    def prepare(self) -> None:
        """Refuse a server whose database has rows; benchload creates the tables."""
        if held := [name for name, table in self.count().items() if table.rows]:
            raise self.holds_data(", ".join(held))

    def count(self) -> dict[str, TableCount]:
        """Return rows and values of each table, as benchload reads them from the server."""
        self.check_alive(0.0)
        tables = self._inspect("--count", timeout_seconds=COUNT_SECONDS).get("tables") or {}
        return {name: TableCount(int(one["rows"]), one["fields"] or {}) for name, one in tables.items()}

    def _inspect(self, *flags: str, timeout_seconds: float = 30.0) -> dict[str, Any]:
        assert self._benchload is not None
        command = [
            str(self._benchload), "inspect", "--target", self.target, "--url", self.url,
            "--database", self.place.databases[0], "--timeout", f"{timeout_seconds:g}s", *flags,
        ]  # fmt: skip
        try:
            ran = call(command, timeout_seconds + 10)
        except subprocess.TimeoutExpired as error:
            raise TrialFailed(
                f"{self.name} at {self.url} did not answer within {timeout_seconds:.0f} s."
            ) from error
        except OSError as error:
            raise TrialFailed(f"benchload could not ask {self.name} at {self.url}: {error}.") from error
        if ran.returncode != 0:
            raise TrialFailed(f"{self.name} at {self.url}: {ran.stderr.strip().removeprefix('benchload: ')}.")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found
