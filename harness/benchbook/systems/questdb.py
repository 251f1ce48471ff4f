"""QuestDB, started from its jar."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import TableCount
from benchbook.systems.server import Layout, Server, count_tables, settings_text

FILE = "server.conf"
REST_SECONDS = 4.0
"""Time that the files must stay unchanged: the server releases their writers after one second."""
SYSTEM_TABLES = ("sys.", "telemetry")
"""Name prefixes of the server's own tables."""


class QuestDB(Server):
    """One QuestDB in one trial."""

    target = "questdb"
    ports = ("http", "health", "postgres", "lines")
    ready_seconds = 300.0
    settle_seconds = 600.0

    def files(self, at: Layout) -> dict[str, str]:
        settings = {
            "http.bind.to": at.address("http"), "http.min.net.bind.to": at.address("health"),
            "pg.net.bind.to": at.address("postgres"), "line.tcp.net.bind.to": at.address("lines"),
            "telemetry.enabled": "false", "http.receive.buffer.size": "2m",
            # The server truncates files to their content when it releases their writers, by default after 10 minutes.
            "cairo.inactive.writer.ttl": "1000", "cairo.wal.inactive.writer.ttl": "1000",
            "cairo.idle.check.interval": "500", "cairo.wal.purge.interval": "1000",
            **self.settings,
        }  # fmt: skip
        return {FILE: settings_text(settings, "{}={}")}

    def initialise(self) -> None:
        """Copy the configuration to the data folder, where the server reads it."""
        folder = self.place.data / "conf"
        folder.mkdir(exist_ok=True)
        shutil.copyfile(self.place.config / FILE, folder / FILE)

    def command(self) -> Sequence[str | Path]:
        """Return the command of its start script. In an image the program is a ``java`` that holds the server."""
        options = ["-XX:+UseParallelGC", f"-Djava.io.tmpdir={self.place.data}", "-Dcontainerized=true"]
        if self.place.program.isolated:
            return [self.program, *options, "-m", "io.questdb/io.questdb.ServerMain", "-d", self.place.data]
        return [
            java.program(), "--add-exports=java.base/jdk.internal.math=ALL-UNNAMED", *options,
            "-cp", java.classpath(java.jars(self.program)), "io.questdb.ServerMain", "-d", self.place.data,
        ]  # fmt: skip

    def answers(self) -> bool:
        return self.http.answers("/exec?query=SELECT%201")

    def _rows(self, statement: str) -> list[list[Any]]:
        return list(self.http.json("/exec", params={"query": statement}, what=statement)["dataset"])

    def version(self) -> str:
        """Return the version that ``build()`` reports."""
        found = re.search(r"QuestDB (\d+\.\d+\.\d+)", str(self._rows("SELECT build()")[0][0]))
        return found[1] if found else "unknown"

    def _tables(self) -> list[str]:
        names = [str(row[0]) for row in self._rows("SELECT table_name FROM tables()")]
        return [name for name in names if not name.startswith(SYSTEM_TABLES)]

    def prepare(self) -> None:
        """Refuse a server with tables; the first row of a table creates it."""
        if found := self._tables():
            raise self.holds_data(", ".join(found))

    def settle(self) -> None:
        """Wait until every log is applied to its table and the files are truncated to their content.

        Files grow by 16 MiB per column, and the server truncates them when it releases their writers.
        """
        pending = "SELECT sequencerTxn - writerTxn FROM wal_tables()"
        self.wait_settled(
            lambda: not any(int(row[0]) for row in self._rows(pending)), "logs are not applied yet", pause=0.2
        )
        self.wait_unchanged(self.size, REST_SECONDS)

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the tables (data) and of their logs (wal)."""
        whole = self.place.data / "db"
        wal = sum(allocated(folder) for folder in whole.glob("*/wal*"))
        return {"data": allocated(whole) - wal, "wal": wal}

    def count(self) -> dict[str, TableCount]:
        """Count the rows of each table and the values of its number columns."""
        tables = {}
        for name in self._tables():
            columns = self._rows(f"SELECT \"column\", type FROM table_columns('{name}')")  # noqa: S608
            tables[name] = [str(column) for column, kind in columns if kind in ("DOUBLE", "LONG")]
        return count_tables(self._rows, tables)


driver = QuestDB
