"""Elasticsearch 6, one node, with an index template of the suite."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed, nearest
from benchbook.process.ordinary_user import OrdinaryUser, ordinary_user
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.quoting import in_quotes
from benchbook.systems.server import Layout, Server, settings_text

TEMPLATES = ("default", "aggregation")
FILE = "elasticsearch.yml"
INDEXES = "/*,-.*"
"""Path of all indexes except the server's own."""


def template(name: str) -> dict[str, Any]:
    """Return an index template with the suite's shards, replicas and refresh interval.

    ``default`` stores every document as sent and makes each value searchable. ``aggregation`` stores only columns: no
    documents, and numbers are not searchable, but aggregations are exact.
    """
    aggregation = name == "aggregation"
    number = {"doc_values": True, **({"index": False} if aggregation else {})}
    return {
        "index_patterns": ["*"],
        "order": 0,
        "settings": {"index": {"number_of_shards": 5, "number_of_replicas": 0, "refresh_interval": "5s"}},
        "mappings": {
            "doc": {
                "_source": {"enabled": not aggregation},
                "properties": {"@timestamp": {"type": "date"}},
                "dynamic_templates": [
                    {"tags": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}},
                    # By default Elasticsearch stores decimal numbers in 32 bits.
                    {"floats": {"match_mapping_type": "double", "mapping": {"type": "double", **number}}},
                    {"integers": {"match_mapping_type": "long", "mapping": {"type": "long", **number}}},
                ],
            }
        },
    }


