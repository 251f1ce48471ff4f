"""A local HBase, which OpenTSDB keeps its points in: one process with its own ZooKeeper, on the trial's data folder."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.systems import java, process
from benchbook.systems.driver import Place

LAUNCHER = Path(__file__).parent / "jvm" / "HBase.java"
READY = "tables are there"
DONE = "done"
SETTLE_SECONDS = 1800.0
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
        self.running: process.Running | None = None
        self._said: queue.Queue[str] = queue.Queue()
        self.ready = False

    def start(self, files: Sequence[Path], zookeeper: int) -> None:
        """Start it, without waiting."""
        place = self._place
        folder = place.config / "hbase"
        folder.mkdir(exist_ok=True)
        (folder / "hbase-site.xml").write_text(site(str(place.data), str(zookeeper)), encoding="utf-8")
        (folder / "log4j.properties").write_text(LOG4J, encoding="utf-8")
        self.running = process.start(
            [
                java.program(), f"-Xmx{self._heap}", *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
                f"-Djava.io.tmpdir={place.data}",
                "-cp", f"{folder}:{java.classpath(files)}", LAUNCHER,
            ],
            words=f"HBase of {place.program.system}", log=place.logs / "hbase.log", cwd=place.data,
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
            while self._said.get(timeout=SETTLE_SECONDS) != DONE:
                pass
        except queue.Empty:
            self.running.check()
            raise TrialFailed(f"HBase did not come to rest within {SETTLE_SECONDS:.0f} s.") from None

    def tree(self) -> list[int]:
        """Process ids of it."""
        return self.running.tree() if self.running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL."""
        if self.running is not None:
            self.running.stop(grace_seconds=10.0)
            self.running = None
