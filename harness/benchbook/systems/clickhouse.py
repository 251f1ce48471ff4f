"""ClickHouse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchbook.storage.driver import allocated
from benchbook.systems.driver import TableCount
from benchbook.systems.server import Layout, Server, count_tables, settings_text

USERS = """<yandex>
  <profiles><default/></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default/></quotas>
</yandex>
"""


class ClickHouse(Server):
    """One ClickHouse in one trial."""

    target = "clickhouse"
    ports = ("http", "tcp", "between")

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration and its only user."""
        settings = {
            "path": f"{escape(at.data)}/", "tmp_path": f"{escape(at.data)}/scratch/",
            "users_config": f"{escape(at.config)}/users.xml",
            "listen_host": at.host, "http_port": at.ports["http"], "tcp_port": at.ports["tcp"],
            "interserver_http_port": at.ports["between"],
            "default_profile": "default", "default_database": "default", "mark_cache_size": "5368709120",
            **self.settings,
        }  # fmt: skip
        log = escape(f"{at.logs}/clickhouse.log")
        logger = f"  <logger><level>warning</level><log>{log}</log><console>1</console></logger>\n"
        lines = settings_text(settings, "  <{0}>{1}</{0}>")
        return {"config.xml": f"<yandex>\n{logger}{lines}</yandex>\n", "users.xml": USERS}

    def command(self) -> Sequence[str | Path]:
        return [self.program, f"--config-file={self.place.config / 'config.xml'}"]

    def answers(self) -> bool:
        return self.http.answers("/?query=SELECT%201")

    def _rows(self, statement: str) -> list[list[Any]]:
        return list(self.http.json("/", f"{statement} FORMAT JSONCompact", what=statement)["data"])

    def version(self) -> str:
        """Return the result of ``version()``."""
        return str(self._rows("SELECT version()")[0][0])

    def _of_database(self, columns: str, table: str) -> list[list[Any]]:
        """Return columns of a system table for the rows of the trial's database."""
        database = self.place.databases[0]
        return self._rows(f"SELECT {columns} FROM system.{table} WHERE database = '{database}'")  # noqa: S608

    def prepare(self) -> None:
        """Refuse a database with rows; benchload creates it and its tables."""
        if held := [name for name, table in self.count().items() if table.rows]:
            raise self.holds_data(", ".join(held))

    def settle(self) -> None:
        """Merge the parts of each table into one, and wait until no merge runs."""
        for (name,) in self._of_database("name", "tables"):
            self.http.text("/", f"OPTIMIZE TABLE {self.place.databases[0]}.{name} FINAL")
        self.wait_settled(lambda: not self._rows("SELECT 1 FROM system.merges"), "merges still run")

    def size(self) -> dict[str, int]:
        """Return the bytes of the parts in use (data) and of the server's other files (system)."""
        ((stated,),) = self._of_database("sum(bytes_on_disk * active)", "parts")
        data = int(stated)
        return (
            {"data": data}
            if self.external
            else {"data": data, "system": max(0, allocated(self.place.data) - data)}
        )

    def count(self) -> dict[str, TableCount]:
        """Count the rows of each table and the values of its number columns."""
        tables: dict[str, list[str]] = {name: [] for (name,) in self._of_database("name", "tables")}
        for table, name, kind in self._of_database("table, name, type", "columns"):
            if name != "time" and kind in ("Int64", "Float64"):
                tables[table].append(name)
        return count_tables(self._rows, tables, "`", self.place.databases[0])


driver = ClickHouse
