"""OpenTSDB 2 on a local HBase: two Java processes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.quoting import in_properties
from benchbook.systems.server import Layout, Server, settings_text

LAUNCHER = Path(__file__).parent / "jvm" / "HBase.java"
"""Starts HBase, creates OpenTSDB's tables, and settles them on request."""
TABLES_MADE = "tables are there"
"""Output of the launcher when HBase has its tables."""
SETTLED = "done"
"""Output of the launcher when HBase has settled."""
HBASE_JARS = (
    "hbase-", "reload4j", "slf4j-api", "commons-logging", "commons-math3", "htrace", "audience", "opentelemetry",
    "jakarta", "javassist", "findbugs",
)  # fmt: skip
"""Name prefixes of HBase's jars; HBase cannot run with OpenTSDB's older libraries."""
NOT_OPENTSDB = ("hbase-", "reload4j")
"""Name prefixes of jars that OpenTSDB must not load."""
OPENS = (
    "java.base/java.lang", "java.base/java.lang.reflect", "java.base/java.nio", "java.base/java.util",
    "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
)  # fmt: skip
"""Packages of Java 17 that HBase needs opened."""
LOG4J = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %d %c{1} %m%n
"""
FILE = "opentsdb.conf"
METRICS_PER_REQUEST = 20
"""Number of metrics that one request counts."""
FLUSH_THRESHOLD = "tsd.storage.compaction.min_flush_threshold"
"""Setting for the number of rows that may stay unmerged."""
BUFFER_SECONDS = 2.0
"""OpenTSDB's buffering time for writes, plus one second."""


def site(data: str, zookeeper: str) -> str:
    """Return hbase-site.xml: one process on loopback, files below ``data``, no web pages."""
    settings = {
        "hbase.rootdir": f"file://{escape(data)}/hbase",
        "hbase.tmp.dir": f"{escape(data)}/scratch",
        "hbase.zookeeper.property.dataDir": f"{escape(data)}/zookeeper",
        "hbase.zookeeper.property.clientPort": zookeeper,
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.cluster.distributed": "false",
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.master.port": "0",
        "hbase.regionserver.port": "0",
        "hbase.master.info.port": "-1",
        "hbase.regionserver.info.port": "-1",
        "hbase.master.hostname": "localhost",
        "hbase.regionserver.hostname": "localhost",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
    }
    return f"<configuration>\n{settings_text(settings, PROPERTY)}</configuration>\n"


PROPERTY = "  <property><name>{}</name><value>{}</value></property>"


