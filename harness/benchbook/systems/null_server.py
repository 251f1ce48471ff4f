"""The null server, ``benchload null-server``, which counts what it receives and discards it.

A client's rate against it is the client's own limit, so it serves to compare load tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbook.systems.driver import TableCount
from benchbook.systems.server import Layout, Server, settings_text


class NullServer(Server):
    """One null server in one trial."""

    target = "influx"
    in_containers = in_images = False

    def files(self, at: Layout) -> dict[str, str]:  # noqa: ARG002 - it has no configuration
        """Return no files."""
        return {}

    def command(self) -> Sequence[str | Path]:
        """Return the command with the arm's switches."""
        switches = settings_text(self.settings, "--{}={}").splitlines()
        return [self.program, "null-server", "--listen", self.layout.address("port"), *switches]

    def answers(self) -> bool:
        return self.http.answers("/count")

    def received(self) -> int:
        """Return the rows that it has received since its start."""
        return int(self.http.json("/count")["rows"])

    def version(self) -> str:
        """Return the version of benchload, which it is part of."""
        return self.place.program.version

    def prepare(self) -> None:
        """Do nothing: it has no databases."""

    def settle(self) -> None:
        """Do nothing: it stores nothing."""

    def size(self) -> dict[str, int]:
        """Return no bytes."""
        return {"data": 0}

    def count(self) -> dict[str, TableCount]:
        """Return no tables: it does not distinguish rows."""
        return {}


driver = NullServer
