"""VictoriaMetrics: one single-node server on a free loopback port."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import Server

FIRST = 100_000_000
"""Second of 1973 from which values are counted: a window that reached back beyond 1970 would find nothing."""


class VictoriaMetrics(Server):
    """One VictoriaMetrics in one trial."""

    target = "victoriametrics"

    def _configure(self) -> dict[str, str]:
        place = self._place
        (port,) = free_ports(1, place.host)
        self._addresses = [f"{place.host}:{port}"]
        self._url = f"http://{place.host}:{port}"
        return {"arguments": " ".join(self._flags("{data}", "{address}")) + "\n"}

    def _flags(self, data: str, address: str) -> list[str]:
        lines = {
            "storageDataPath": data, "httpListenAddr": address,
            # It keeps a month unless it is told otherwise: rows of 2016 would be dropped as they come.
            "retentionPeriod": "100y",
            **self._place.settings,
        }  # fmt: skip
        return [f"-{name}={value}" for name, value in sorted(lines.items())]

    def _command(self) -> Sequence[str | Path]:
        return [self._program(), *self._flags(str(self._place.data), self._addresses[0])]

    def _answers(self) -> bool:
        return self._http().status("/health") == 200

    def version(self) -> str:
        """Return what the server's own metrics state; a build that states nothing is what its package says it is."""
        found = re.search(
            r'vm_app_version\{[^}]*?version="[^"]*?v?(\d+\.\d+\.\d+)', self._http().text("/metrics")
        )
        return found[1] if found else self._place.program.version

    def prepare(self) -> None:
        """Refuse a server with series of the database."""
        if self._http().json(f"/api/v1/label/__name__/values?{self._all()}")["data"]:
            raise self._holds_data(f'series of the database "{self._place.databases[0]}"')

    def _all(self) -> str:
        return urlencode(
            {"match[]": f'{{db="{self._place.databases[0]}"}}', "start": 1, "end": int(time.time())}
        )

    def settle(self) -> None:
        """Have what is in memory written and found, then merge each month's parts into one."""
        ask = self._http()
        ask.text("/internal/force_flush")
        if not self.elsewhere:
            ask.text("/internal/force_merge")
            while any(
                not line.endswith(" 0")
                for line in ask.text("/metrics").splitlines()
                if line.startswith("vm_active_merges")
            ):
                time.sleep(0.1)

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk; it has no log."""
        return {} if self.elsewhere else {"data": allocated(self._place.data)}

    def count(self) -> dict[str, TableCount]:
        """Values of each series' name, which is ``table_field``; rows are those of the fullest field."""
        ask = self._http()
        ask.text("/internal/force_flush")
        found: dict[str, dict[str, int]] = {}
        now = int(time.time())
        database = self._place.databases[0]
        for name in ask.json(f"/api/v1/label/__name__/values?{self._all()}")["data"]:
            query = f'sum(count_over_time({{__name__="{name}",db="{database}"}}[{now - FIRST}s]))'
            answer = ask.json(f"/api/v1/query?{urlencode({'query': query, 'time': now, 'nocache': 1})}")
            table, _, field = str(name).partition("_")
            found.setdefault(table, {})[field] = sum(int(one["value"][1]) for one in answer["data"]["result"])
        return {
            table: TableCount(max(values.values(), default=0), values, exact=False)
            for table, values in found.items()
        }


def driver(place: Place) -> VictoriaMetrics:
    """Return the driver of one VictoriaMetrics."""
    return VictoriaMetrics(place)
