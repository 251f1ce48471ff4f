"""OpenTSDB: its configuration, the order in which its two processes start, and its answers."""

import json
import xml.etree.ElementTree as ET

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems import opentsdb
from benchbook.systems.driver import TableCount
from benchbook.systems.opentsdb import driver, site

JAVA = """
case "$*" in
  *TSDMain*) echo OpenTSDB; sleep 60 ;;
  *) echo "$@" >&2; while [ ! -e "$(dirname "$0")/tables" ]; do sleep 0.02; done
     echo starting; echo "tables are there"; while read line; do echo "$line"; echo done; done ;;
esac
"""


@pytest.fixture
def external(place, web):
    return driver(place("opentsdb-2.4.1", "2.4.1", url=web.url))


@pytest.fixture
def local(place, tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    for name in ("opentsdb-2.4.1.jar", "hbase-shaded.jar", "reload4j-1.2.25.jar", "netty-3.jar"):
        (tmp_path / "lib" / name).touch()
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{JAVA}")
    java.chmod(0o755)
    monkeypatch.setattr("benchbook.systems.java.program", lambda: str(java))
    one = driver(place("opentsdb", settings={"heap": "512m", "tsd.query.timeout": 9}))
    yield one, one.configure()
    one.stop()


def test_the_configuration_has_the_trials_zookeeper_and_placeholders_are_returned(local, tmp_path):
    one, shown = local
    assert shown["heap"] == "512m\n"
    assert "tsd.storage.hbase.zk_quorum = 127.0.0.1:{zookeeper}\n" in shown["opentsdb.conf"]
    assert "tsd.query.timeout = 9\n" in shown["opentsdb.conf"]
    written = (tmp_path / "config" / "opentsdb.conf").read_text()
    assert f"tsd.storage.hbase.zk_quorum = 127.0.0.1:{one.layout.ports['zookeeper']}\n" in written


def test_hbase_listens_on_loopback_and_keeps_its_files_in_the_data_folder():
    found = {one.findtext("name"): one.findtext("value") for one in ET.fromstring(site("/d", "2181"))}
    assert found["hbase.rootdir"] == "file:///d/hbase"
    assert found["hbase.zookeeper.property.clientPort"] == "2181"
    assert found["hbase.master.ipc.address"] == found["hbase.regionserver.ipc.address"] == "127.0.0.1"


def test_each_process_has_only_the_jars_it_can_live_with(local):
    one, _ = local
    command = list(map(str, one.command()))
    jars = command[command.index("-cp") + 1]
    assert "opentsdb-2.4.1.jar" in jars
    assert "netty-3.jar" in jars
    assert "hbase" not in jars
    assert "reload4j" not in jars


def test_opentsdb_starts_when_hbase_has_its_tables_and_again_after_a_stop(local, tmp_path, web, monkeypatch):
    one, _ = local
    monkeypatch.setattr(one, "url", web.url)
    web.answers["GET /api/version"] = {"version": "2.4.1"}
    for _ in range(2):
        (tmp_path / "tables").unlink(missing_ok=True)
        one.start()
        assert not one.ready()
        (hbase,) = one.processes()[:1]
        (tmp_path / "tables").touch()
        while not one.ready():
            pass
        assert hbase in one.processes()
        assert len(one.processes()) >= 2
        one.stop()
        assert one.processes() == []
    assert "reload4j" in (tmp_path / "logs" / "hbase.log").read_text()


def test_settling_waits_for_rows_to_be_merged_then_settles_hbase(local, tmp_path, web, monkeypatch):
    one, _ = local
    monkeypatch.setattr(opentsdb, "BUFFER_SECONDS", 0.0)
    monkeypatch.setattr(one, "url", web.url)
    queued = iter([900, 100])
    web.answers["GET /api/version"] = {"version": "2.4.1"}
    web.answers["GET /api/stats"] = lambda _: [
        {"metric": "tsd.compaction.queue.size", "value": str(next(queued))}
    ]
    (tmp_path / "tables").touch()
    one.start()
    while not one.ready():
        pass
    one.settle()
    assert next(queued, None) is None


def test_a_build_that_states_no_number_has_the_version_of_its_jar(local, web, monkeypatch):
    one, _ = local
    monkeypatch.setattr(one, "url", web.url)
    web.answers["GET /api/version"] = {"version": "net.opentsdb"}
    assert one.version() == "2.4.1"
    web.answers["GET /api/version"] = {"version": "2.4.0"}
    assert one.version() == "2.4.0"


def test_points_are_counted_by_metric_some_at_a_time(external, web, monkeypatch):
    monkeypatch.setattr(opentsdb, "METRICS_PER_REQUEST", 2)
    web.answers["GET /api/suggest"] = ["mem.free", "cpu.user", "cpu.idle"]

    def counted(asked):
        queries = json.loads(asked.body)["queries"]
        return [
            {"metric": one["metric"], "dps": {"1": 5, "2": 2 if "user" in one["metric"] else 0}}
            for one in queries
        ]

    web.answers["POST /api/query"] = counted
    assert external.count() == {
        "cpu": TableCount(7, {"idle": 5, "user": 7}, exact=False),
        "mem": TableCount(5, {"free": 5}, exact=False),
    }
    assert [one.method for one in web.asked].count("POST") == 2


def test_a_server_with_metrics_is_refused(external, web):
    web.answers["GET /api/suggest"] = []
    external.prepare()
    web.answers["GET /api/suggest"] = ["cpu.user"]
    with pytest.raises(TrialFailed, match="already holds data: 1 metrics"):
        external.prepare()
