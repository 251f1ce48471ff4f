"""OpenTSDB 2 on a local HBase: two processes on free loopback ports, started from their jars."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process import spawn
from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, Setting, TableCount
from benchbook.systems.server import Server

# A local HBase, which OpenTSDB keeps its points in: one process with its own ZooKeeper, on the trial's data folder.

LAUNCHER = Path(__file__).parent / "jvm" / "HBase.java"
READY = "tables are there"
DONE = "done"
HBASE_SETTLE_SECONDS = 1800.0
OWN = ("hbase-", "reload4j", "slf4j-api", "commons-logging", "commons-math3", "htrace", "audience", "opentelemetry",
       "jakarta", "javassist", "findbugs")  # fmt: skip
"""How the names of its jars begin; the rest are OpenTSDB's, whose older libraries it could not live with."""

OPENS = (
    "java.base/java.lang", "java.base/java.lang.reflect", "java.base/java.nio", "java.base/java.util",
    "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
)  # fmt: skip
"""What Java 17 has to open to it."""

LOG4J = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %d %c{1} %m%n
"""


def jars(path: Path) -> list[Path]:
    """Return HBase's jars."""
    return [file for file in java.jars(path) if file.name.startswith(OWN)]


def site(data: str, zookeeper: str) -> str:
    """Return hbase-site.xml: one process, files below ``data``, no pages for people, all on the loopback address."""
    lines = {
        "hbase.rootdir": f"file://{data}/hbase",
        "hbase.tmp.dir": f"{data}/scratch",
        "hbase.zookeeper.property.dataDir": f"{data}/zookeeper",
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
    found = "".join(
        f"  <property><name>{name}</name><value>{value}</value></property>\n" for name, value in lines.items()
    )
    return f"<configuration>\n{found}</configuration>\n"


class HBase:
    """HBase in one trial."""

    def __init__(self, place: Place, heap: str) -> None:
        self._place, self._heap = place, heap
        self.running: spawn.Running | None = None
        self._said: queue.Queue[str] = queue.Queue()
        self.ready = False

    def start(self, files: Sequence[Path], zookeeper: int) -> None:
        """Start it, without waiting."""
        place = self._place
        folder = place.config / "hbase"
        folder.mkdir(exist_ok=True)
        (folder / "hbase-site.xml").write_text(site(str(place.data), str(zookeeper)), encoding="utf-8")
        (folder / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        self.running = spawn.start(
            [
                java.program(), f"-Xmx{self._heap}", *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
                f"-Djava.io.tmpdir={place.data}",
                "-cp", f"{folder}:{java.classpath(files)}", LAUNCHER,
            ],
            name=f"HBase of {place.program.system}", log=place.logs / "hbase.log", cwd=place.data,
            registry=place.processes, pipes=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.running is not None
        assert self.running.process.stdout is not None
        for line in self.running.process.stdout:
            self._said.put(line.decode(errors="replace").strip())

    def answers(self) -> bool:
        """Say whether its tables are there; raise TrialFailed when it has died."""
        assert self.running is not None
        self.running.check()
        while not self.ready:
            try:
                self.ready = self._said.get_nowait() == READY
            except queue.Empty:
                return False
        return True

    def settle(self) -> None:
        """Have all written out and every table's files merged into one."""
        assert self.running is not None
        assert self.running.process.stdin is not None
        self.running.process.stdin.write(b"settle\n")
        self.running.process.stdin.flush()
        try:
            while self._said.get(timeout=HBASE_SETTLE_SECONDS) != DONE:
                pass
        except queue.Empty:
            self.running.check()
            raise TrialFailed(f"HBase did not come to rest within {HBASE_SETTLE_SECONDS:.0f} s.") from None

    def tree(self) -> list[int]:
        """Process ids of it."""
        return self.running.tree() if self.running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL."""
        if self.running is not None:
            self.running.stop(grace_seconds=10.0)
            self.running = None


# OpenTSDB 2 on a local HBase: two processes on free loopback ports, started from their jars.

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
            self._hbase.start(jars(self._program()), self._zookeeper)

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
