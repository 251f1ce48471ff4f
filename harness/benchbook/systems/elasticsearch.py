"""The two index templates of the suite, in the mappings of Elasticsearch 6."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed, nearest
from benchbook.process.network import free_ports
from benchbook.process.ordinary_user import OrdinaryUser, ordinary_user
from benchbook.storage.driver import allocated
from benchbook.systems import java
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.server import Server

NAMES = ("default", "aggregation")


def template(name: str) -> dict[str, Any]:
    """Return an index template.

    ``default`` keeps every document as it was sent and makes each value searchable. ``aggregation`` keeps columns
    only: documents are not stored, numbers are not searchable, and what is aggregated is exact all the same. Shards,
    copies and the pause between refreshes are the suite's.
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
                    # Left to itself it takes numbers with a point for floats of 32 bits.
                    {"floats": {"match_mapping_type": "double", "mapping": {"type": "double", **number}}},
                    {"integers": {"match_mapping_type": "long", "mapping": {"type": "long", **number}}},
                ],
            }
        },
    }


# Elasticsearch 6: one node on free loopback ports, with an index template of the suite.

OF_THE_HARNESS = ("template", "heap", "refresh")
"""Settings of an arm that are no lines of elasticsearch.yml: index template, heap, a refresh after each write."""


class Elasticsearch(Server):
    """One Elasticsearch in one trial."""

    target = "elasticsearch"
    ready_seconds = 300.0

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._user: OrdinaryUser | None = None
        self._home = place.logs.parent / "program"
        template = str(place.settings.get("template", "default"))
        if template not in NAMES:
            guess = nearest(template, NAMES)
            raise TrialFailed(
                f'The arm {place.arm} sets template = "{template}"; allowed are default and aggregation.',
                f'Did you mean "{guess}"?' if guess else "Use one of these.",
            )
        self._template = template

    def _configure(self) -> dict[str, str]:
        place = self._place
        self._user = ordinary_user("elasticsearch")
        http, transport = free_ports(2, place.host)
        self._addresses = [f"{place.host}:{http}", f"{place.host}:{transport}"]
        self._url = f"http://{place.host}:{http}"
        distribution = self._program().resolve().parent.parent
        options = (distribution / "config" / "jvm.options").read_text(encoding="utf-8")
        # Where the distribution lies the server's user may not write.
        options = options.replace("logs/", f"{place.logs}/").replace(
            "HeapDumpPath=data", f"HeapDumpPath={place.logs}"
        )
        (place.config / "jvm.options").write_text(options, encoding="utf-8")
        shutil.copyfile(distribution / "config" / "log4j2.properties", place.config / "log4j2.properties")
        real = self._text(str(place.data / "data"), str(place.logs), place.host, str(http), str(transport))
        (place.config / "elasticsearch.yml").write_text(real, encoding="utf-8")
        (place.data / "data").mkdir(exist_ok=True)
        self._link(distribution)
        self._user.take_over(place.config, place.logs, place.data)
        return {
            "elasticsearch.yml": self._text("{data}", "{logs}", place.host, "{http}", "{transport}"),
            "heap": self._heap() + "\n",
            "template": self._template + "\n",
        }

    def _text(self, data: str, logs: str, host: str, http: str, transport: str) -> str:
        lines = {
            "cluster.name": "benchbook", "node.name": "benchbook", "path.data": data, "path.logs": logs,
            "network.host": host, "http.port": http, "transport.tcp.port": transport,
            "discovery.type": "single-node", "xpack.ml.enabled": "false",
            **{name: str(value) for name, value in self._place.settings.items() if name not in OF_THE_HARNESS},
        }  # fmt: skip
        return "".join(f"{name}: {value}\n" for name, value in sorted(lines.items()))

    def _heap(self) -> str:
        return java.heap_of(self._place, "heap")

    def _link(self, distribution: Path) -> None:
        """Put the distribution where the server's user may enter, which the home of root is not."""
        if self._user is None or self._user.setpriv is None:
            self._home = distribution
            return

        def put(source: str, target: str) -> None:
            try:
                Path(target).hardlink_to(source)
            except OSError:  # another file system
                shutil.copy2(source, target)

        shutil.copytree(distribution, self._home, copy_function=put, dirs_exist_ok=True)

    def _command(self) -> Sequence[str | Path]:
        assert self._user is not None
        return self._user.command([self._home / "bin" / "elasticsearch"])

    def _environment(self) -> dict[str, str]:
        size = self._heap()
        return {
            "ES_PATH_CONF": str(self._place.config),
            "ES_JAVA_OPTS": f"-Xms{size} -Xmx{size}",
            "ES_TMPDIR": str(self._place.data),
            "JAVA_HOME": str(Path(java.program()).resolve().parent.parent),
        }

    def _answers(self) -> bool:
        return self._http().status("/_cluster/health?wait_for_status=yellow&timeout=1s", 5.0) == 200

    def version(self) -> str:
        """Return what ``/`` states."""
        return str(self._http().json("/")["version"]["number"])

    def prepare(self) -> None:
        """Put the arm's index template there; refuse a server with documents."""
        found = self._http().json("/*,-.*/_count")["count"]
        if found:
            raise self._holds_data(f"{found} documents")
        self._http().json("/_template/benchbook", template(self._template), "PUT")

    def _target(self) -> str:
        return "elasticsearch-refresh" if self._place.settings.get("refresh") else "elasticsearch"

    def settle(self) -> None:
        """Merge every index into one segment, as the suite does, then have all written and the log cut.

        6.8 keeps up to 512 MiB of a log that is written out, for copies on other nodes; there are none here.
        """
        ask = self._http()
        ask.text("/*,-.*/_refresh", "", "POST")
        ask.text("/*,-.*/_forcemerge?max_num_segments=1", "", "POST")
        kept = {"index.translog.retention.size": "0b", "index.translog.retention.age": "0s"}
        ask.text("/*,-.*/_settings?allow_no_indices=true", kept, "PUT")
        ask.text("/*,-.*/_flush?force=true&wait_if_ongoing=true", "", "POST")

    def size(self) -> dict[str, int]:
        """Bytes allocated on disk: data and log (wal); for a server elsewhere what it states for its indexes."""
        if self.elsewhere:
            stated = self._http().json("/*,-.*/_stats/store")["_all"]["total"]
            return {"data": int(stated.get("store", {}).get("size_in_bytes", 0))}
        data = self._place.data / "data"
        wal = sum(allocated(folder) for folder in data.glob("nodes/*/indices/*/*/translog"))
        return {"data": allocated(data) - wal, "wal": wal}

    def count(self) -> dict[str, TableCount]:
        """Documents of each index and values of each field, by aggregations of the server."""
        ask = self._http()
        ask.text("/*,-.*/_refresh", "", "POST")
        found = {}
        for index, held in ask.json("/*,-.*/_mapping").items():
            properties = next(iter(held["mappings"].values()))["properties"]
            fields = [name for name, one in properties.items() if one["type"] in ("long", "double")]
            asked: dict[str, Any] = {name: {"value_count": {"field": name}} for name in fields}
            answer = ask.json(f"/{index}/_search", {"size": 0, "aggs": asked}, "POST")
            values = {name: int(one["value"]) for name, one in answer["aggregations"].items()}
            found[index] = TableCount(int(answer["hits"]["total"]), values)
        return found

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; what was put where the server's user may enter is removed."""
        super().stop()
        if self._home == self._place.logs.parent / "program":
            shutil.rmtree(self._home, ignore_errors=True)


def driver(place: Place) -> Elasticsearch:
    """Return the driver of one Elasticsearch."""
    return Elasticsearch(place)
