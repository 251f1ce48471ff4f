"""Questions to a PostgreSQL server, asked through its own ``psql``."""

from __future__ import annotations

import csv
import io
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount

TIMEOUT_SECONDS = 600.0
_TABLES = (
    "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
)
_COLUMNS = "SELECT table_name, column_name FROM information_schema.columns ORDER BY ordinal_position"


@dataclass(frozen=True)
class Psql:
    """One database of a server on this machine; every question is a connection of its own."""

    program: Path
    host: str
    port: int
    user: str
    password: str
    database: str

    def answers(self) -> bool:
        """Say whether the server takes queries now."""
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((self.host, self.port)) != 0:
                return False
        return self._run("SELECT 1").returncode == 0

    def rows(self, statement: str) -> list[list[str]]:
        """Return the rows of a statement as texts; raise TrialFailed with the server's words."""
        ran = self._run(statement)
        if ran.returncode != 0:
            raise TrialFailed(f"PostgreSQL refuses «{statement}»: {' '.join(ran.stderr.split())}")
        return list(csv.reader(io.StringIO(ran.stdout)))

    def tables(self) -> list[str]:
        """Return the names of all tables that are not the system's own."""
        return [row[0] for row in self.rows(_TABLES)]

    def counts(self) -> dict[str, TableCount]:
        """Return rows and non-null values per table and column."""
        found = {}
        for table in self.tables():
            columns = [row[1] for row in self.rows(_COLUMNS) if row[0] == table]
            asked = ", ".join(["count(*)", *(f'count("{name}")' for name in columns)])
            numbers = [int(one) for one in self.rows(f'SELECT {asked} FROM "{table}"')[0]]  # noqa: S608
            found[table] = TableCount(numbers[0], dict(zip(columns, numbers[1:], strict=True)))
        return found

    def _run(self, statement: str) -> subprocess.CompletedProcess[str]:
        command = [
            str(self.program), "--no-psqlrc", "--no-password", "--tuples-only", "--csv", "--quiet",
            "--host", self.host, "--port", str(self.port), "--username", self.user,
            "--dbname", self.database, "--command", statement,
        ]  # fmt: skip
        try:
            return subprocess.run(
                command, env={**os.environ, "PGPASSWORD": self.password}, stdin=subprocess.DEVNULL,
                check=False, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrialFailed(f"psql could not ask the server: {error}.") from error
