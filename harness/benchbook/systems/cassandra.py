"""Cassandra: one node on free loopback ports, started from its jars."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.folder import allocated
from benchbook.systems import cassandra_config as config
from benchbook.systems import java
from benchbook.systems.driver import Place
from benchbook.systems.inspected import Inspected
from benchbook.systems.ports import free_ports

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
        config.write(
            place.config,
            config.text(str(place.data), place.host, (str(native), str(storage)), settings, {}),
        )
        shown = config.text("{data}", place.host, ("{native}", "{storage}"), settings, {})
        return {config.FILE: shown, "heap": self._heap() + "\n"}

    def _heap(self) -> str:
        return java.heap_of(self._place, HEAP)

    def _command(self) -> Sequence[str | Path]:
        place = self._place
        files = java.jars(self._program())
        agent = next((file for file in files if file.name.startswith("jamm-")), None)
        return [
            java.program(), f"-Xms{self._heap()}", f"-Xmx{self._heap()}", "-XX:+UseG1GC",
            *([f"-javaagent:{agent}"] if agent else []),
            *config.java_options(),
            f"-Dcassandra.config=file://{place.config / config.FILE}",
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
            java.program(), *config.java_options(), f"-Duser.home={self._place.logs}",
            f"-Dlogback.configurationFile={self._place.config / 'logback.xml'}",
            f"-Dcassandra.config=file://{self._place.config / config.FILE}",
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
