"""Servers that only a client library can ask: benchload has one, and tells what it finds (``benchload inspect``)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.server import Server

COUNT_SECONDS = 900.0


class Inspected(Server):
    """A server whose version and counts benchload tells."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._benchload: Path | None = None

    def client(self, benchload: Path) -> Client:
        """Benchload, which is also what asks the server for its version and its counts."""
        self._benchload = benchload
        return super().client(benchload)

    def _answers(self) -> bool:
        try:
            self._inspect(timeout_seconds=10.0)
        except TrialFailed:
            return False
        return True

    def version(self) -> str:
        """Return what the server states."""
        self._check()
        return str(self._inspect()["version"])

    def prepare(self) -> None:
        """Refuse a server whose database has rows; benchload makes the tables."""
        held = [name for name, table in self.count().items() if table.rows]
        if held:
            raise self._holds_data(", ".join(held))

    def count(self) -> dict[str, TableCount]:
        """Rows and values of each table, as the server answers them to benchload."""
        self._check()
        tables = self._inspect("--count", timeout_seconds=COUNT_SECONDS).get("tables") or {}
        return {name: TableCount(int(one["rows"]), one["fields"] or {}) for name, one in tables.items()}

    def _inspect(self, *flags: str, timeout_seconds: float = 30.0) -> dict[str, Any]:
        assert self._benchload is not None
        command = [
            str(self._benchload), "inspect", "--target", self._target(), "--url", self._url,
            "--database", self._place.databases[0], "--timeout", f"{timeout_seconds:g}s", *flags,
        ]  # fmt: skip
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
                timeout=timeout_seconds + 10,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise TrialFailed(
                f"{self._place.program.system} at {self._url} did not answer within {timeout_seconds:.0f} s."
            ) from error
        if ran.returncode != 0:
            words = ran.stderr.strip().removeprefix("benchload: ")
            raise TrialFailed(f"{self._place.program.system} at {self._url}: {words}.")
        found: dict[str, Any] = json.loads(ran.stdout)
        return found