class HBase:
    """The HBase of one trial, which stores the points: one process that includes ZooKeeper."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._running: spawn.Running | None = None
        self._output: queue.Queue[str]
        self._ready = False

    def start(self, files: Sequence[Path], zookeeper: str) -> None:
        """Start it, without waiting until it is ready."""
        place, self._ready, self._output = self._place, False, queue.Queue()
        folder = place.config / "hbase"
        folder.mkdir(exist_ok=True)
        (folder / "hbase-site.xml").write_text(site(str(place.data), zookeeper), encoding="utf-8")
        (folder / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        self._running = spawn.start(
            [
                java.program(), f"-Xmx{java.heap_of(place)}", *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
                f"-Djava.io.tmpdir={place.data}", "-cp", f"{folder}:{java.classpath(files)}", LAUNCHER,
            ],
            name=f"HBase of {place.program.system}", log=place.logs / "hbase.log", cwd=place.data,
            registry=place.processes, pipes=True,
        )  # fmt: skip
        threading.Thread(target=_read, args=(self._running, self._output), daemon=True).start()

    def ready(self) -> bool:
        """Return whether its tables exist; raise TrialFailed if it has died."""
        assert self._running is not None
        self._running.check()
        while not self._ready:
            try:
                self._ready = self._output.get_nowait() == TABLES_MADE
            except queue.Empty:
                return False
        return True

    def settle(self, seconds: float) -> None:
        """Flush everything and merge the files of each table into one."""
        assert self._running is not None
        assert self._running.process.stdin is not None
        self._running.process.stdin.write(b"settle\n")
        self._running.process.stdin.flush()
        try:
            while self._output.get(timeout=seconds) != SETTLED:
                pass
        except queue.Empty:
            self._running.check()
            raise TrialFailed(f"HBase did not settle within {seconds:.0f} s.") from None

    def processes(self) -> list[int]:
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        if self._running is not None:
            self._running.stop(grace_seconds=10.0)
            self._running = None


def _read(running: spawn.Running, output: queue.Queue[str]) -> None:
    for line in running.lines():
        output.put(line.decode(errors="replace").strip())


class OpenTSDB(Server):
    """One OpenTSDB in one trial."""

    target = "opentsdb"
    ports = ("port", "zookeeper")
    harness_settings = ("heap",)
    in_containers = in_images = False
    ready_seconds = 300.0
    settle_seconds = 1800.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._hbase = HBase(place)

    def files(self, at: Layout) -> dict[str, str]:
        """Return OpenTSDB's configuration, and the heap of each of the two processes."""
        cache = in_properties(f"{at.data}/cache")
        settings: dict[str, Setting] = {
            "tsd.network.bind": at.host, "tsd.network.port": at.ports["port"],
            "tsd.http.cachedir": cache, "tsd.http.staticroot": cache,
            "tsd.storage.hbase.zk_quorum": f"127.0.0.1:{at.ports['zookeeper']}",
            # The defaults refuse new metrics and bodies of more than 4 KiB.
            "tsd.core.auto_create_metrics": "true", "tsd.http.request.enable_chunked": "true",
            "tsd.http.request.max_chunk": 256 << 20, **self.settings,
        }  # fmt: skip
        return {FILE: settings_text(settings), "heap": java.heap_of(self.place) + "\n"}

    def initialise(self) -> None:
        """Create the cache folder, and configure logging: warnings only."""
        (self.place.data / "cache").mkdir(exist_ok=True)
        (self.place.config / "logback.xml").write_text(java.LOGBACK, encoding="utf-8")

    def start(self) -> None:
        """Start HBase; ``ready`` starts OpenTSDB once HBase has its tables."""
        if not self.external:
            jars = [file for file in java.jars(self.program) if file.name.startswith(HBASE_JARS)]
            self._hbase.start(jars, self.layout.ports["zookeeper"])

    def ready(self) -> bool:
        """Return whether OpenTSDB answers; start it as soon as HBase is ready."""
        if not self.external:
            if not self._hbase.ready():
                return False
            if self._started is None:
                super().start()
        return super().ready()

    def addresses(self) -> list[str]:
        """Return only OpenTSDB's address: HBase already listens on ZooKeeper's."""
        return super().addresses()[:1]

    def command(self) -> Sequence[str | Path]:
        """Return the command that runs OpenTSDB's jars."""
        jars = [file for file in java.jars(self.program) if not file.name.startswith(NOT_OPENTSDB)]
        config = self.place.config
        return [
            java.program(), f"-Xmx{java.heap_of(self.place)}", f"-Djava.io.tmpdir={self.place.data}",
            f"-Dlogback.configurationFile={config / 'logback.xml'}",
            "-cp", java.classpath(jars), "net.opentsdb.tools.TSDMain", f"--config={config / FILE}",
        ]  # fmt: skip

    def answers(self) -> bool:
        return self.http.answers("/api/version")

    def version(self) -> str:
        """Return the version that ``/api/version`` reports, else its jar's: the Maven build reports no number."""
        reported = str(self.http.json("/api/version")["version"])
        if reported[:1].isdigit() or self.external:
            return reported
        jar = next(file for file in java.jars(self.program) if file.name.startswith("opentsdb-"))
        return jar.stem.removeprefix("opentsdb-")

    def prepare(self) -> None:
        """Refuse a server that has metrics; the first point of a metric creates it."""
        if found := self._metrics():
            raise self.holds_data(f"{len(found)} metrics")

    def _metrics(self) -> list[str]:
        return sorted(self.http.json("/api/suggest?type=metrics&max=100000"))

    def settle(self) -> None:
        """Wait until OpenTSDB has merged its rows; then HBase flushes and merges the files of each table."""
        if self.external:
            return
        threshold = int(self.place.settings.get(FLUSH_THRESHOLD, 100))
        self.wait_settled(lambda: self._unmerged() <= threshold, "rows are still being merged", pause=0.5)
        time.sleep(BUFFER_SECONDS)
        self._hbase.settle(self.settle_seconds)

    def _unmerged(self) -> int:
        """Return how many rows still have to be merged."""
        stats = self.http.json("/api/stats")
        return sum(int(one["value"]) for one in stats if one["metric"] == "tsd.compaction.queue.size")

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the tables (data), the logs (wal) and the rest of HBase (system)."""
        whole = self.place.data / "hbase"
        data = allocated(whole / "data" / "default") + allocated(whole / "archive")
        wal = sum(allocated(whole / name) for name in ("WALs", "oldWALs", "MasterData"))
        return {"data": data, "wal": wal, "system": max(0, allocated(whole) - data - wal)}

    def count(self) -> dict[str, TableCount]:
        """Count the points of each metric, named ``table.field``; a table has the rows of its fullest field."""
        fields: dict[str, dict[str, int]] = {}
        metrics = self._metrics()
        for first in range(0, len(metrics), METRICS_PER_REQUEST):
            queries = [
                {"metric": name, "aggregator": "sum", "downsample": "0all-count", "tags": {}}
                for name in metrics[first : first + METRICS_PER_REQUEST]
            ]
            body = {"start": 1, "end": int(time.time()), "queries": queries}
            for one in self.http.json("/api/query", body):
                table, _, field = str(one["metric"]).partition(".")
                counted = fields.setdefault(table, {})
                counted[field] = counted.get(field, 0) + int(sum(one["dps"].values()))
        return {table: TableCount.of_fields(counted) for table, counted in fields.items()}

    def processes(self) -> list[int]:
        return [*super().processes(), *self._hbase.processes()]

    def stop(self) -> None:
        """Stop OpenTSDB, then HBase."""
        super().stop()
        self._hbase.stop()


driver = OpenTSDB