class Elasticsearch(Server):
    """One Elasticsearch in one trial; the arm's setting ``refresh`` adds a refresh to each write."""

    target = "elasticsearch"
    ports = ("http", "transport")
    harness_settings = ("template", "heap", "refresh")
    users = ("elasticsearch",)
    in_containers = False
    ready_seconds = 300.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        if place.settings.get("refresh"):
            self.target = "elasticsearch-refresh"
        self._user: OrdinaryUser | None = None
        self._home = place.logs.parent / "program"
        self._template = str(place.settings.get("template", "default"))
        if self._template not in TEMPLATES:
            guess = nearest(self._template, TEMPLATES)
            raise TrialFailed(
                f'The configuration {place.arm} sets template = "{self._template}"; allowed: default, aggregation.',
                f'Did you mean "{guess}"?' if guess else "Use one of these.",
            )

    def files(self, at: Layout) -> dict[str, str]:
        """Return the server's configuration, and the arm's settings for the driver."""
        settings = {
            "cluster.name": "benchbook", "node.name": "benchbook", "path.data": in_quotes(f"{at.data}/data"),
            "path.logs": in_quotes(at.logs),
            "network.host": at.host, "http.port": at.ports["http"], "transport.tcp.port": at.ports["transport"],
            "discovery.type": "single-node", "xpack.ml.enabled": "false", **self.settings,
        }  # fmt: skip
        heap = java.heap_of(self.place)
        return {
            FILE: settings_text(settings, "{}: {}"),
            "heap": f"{heap}\n",
            "template": f"{self._template}\n",
        }

    def initialise(self) -> None:
        """Complete the configuration from the distribution's, and make the server's user the owner of its folders."""
        place, program = self.place, self.program
        distribution = (program if place.program.isolated else program.resolve()).parent.parent
        options = self._stated(distribution / "config" / "jvm.options")
        (place.config / "jvm.options").write_text(self._jvm_options(options), encoding="utf-8")
        log4j = self._stated(distribution / "config" / "log4j2.properties")
        (place.config / "log4j2.properties").write_text(log4j, encoding="utf-8")
        (place.data / "data").mkdir(exist_ok=True)
        if place.program.isolated:
            self._home = distribution
            return
        self._user = ordinary_user(*self.users)
        self._link(distribution)
        self._user.take_over(place.config, place.logs, place.data)

    def _jvm_options(self, options: str) -> str:
        """Return the distribution's options with folders that the server's user may write to.

        The start script splits options at spaces, so they name links in its home, where the server runs.
        """
        folders = {name: str(folder) for name, folder in self._links.items()}
        if not self.place.program.isolated:
            folders = {name: name for name in folders}
        elif any(re.search(r"\s", folder) for folder in folders.values()):
            raise TrialFailed(
                f"The start script of {self.name} in an image accepts no path with a space: {self.place.data}.",
                "Name another folder with --results.",
            )
        return (
            options.replace("logs/", f"{folders['logs']}/")
            .replace("HeapDumpPath=data", f"HeapDumpPath={folders['logs']}")
            .replace("${ES_TMPDIR}", folders["scratch"])
        )

    @property
    def _links(self) -> dict[str, Path]:
        """Names of links in the server's home → their folders."""
        return {"logs": self.place.logs, "scratch": self.place.data}

    def _stated(self, file: Path) -> str:
        """Return a file of the distribution, from its image if it runs from one."""
        if not self.place.program.isolated:
            return file.read_text(encoding="utf-8")
        ran = self.place.call(["cat", file])
        if ran.returncode != 0:
            raise TrialFailed(f"The image of {self.name} has no {file}: {ran.stderr.strip()}.")
        return ran.stdout

    def _link(self, distribution: Path) -> None:
        """Link the distribution to a folder that the server's user may enter, unlike the home of root."""

        def link(source: str, target: str) -> None:
            try:
                Path(target).hardlink_to(source)
            except OSError:  # another file system
                shutil.copy2(source, target)

        shutil.copytree(distribution, self._home, copy_function=link, dirs_exist_ok=True)
        for name, folder in self._links.items():
            shutil.rmtree(self._home / name, ignore_errors=True)
            (self._home / name).symlink_to(folder)

    def command(self) -> Sequence[str | Path]:
        """Return the distribution's start script, run as an ordinary user."""
        # Its first line names /bin/bash, which NixOS does not have.
        script: list[str | Path] = ["bash", self._home / "bin" / "elasticsearch"]
        return self._user.command(script) if self._user is not None else script

    def environment(self) -> dict[str, str]:
        heap = java.heap_of(self.place)
        return {
            "ES_PATH_CONF": str(self.place.config),
            "ES_JAVA_OPTS": f"-Xms{heap} -Xmx{heap}",
            "ES_TMPDIR": str(self.place.data),
            **({} if self.place.program.isolated else {"JAVA_HOME": java.home()}),
        }

    def answers(self) -> bool:
        """Check that all primary shards are available."""
        return self.http.answers("/_cluster/health?wait_for_status=yellow&timeout=1s", 5.0)

    def version(self) -> str:
        """Return the version that ``/`` reports."""
        return str(self.http.json("/")["version"]["number"])

    def prepare(self) -> None:
        """Install the arm's index template; refuse a server with documents."""
        if found := self.http.json(f"{INDEXES}/_count")["count"]:
            raise self.holds_data(f"{found} documents")
        self.http.json("/_template/benchbook", template(self._template), method="PUT")

    def settle(self) -> None:
        """Merge every index into one segment, as the suite does, then flush and trim the translog.

        6.8 keeps up to 512 MiB of flushed translog for replicas; there are none here.
        """
        self.http.text(f"{INDEXES}/_refresh", method="POST")
        self.http.text(f"{INDEXES}/_forcemerge?max_num_segments=1", method="POST")
        retention = {"index.translog.retention.size": "0b", "index.translog.retention.age": "0s"}
        self.http.text(f"{INDEXES}/_settings?allow_no_indices=true", retention, method="PUT")
        self.http.text(f"{INDEXES}/_flush?force=true&wait_if_ongoing=true", method="POST")

    def size(self) -> dict[str, int]:
        """Return the bytes of data and translog (wal); for an external server, the size that it reports."""
        if self.external:
            stats = self.http.json(f"{INDEXES}/_stats/store")["_all"]["total"]
            return {"data": int(stats.get("store", {}).get("size_in_bytes", 0))}
        data = self.place.data / "data"
        wal = sum(allocated(folder) for folder in data.glob("nodes/*/indices/*/*/translog"))
        return {"data": allocated(data) - wal, "wal": wal}

    def count(self) -> dict[str, TableCount]:
        """Count the documents of each index and the values of each field, by aggregations."""
        self.http.text(f"{INDEXES}/_refresh", method="POST")
        found = {}
        for index, held in self.http.json(f"{INDEXES}/_mapping").items():
            properties = next(iter(held["mappings"].values()))["properties"]
            fields = [name for name, one in properties.items() if one["type"] in ("long", "double")]
            counts: dict[str, Any] = {name: {"value_count": {"field": name}} for name in fields}
            answer = self.http.json(f"/{index}/_search", {"size": 0, "aggs": counts})
            values = {name: int(one["value"]) for name, one in answer["aggregations"].items()}
            found[index] = TableCount(int(answer["hits"]["total"]), values)
        return found

    def stop(self) -> None:
        """Stop the server, and remove the linked distribution."""
        super().stop()
        if self._home == self.place.logs.parent / "program":
            shutil.rmtree(self._home, ignore_errors=True)


driver = Elasticsearch
