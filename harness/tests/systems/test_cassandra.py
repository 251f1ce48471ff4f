"""Cassandra: its configuration, its command, its tool; test_inspected.py has its answers."""

import pytest
import yaml

from benchbook.errors import TrialFailed
from benchbook.systems.cassandra import driver

JAVA = """
for last; do :; done
case "$*" in
  *NodeTool*) echo "$@" >> "$(dirname "$0")/nodetool"
    [ -e "$(dirname "$0")/broken" ] && echo "no node" >&2 && exit 2 ;;
esac
exit 0
"""


@pytest.fixture
def local(place, tmp_path, monkeypatch):
    """Return a maker of drivers with jars, and with a script for java."""
    (tmp_path / "lib").mkdir()
    for name in ("apache-cassandra-5.0.9.jar", "jamm-0.4.0.jar"):
        (tmp_path / "lib" / name).touch()
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{JAVA}")
    java.chmod(0o755)
    monkeypatch.setattr("benchbook.systems.java.program", lambda *_: str(java))

    def make(**settings):
        one = driver(place("cassandra", settings=settings))
        return one, one.configure()

    return make


def test_the_configuration_is_yaml_with_the_arms_settings(local, tmp_path):
    one, shown = local(heap="2g", concurrent_writes=64, commitlog_sync="group")
    read = yaml.safe_load((tmp_path / "config" / "cassandra.yaml").read_text())
    assert read["concurrent_writes"] == 64
    assert read["commitlog_sync"] == "group"
    assert read["data_file_directories"] == [f"{tmp_path}/data/data"]
    assert read["commitlog_directory"] == f"{tmp_path}/data/commitlog"
    assert read["start_native_transport"] is True
    assert str(read["native_transport_port"]) == one.url.rpartition(":")[2]
    assert read["seed_provider"][0]["parameters"][0]["seeds"] == f"127.0.0.1:{read['storage_port']}"
    assert "heap" not in read
    assert shown["heap"] == "2g\n"
    assert str(tmp_path) not in shown["cassandra.yaml"]


def test_the_command_has_the_heap_the_agent_and_what_java_opens(local, tmp_path):
    one, _ = local(heap="2g")
    command = " ".join(map(str, one.command()))
    assert "-Xms2g -Xmx2g" in command
    assert f"-javaagent:{tmp_path}/lib/jamm-0.4.0.jar" in command
    assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in command
    assert command.endswith("org.apache.cassandra.service.CassandraDaemon")


def test_settling_flushes_then_compacts_through_the_port_of_the_trial(local, tmp_path):
    one, _ = local()
    one.settle()
    flush, compact = (tmp_path / "nodetool").read_text().splitlines()
    assert flush.endswith(f"-p {one.layout.ports['jmx']} flush")
    assert compact.endswith("compact benchbook")
    (tmp_path / "broken").touch()
    with pytest.raises(TrialFailed, match="nodetool flush ended with code 2: no node"):
        one.settle()


def test_keyspace_log_and_the_servers_own_tables_are_measured_apart(local, tmp_path):
    one, _ = local()
    for name, size in (("data/benchbook/a", 20_000), ("data/system/b", 9000), ("commitlog/c", 5000)):
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 20_000 > size["system"] >= 9000 > size["wal"] >= 5000
