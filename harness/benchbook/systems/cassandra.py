"""The configuration of Cassandra 5: cassandra.yaml, its log, and what Java 17 has to open to it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process.network import free_ports
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, Setting
from benchbook.systems.server import Inspected

FILE = "cassandra.yaml"
FOLDERS = {
    "data_file_directories": "data",
    "commitlog_directory": "commitlog",
    "saved_caches_directory": "saved_caches",
    "hints_directory": "hints",
    "cdc_raw_directory": "cdc_raw",
}
"""Folders below the data folder."""

LIMITS = ("read_request_timeout", "range_request_timeout", "write_request_timeout")
LIMIT = "60s"
"""As installed 2 to 10 s, which a server that has just started overruns on a few busy cores; a slow write is to be
measured as one, not refused."""

EXPORTS = (
    "java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/java.lang.ref",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp", "java.sql/java.sql", "jdk.unsupported/sun.misc",
)  # fmt: skip
OPENS = (
    "java.base/java.lang", "java.base/java.lang.module", "java.base/java.lang.reflect", "java.base/java.io",
    "java.base/java.math", "java.base/java.net", "java.base/java.nio", "java.base/java.util",
    "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math", "java.base/jdk.internal.module", "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect", "java.base/jdk.internal.util.jar", "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
)  # fmt: skip

LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>
"""


def java_options() -> list[str]:
    """Return what Cassandra's own start script gives to Java 17."""
    return [
        "-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true",
        *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
    ]  # fmt: skip


def text(
    data: str, host: str, ports: tuple[str, str], settings: Mapping[str, Setting], more: Mapping[str, Setting]
) -> str:
    """Return cassandra.yaml: the distribution's own values that matter, ports and folders, the arm's settings.

    ``more`` are settings of the harness that no arm replaces.
    """
    native, storage = ports
    lines: dict[str, Setting] = {
        "cluster_name": "benchbook", "num_tokens": 16, "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch", "commitlog_sync": "periodic", "commitlog_sync_period": "10000ms",
        "listen_address": host, "rpc_address": host, "native_transport_port": native, "storage_port": storage,
        "start_native_transport": True, "disk_failure_policy": "stop", "commit_failure_policy": "stop",
        **dict.fromkeys(LIMITS, LIMIT),
        **{name: f"{data}/{folder}" for name, folder in FOLDERS.items() if name != "data_file_directories"},
        **settings, **more,
    }  # fmt: skip
    shown = {name: str(value).lower() if isinstance(value, bool) else value for name, value in lines.items()}
    return "".join(f"{name}: {value}\n" for name, value in sorted(shown.items())) + (
        f"data_file_directories:\n  - {data}/data\n"
        "seed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n"
        f'    parameters:\n      - seeds: "{host}:{storage}"\n'
    )


def write(folder: Path, yaml: str) -> None:
    """Write the files of a server."""
    (folder / FILE).write_text(yaml, encoding="utf-8")
    (folder / "logback.xml").write_text(LOGBACK, encoding="utf-8")


# Cassandra: one node on free loopback ports, started from its jars.

HEAP = "heap"
"""Setting of an arm that is no line of cassandra.yaml."""
TOOL_SECONDS = 1800.0


class Cassandra(Inspected):
    """One Cassandra in one trial."""

    target = "cassandra"
    ready_seconds = 300.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._jmx = 0

    def _configure(self) -> dict[str, str]:
        place = self._place
        native, storage, self._jmx = free_ports(3, place.host)
        self._addresses = [f"{place.host}:{native}", f"{place.host}:{storage}"]
        self._url = f"cassandra://{place.host}:{native}"
        settings = {name: value for name, value in place.settings.items() if name != HEAP}
        write(
            place.config,
            text(str(place.data), place.host, (str(native), str(storage)), settings, {}),
        )
        shown = text("{data}", place.host, ("{native}", "{storage}"), settings, {})
        return {FILE: shown, "heap": self._heap() + "\n"}

    def _heap(self) -> str:
        return java.heap_of(self._place, HEAP)

    def _command(self) -> Sequence[str | Path]:
        place = self._place
        files = java.jars(self._program())
        agent = next((file for file in files if file.name.startswith("jamm-")), None)
        return [
            java.program(), f"-Xms{self._heap()}", f"-Xmx{self._heap()}", "-XX:+UseG1GC",
            *([f"-javaagent:{agent}"] if agent else []),
            *java_options(),
            f"-Dcassandra.config=file://{place.config / FILE}",
            f"-Dcassandra.storagedir={place.data}", f"-Dcassandra.logdir={place.logs}",
            f"-Dlogback.configurationFile={place.config / 'logback.xml'}", "-Dcassandra-foreground=yes",
            f"-Dcassandra.jmx.local.port={self._jmx}", f"-Djava.io.tmpdir={place.data}", f"-Duser.home={place.logs}",
            "-cp", java.classpath(files), "org.apache.cassandra.service.CassandraDaemon",
        ]  # fmt: skip

    def settle(self) -> None:
        """Have what is in memory written as files, then compact each table into one, and wait for it.

        As for the other systems of the suite: the size is that of the steady state, and it costs no load time.
        """
        if self.elsewhere:
            return
        self._tool("flush")
        self._tool("compact", self._place.databases[0])

    def _tool(self, *words: str) -> None:
        """Run ``nodetool`` from the server's own jars."""
        command = [
            java.program(), *java_options(), f"-Duser.home={self._place.logs}",
            f"-Dlogback.configurationFile={self._place.config / 'logback.xml'}",
            f"-Dcassandra.config=file://{self._place.config / FILE}",
            "-cp", java.classpath(java.jars(self._program())), "org.apache.cassandra.tools.NodeTool",
            "-h", self._place.host, "-p", str(self._jmx), *words,
        ]  # fmt: skip
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
                timeout=TOOL_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise TrialFailed(f"nodetool {words[0]} did not end within {TOOL_SECONDS:.0f} s.") from error
        if ran.returncode != 0:
            self._check()
            said = " ".join((ran.stderr or ran.stdout).split())[-400:]
            raise TrialFailed(f"nodetool {words[0]} ended with code {ran.returncode}: {said}")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: the keyspace (data), the commit log (wal), the server's own (system)."""
        if self.elsewhere:
            return {}
        whole = self._place.data / "data"
        data = sum(allocated(whole / name) for name in self._place.databases)
        return {
            "data": data,
            "wal": allocated(self._place.data / "commitlog"),
            "system": allocated(whole) - data,
        }


def driver(place: Place) -> Cassandra:
    """Return the driver of one Cassandra."""
    return Cassandra(place)
