"""Cassandra 5, one node, started from its jars on Java 17."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from benchbook.declare.level import Setting
from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.inspected import Inspected
from benchbook.systems.quoting import in_quotes
from benchbook.systems.server import Layout, settings_text

FILE = "cassandra.yaml"
FOLDERS = {
    "data_file_directories": "data",
    "commitlog_directory": "commitlog",
    "saved_caches_directory": "saved_caches",
    "hints_directory": "hints",
    "cdc_raw_directory": "cdc_raw",
}
"""Settings that name folders → their names in the data folder."""

LIMITS = ("read_request_timeout", "range_request_timeout", "write_request_timeout")
LIMIT = "60s"
"""The defaults are 2 to 10 s, which a server exceeds on a few busy cores just after its start. A slow write must be
measured as slow, not refused.
"""

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

NODETOOL_SECONDS = 1800.0


class Cassandra(Inspected):
    """One Cassandra in one trial."""

    target = "cassandra"
    scheme = "cassandra"
    url_schemes = ("cassandra",)
    ports = ("native", "storage", "jmx")
    harness_settings = ("heap",)
    ready_seconds = 300.0

    def files(self, at: Layout) -> dict[str, str]:
        """Return cassandra.yaml with the relevant values of the distribution, and the heap."""
        folders = at.below(FOLDERS)
        data = folders.pop("data_file_directories")
        settings: dict[str, Setting] = {
            "cluster_name": "benchbook", "num_tokens": 16, "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "SimpleSnitch", "commitlog_sync": "periodic", "commitlog_sync_period": "10000ms",
            "listen_address": at.host, "rpc_address": at.host,
            "native_transport_port": at.ports["native"], "storage_port": at.ports["storage"],
            "start_native_transport": True, "disk_failure_policy": "stop", "commit_failure_policy": "stop",
            **dict.fromkeys(LIMITS, LIMIT),
            **{name: in_quotes(path) for name, path in folders.items()},
            **self.settings,
        }  # fmt: skip
        lists = (
            f"data_file_directories:\n  - {in_quotes(data)}\n"
            "seed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n"
            f'    parameters:\n      - seeds: "{at.host}:{at.ports["storage"]}"\n'
        )
        return {FILE: settings_text(settings, "{}: {}") + lists, "heap": java.heap_of(self.place) + "\n"}

    def initialise(self) -> None:
        """Configure logging: warnings only, to standard output."""
        (self.place.config / "logback.xml").write_text(java.LOGBACK, encoding="utf-8")

    def command(self) -> Sequence[str | Path]:
        """Return the command of Cassandra's start script."""
        files, heap, place = self._jars, java.heap_of(self.place), self.place
        agent = next((file for file in files if file.name.startswith("jamm-")), None)
        return [
            *self._java(), f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseG1GC", *([f"-javaagent:{agent}"] if agent else []),
            f"-Dcassandra.storagedir={place.data}", f"-Dcassandra.logdir={place.logs}",
            "-Dcassandra-foreground=yes", f"-Dcassandra.jmx.local.port={self.layout.ports['jmx']}",
            f"-Djava.io.tmpdir={place.data}", "org.apache.cassandra.service.CassandraDaemon",
        ]  # fmt: skip

    @cached_property
    def _jars(self) -> list[Path]:
        """The jars of the server; in an image, a program has to list them."""
        return java.jars_of(self.place)

    def _java(self) -> list[str]:
        """Return the command and options that the server and its tool share."""
        config = self.place.config
        return [
            java.program(self.place), "-cp", java.classpath(self._jars),
            "-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true",
            *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS),
            *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
            f"-Dcassandra.config={(config / FILE).as_uri()}",
            f"-Dlogback.configurationFile={config / 'logback.xml'}", f"-Duser.home={self.place.logs}",
        ]  # fmt: skip

    def settle(self) -> None:
        """Flush memtables to disk, then compact each table into one file.

        The suite brings every system to this state before measuring size; it does not count as load time.
        """
        if not self.external:
            self._nodetool("flush")
            self._nodetool("compact", self.place.databases[0])

    def _nodetool(self, *arguments: str) -> None:
        """Run ``nodetool`` from the server's jars."""
        command = [
            *self._java(), "org.apache.cassandra.tools.NodeTool",
            "-h", self.place.host, "-p", self.layout.ports["jmx"], *arguments,
        ]  # fmt: skip
        try:
            ran = self.place.call(command, NODETOOL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise TrialFailed(
                f"nodetool {arguments[0]} did not end within {NODETOOL_SECONDS:.0f} s."
            ) from error
        if ran.returncode != 0:
            self.check_alive()
            output = " ".join((ran.stderr or ran.stdout).split())[-400:]
            raise TrialFailed(f"nodetool {arguments[0]} ended with code {ran.returncode}: {output}")

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the keyspace (data), of the commit log (wal) and of the server's tables (system)."""
        whole = self.place.data / "data"
        data = sum(allocated(whole / name) for name in self.place.databases)
        wal = allocated(self.place.data / "commitlog")
        return {"data": data, "wal": wal, "system": allocated(whole) - data}


driver = Cassandra
