"""VictoriaMetrics, single node."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.systems.driver import TableCount
from benchbook.systems.server import Layout, Server, settings_text

FIRST = 100_000_000
"""Count values from this second in 1973 on: a window that begins before 1970 finds nothing."""


class VictoriaMetrics(Server):
    """One VictoriaMetrics in one trial."""

    target = "victoriametrics"
    ports = ("address",)

    def files(self, at: Layout) -> dict[str, str]:
        """Return the flags; there is no configuration file."""
        return {"arguments": " ".join(self._flags(at)) + "\n"}

    def _flags(self, at: Layout) -> list[str]:
        flags = {
            "storageDataPath": at.data, "httpListenAddr": at.address("address"),
            # The default is one month, which drops the rows of 2016.
            "retentionPeriod": "100y",
            **self.settings,
        }  # fmt: skip
        return settings_text(flags, "-{}={}").splitlines()

    def command(self) -> Sequence[str | Path]:
        return [self.program, *self._flags(self.layout)]

    def answers(self) -> bool:
        return self.http.answers("/health")

    def version(self) -> str:
        """Return the version among its metrics, else the package's: Debian's build reports none."""
        labels = next((found for found, _ in self.http.metrics("/metrics").get("vm_app_version", [])), {})
        found = re.search(r"\d+\.\d+\.\d+", labels.get("short_version") or labels.get("version", ""))
        return found[0] if found else self.place.program.version

    def prepare(self) -> None:
        """Refuse a server that has series of the database."""
        if self._series():
            raise self.holds_data(f'series of the database "{self.place.databases[0]}"')

    def _series(self) -> list[str]:
        params = {"match[]": f'{{db="{self.place.databases[0]}"}}', "start": 1, "end": int(time.time())}
        return list(self.http.json("/api/v1/label/__name__/values", params=params)["data"])

    def settle(self) -> None:
        """Flush memory to disk and make it visible, then merge the parts of each month into one."""
        self.http.text("/internal/force_flush")
        if not self.external:
            self.http.text("/internal/force_merge")
            self.wait_settled(lambda: not self._merges(), "parts are still being merged")

    def _merges(self) -> float:
        metrics = self.http.metrics("/metrics")
        return sum(
            value for name in metrics if name.startswith("vm_active_merges") for _, value in metrics[name]
        )

    def count(self) -> dict[str, TableCount]:
        """Count the values of each series, named ``table_field``; a table has the rows of its fullest field."""
        self.http.text("/internal/force_flush")
        found: dict[str, dict[str, int]] = {}
        now, database = int(time.time()), self.place.databases[0]
        for name in self._series():
            query = f'sum(count_over_time({{__name__="{name}",db="{database}"}}[{now - FIRST}s]))'
            params: dict[str, Any] = {"query": query, "time": now, "nocache": 1}
            answer = self.http.json("/api/v1/query", params=params)
            table, _, field = name.partition("_")
            found.setdefault(table, {})[field] = sum(int(one["value"][1]) for one in answer["data"]["result"])
        return {table: TableCount.of_fields(fields) for table, fields in found.items()}


driver = VictoriaMetrics
