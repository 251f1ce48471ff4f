"""QuestDB: one server on free loopback ports, started from its jar."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchbook.errors import TrialFailed
from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import Server

SETTLE_SECONDS = 600.0
REST_SECONDS = 4.0
"""How long the files must not change: their writers are let go after a second."""
OWN = ("sys.", "telemetry")
"""How the names of the server's own tables begin."""


class QuestDB(Server):
    """One QuestDB in one trial."""

    target = "questdb"
    ready_seconds = 300.0

    def _configure(self) -> dict[str, str]:
        place = self._place
        ports = free_ports(4, place.host)
        self._addresses = [f"{place.host}:{port}" for port in ports]
        self._url = f"http://{self._addresses[0]}"
        (place.data / "conf").mkdir(exist_ok=True)
        (place.data / "conf" / "server.conf").write_text(self._text(*self._addresses), encoding="utf-8")
        return {"server.conf": self._text("{http}", "{health}", "{postgres}", "{lines}")}

    def _text(self, http: str, health: str, postgres: str, lines: str) -> str:
        shown = {
            "http.bind.to": http, "http.min.net.bind.to": health, "pg.net.bind.to": postgres,
            "line.tcp.net.bind.to": lines, "telemetry.enabled": "false", "http.receive.buffer.size": "2m",
            # Files are cut to what they hold when their writers are let go, which is after ten minutes otherwise.
            "cairo.inactive.writer.ttl": "1000", "cairo.wal.inactive.writer.ttl": "1000",
            "cairo.idle.check.interval": "500", "cairo.wal.purge.interval": "1000",
            **self._place.settings,
        }  # fmt: skip
        return "".join(f"{name}={value}\n" for name, value in sorted(shown.items()))

    def _command(self) -> Sequence[str | Path]:
        files = java.jars(self._program())
        return [
            java.program(), "--add-exports=java.base/jdk.internal.math=ALL-UNNAMED", "-XX:+UseParallelGC",
            f"-Djava.io.tmpdir={self._place.data}", "-Dcontainerized=true", "-cp", java.classpath(files),
            "io.questdb.ServerMain", "-d", self._place.data,
        ]  # fmt: skip

    def _answers(self) -> bool:
        return self._http().status("/exec?" + urlencode({"query": "SELECT 1"})) == 200

    def _rows(self, statement: str) -> list[list[Any]]:
        return list(self._http().json("/exec?" + urlencode({"query": statement}))["dataset"])

    def version(self) -> str:
        """Return what ``build()`` states."""
        found = re.search(r"QuestDB (\d+\.\d+\.\d+)", str(self._rows("SELECT build()")[0][0]))
        return found[1] if found else "unknown"

    def _tables(self) -> list[str]:
        names = [str(row[0]) for row in self._rows("SELECT table_name FROM tables()")]
        return [name for name in names if not name.startswith(OWN)]

    def prepare(self) -> None:
        """Refuse a server with tables; tables are made by their first row."""
        if found := self._tables():
            raise self._holds_data(", ".join(found))

    def settle(self) -> None:
        """Wait until every log has been applied to its table, and the files are cut to what they hold.

        Files grow by 16 MiB a column and are cut when their writer is let go, for which the harness has set a second.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while any(int(row[0]) for row in self._rows("SELECT sequencerTxn - writerTxn FROM wal_tables()")):
            self._in_time(deadline)
        rested, before = time.monotonic(), self.size()
        while time.monotonic() - rested < REST_SECONDS:
            self._in_time(deadline)
            if (now := self.size()) != before:
                rested, before = time.monotonic(), now
        self.watched_seconds = REST_SECONDS

    def _in_time(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise TrialFailed(f"QuestDB did not come to rest within {SETTLE_SECONDS:.0f} s.")
        time.sleep(0.2)

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: tables (data), and their logs (wal)."""
        if self.elsewhere:
            return {}
        whole = self._place.data / "db"
        wal = sum(allocated(folder) for folder in whole.glob("*/wal*"))
        return {"data": allocated(whole) - wal, "wal": wal}

    def count(self) -> dict[str, TableCount]:
        """Rows of each table and values of each number column."""
        found = {}
        for name in self._tables():
            columns = [
                str(row[0])
                for row in self._rows(f"SELECT \"column\", type FROM table_columns('{name}')")  # noqa: S608
                if row[1] in ("DOUBLE", "LONG")
            ]
            counted = ", ".join(["count(*)", *(f'count("{column}")' for column in columns)])
            rows, *values = self._rows(f'SELECT {counted} FROM "{name}"')[0]  # noqa: S608
            found[name] = TableCount(int(rows), dict(zip(columns, map(int, values), strict=True)))
        return found


def driver(place: Place) -> QuestDB:
    """Return the driver of one QuestDB."""
    return QuestDB(place)
