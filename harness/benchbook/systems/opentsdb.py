"""OpenTSDB 2 on a local HBase: two processes on free loopback ports, started from their jars."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, Setting, TableCount
from benchbook.systems.hbase import HBase
from benchbook.systems.hbase import jars as hbase_jars
from benchbook.systems.ports import free_ports
from benchbook.systems.server import Server

FILE = "opentsdb.conf"
HEAP = "heap"
"""Setting of an arm that is no line of opentsdb.conf: the heap of each of the two processes."""
OF_HBASE = ("hbase-", "reload4j")
LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>
"""
AT_ONCE = 20
"""Metrics that one request counts."""
LEFT = "tsd.storage.compaction.min_flush_threshold"
"""Setting that says how many rows may wait without being merged."""
BUFFER_SECONDS = 2.0
"""How long OpenTSDB holds back what it writes, and a second more."""
SETTLE_SECONDS = 1800.0


class OpenTSDB(Server):
    """One OpenTSDB in one trial."""

    target = "opentsdb"
    ready_seconds = 300.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        heap = java.heap_of(place, HEAP)
        self._heap = heap
        self._hbase = HBase(place, heap)
        self._zookeeper = 0

    def _configure(self) -> dict[str, str]:
        place = self._place
        port, self._zookeeper = free_ports(2, place.host)
        self._addresses = [f"{place.host}:{port}", f"{place.host}:{self._zookeeper}"]
        self._url = f"http://{place.host}:{port}"
        (place.data / "cache").mkdir(exist_ok=True)
        folder = place.config / "opentsdb"
        folder.mkdir(exist_ok=True)
        (folder / "logback.xml").write_text(LOGBACK, encoding="utf-8")
        real = self._text(str(place.data), place.host, str(port), str(self._zookeeper))
        (folder / FILE).write_text(real, encoding="utf-8")
        return {
            FILE: self._text("{data}", place.host, "{port}", "{zookeeper}"),
            "heap": self._heap + "\n",
        }

    def _text(self, data: str, host: str, port: str, zookeeper: str) -> str:
        lines: dict[str, Setting] = {
            "tsd.network.bind": host, "tsd.network.port": port, "tsd.http.cachedir": f"{data}/cache",
            "tsd.http.staticroot": f"{data}/cache", "tsd.storage.hbase.zk_quorum": f"127.0.0.1:{zookeeper}",
            # Without these it knows no metric that was not made by hand, and takes no bodies of more than 4 KiB.
            "tsd.core.auto_create_metrics": "true", "tsd.http.request.enable_chunked": "true",
            "tsd.http.request.max_chunk": 256 << 20,
            **{name: value for name, value in self._place.settings.items() if name != HEAP},
        }  # fmt: skip
        shown = {k: str(v).lower() if isinstance(v, bool) else v for k, v in lines.items()}
        return "".join(f"{name} = {value}\n" for name, value in sorted(shown.items()))

    def start(self) -> None:
        """Start HBase; OpenTSDB itself is started by ``ready`` once HBase has its tables."""
        if not self.elsewhere:
            self._hbase.start(hbase_jars(self._program()), self._zookeeper)

    def ready(self) -> bool:
        """Say whether it answers, and start it when HBase does."""
        if self.elsewhere:
            return self._answers()
        if not self._hbase.answers():
            return False
        if self._running is None:
            self._addresses = self._addresses[:1]
            super().start()
        return super().ready()

    def _command(self) -> Sequence[str | Path]:
        folder = self._place.config / "opentsdb"
        own = [file for file in java.jars(self._program()) if not file.name.startswith(OF_HBASE)]
        return [
            java.program(), f"-Xmx{self._heap}", f"-Djava.io.tmpdir={self._place.data}",
            "-cp", f"{folder}:{java.classpath(own)}", "net.opentsdb.tools.TSDMain", f"--config={folder / FILE}",
        ]  # fmt: skip

    def _answers(self) -> bool:
        return self._http().status("/api/version") == 200

    def version(self) -> str:
        """Return what ``/api/version`` states, or what its jar is called: the build in Maven states a word there."""
        stated = str(self._http().json("/api/version")["version"])
        if stated[:1].isdigit() or self.elsewhere:
            return stated
        jar = next(file for file in java.jars(self._program()) if file.name.startswith("opentsdb-"))
        return jar.stem.removeprefix("opentsdb-")

    def prepare(self) -> None:
        """Refuse a server that knows metrics; metrics are made by their first point."""
        if found := self._metrics():
            raise self._holds_data(f"{len(found)} metrics")

    def settle(self) -> None:
        """Wait until OpenTSDB merges no more rows; then HBase writes all out and merges each table's files."""
        if self.elsewhere:
            return
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._waiting() > int(self._place.settings.get(LEFT, 100)):
            if time.monotonic() > deadline:
                raise TrialFailed(f"OpenTSDB was still merging rows after {SETTLE_SECONDS:.0f} s.")
            time.sleep(0.5)
        time.sleep(BUFFER_SECONDS)
        self._hbase.settle()

    def _waiting(self) -> int:
        """Return how many rows are still to be merged."""
        stats = self._http().json("/api/stats")
        return sum(int(one["value"]) for one in stats if one["metric"] == "tsd.compaction.queue.size")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: tables (data), logs (wal), the rest of HBase (system)."""
        if self.elsewhere:
            return {}
        whole = self._place.data / "hbase"
        data = allocated(whole / "data" / "default") + allocated(whole / "archive")
        wal = sum(allocated(whole / name) for name in ("WALs", "oldWALs", "MasterData"))
        return {"data": data, "wal": wal, "system": max(0, allocated(whole) - data - wal)}

    def _metrics(self) -> list[str]:
        return list(self._http().json("/api/suggest?type=metrics&max=100000"))

    def count(self) -> dict[str, TableCount]:
        """Points of each metric, which are the values of a field; rows are those of the fullest field."""
        fields: dict[str, dict[str, int]] = {}
        metrics = sorted(self._metrics())
        for first in range(0, len(metrics), AT_ONCE):
            asked = [
                {"metric": name, "aggregator": "sum", "downsample": "0all-count", "tags": {}}
                for name in metrics[first : first + AT_ONCE]
            ]
            body = {"start": 1, "end": int(time.time()), "queries": asked}
            for one in self._http().json("/api/query", body, "POST"):
                table, _, field = str(one["metric"]).partition(".")
                number = int(sum(one["dps"].values()))
                fields.setdefault(table, {})[field] = fields.get(table, {}).get(field, 0) + number
        return {
            table: TableCount(max(values.values(), default=0), values, exact=False)
            for table, values in fields.items()
        }

    def processes(self) -> list[int]:
        """Return both process trees."""
        return [*super().processes(), *self._hbase.tree()]

    def stop(self) -> None:
        """Stop OpenTSDB, then HBase."""
        super().stop()
        self._hbase.stop()


def driver(place: Place) -> OpenTSDB:
    """Return the driver of one OpenTSDB."""
    return OpenTSDB(place)
