"""Spark SQL: its configuration, its command and its environment; test_python_server.py starts it."""

import pytest

from benchbook.declare import plugin
from benchbook.declare.experiment import Limits
from benchbook.systems import java

driver = plugin.module("kline-mysql-vs-kv", "spark").Spark


@pytest.fixture(autouse=True)
def _java(monkeypatch):
    monkeypatch.setattr(java, "program", lambda: "/usr/bin/java")
    monkeypatch.setattr(java, "memory_bytes", lambda: 8 << 30)


def test_tables_and_metastore_are_in_the_data_folder(place, tmp_path):
    one = driver(
        place("spark-submit", settings={"heap": "2g", "spark.sql.shuffle.partitions": 4, "spark.x": True})
    )
    shown = one.configure()["spark-defaults.conf"]
    assert "spark.sql.warehouse.dir {data}/warehouse\n" in shown
    assert "databaseName={data}/metastore;create=true\n" in shown
    assert "spark.driver.memory 2g\n" in shown
    assert "spark.sql.shuffle.partitions 4\n" in shown
    assert "spark.x true\n" in shown
    assert "heap" not in shown
    assert (
        f"spark.local.dir {tmp_path}/data/scratch\n"
        in (tmp_path / "config" / "spark-defaults.conf").read_text()
    )
    assert {one.name for one in (tmp_path / "data").iterdir()} == {"warehouse", "scratch", "batches"}


def test_half_of_a_memory_limit_is_the_heap(place):
    one = driver(place("spark-submit", settings={"heap": "half"}, limits=Limits(memory_bytes=2 << 30)))
    assert "spark.driver.memory 1024m\n" in one.configure()["spark-defaults.conf"]


def test_the_command_has_the_trials_port(place, tmp_path):
    one = driver(place("spark-submit"))
    one.configure()
    command = list(map(str, one.command()))
    assert f"hive.server2.thrift.port={one.url.rpartition(':')[2]}" in command
    assert "hive.server2.thrift.bind.host=127.0.0.1" in command
    assert one.environment()["SPARK_CONF_DIR"] == f"{tmp_path}/config"
    assert one.connection() == {"folder": f"{tmp_path}/data/batches"}
