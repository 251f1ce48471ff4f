"""The configuration of Cassandra 5: cassandra.yaml, its log, and what Java 17 has to open to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.systems.driver import Setting

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
