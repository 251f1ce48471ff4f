"""ClickHouse: one server on free loopback ports."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import Server

USERS = """<yandex>
  <profiles><default/></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default/></quotas>
</yandex>
"""


class ClickHouse(Server):
    """One ClickHouse in one trial."""

    target = "clickhouse"

    def _configure(self) -> dict[str, str]:
        place = self._place
        http, tcp, between = free_ports(3, place.host)
        self._addresses = [f"{place.host}:{port}" for port in (http, tcp, between)]
        self._url = f"http://{place.host}:{http}"
        (place.config / "users.xml").write_text(USERS, encoding="utf-8")
        real = self._text(
            str(place.data), str(place.config), str(place.logs), str(http), str(tcp), str(between)
        )
        (place.config / "config.xml").write_text(real, encoding="utf-8")
        shown = self._text("{data}", "{config}", "{logs}", "{http}", "{tcp}", "{between}")
        return {"config.xml": shown, "users.xml": USERS}

    def _text(self, data: str, config: str, logs: str, http: str, tcp: str, between: str) -> str:
        lines = {
            "path": f"{data}/", "tmp_path": f"{data}/scratch/", "users_config": f"{config}/users.xml",
            "listen_host": self._place.host, "http_port": http, "tcp_port": tcp, "interserver_http_port": between,
            "default_profile": "default", "default_database": "default", "mark_cache_size": "5368709120",
            **self._place.settings,
        }  # fmt: skip
        found = "".join(f"  <{name}>{value}</{name}>\n" for name, value in sorted(lines.items()))
        logger = (
            f"  <logger><level>warning</level><log>{logs}/clickhouse.log</log><console>1</console></logger>\n"
        )
        return f"<yandex>\n{logger}{found}</yandex>\n"

    def _command(self) -> Sequence[str | Path]:
        return [self._program(), f"--config-file={self._place.config / 'config.xml'}"]

    def _answers(self) -> bool:
        return self._http().status("/?" + urlencode({"query": "SELECT 1"})) == 200

    def _rows(self, statement: str) -> list[dict[str, Any]]:
        text = self._http().text("/", statement + " FORMAT JSONEachRow", "POST")
        return [json.loads(line) for line in text.splitlines()]

    def version(self) -> str:
        """Return what ``version()`` states."""
        return str(self._rows("SELECT version() AS version")[0]["version"])

    def _tables(self) -> list[str]:
        database = self._place.databases[0]
        return [
            str(row["name"])
            for row in self._rows(f"SELECT name FROM system.tables WHERE database = '{database}'")  # noqa: S608
        ]

    def prepare(self) -> None:
        """Refuse a database with rows; benchload makes it and its tables."""
        held = [name for name, table in self.count().items() if table.rows]
        if held:
            raise self._holds_data(", ".join(held))

    def settle(self) -> None:
        """Merge each table's parts into one, and wait until no merge runs."""
        for name in self._tables():
            self._http().text("/", f"OPTIMIZE TABLE {self._place.databases[0]}.{name} FINAL", "POST")
        while int(self._rows("SELECT count() AS n FROM system.merges")[0]["n"]):
            time.sleep(0.1)

    def size(self) -> dict[str, int]:
        """Bytes on disk: those of the parts in use (data), and the rest of its files (system)."""
        database = self._place.databases[0]
        stated = self._rows(
            f"SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE active AND database = '{database}'"  # noqa: S608
        )
        data = int(stated[0]["n"]) if stated else 0
        if self.elsewhere:
            return {"data": data}
        return {"data": data, "system": max(0, allocated(self._place.data) - data)}

    def count(self) -> dict[str, TableCount]:
        """Rows of each table; every column has a value in each row, for its columns cannot be without one."""
        database = self._place.databases[0]
        found = {}
        for name in self._tables():
            columns = self._rows(
                f"SELECT name FROM system.columns WHERE database = '{database}' AND table = '{name}' "  # noqa: S608
                "AND name != 'time' AND type IN ('Int64', 'Float64')"
            )
            counted = ", ".join(
                ["count() AS n", *(f"count(`{one['name']}`) AS `{one['name']}`" for one in columns)]
            )
            row = self._rows(f"SELECT {counted} FROM {database}.{name}")[0]  # noqa: S608
            found[name] = TableCount(int(row["n"]), {one["name"]: int(row[one["name"]]) for one in columns})
        return found


def driver(place: Place) -> ClickHouse:
    """Return the driver of one ClickHouse."""
    return ClickHouse(place)
