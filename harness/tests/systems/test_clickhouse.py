"""ClickHouse: its configuration, and its answers."""

import xml.etree.ElementTree as ET

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.clickhouse import driver
from benchbook.systems.driver import TableCount


def rows(*found):
    return {"data": list(found)}


@pytest.fixture
def external(place, web):
    web.otherwise = ""
    return driver(place("clickhouse-18.16", "18.16", url=web.url))


@pytest.fixture
def filled(external, web):
    web.answers |= {
        "SELECT name FROM system.tables": rows(["cpu"], ["mem"]),
        "SELECT table, name, type FROM system.columns": rows(
            ["cpu", "time", "Int64"],
            ["cpu", "user", "Float64"],
            ["cpu", "host", "String"],
            ["mem", "free", "Int64"],
        ),
        "SELECT count(*), count(`user`) FROM `benchbook`.`cpu`": rows(["12", "12"]),
        "SELECT count(*), count(`free`) FROM `benchbook`.`mem`": rows(["3", "2"]),
    }
    return external


def test_the_configuration_is_xml_with_the_arms_settings(place, tmp_path):
    one = driver(place("clickhouse", settings={"mark_cache_size": 7, "max_concurrent_queries": 100}))
    shown = one.configure()
    tree = ET.fromstring((tmp_path / "config" / "config.xml").read_text())
    assert tree.findtext("path") == f"{tmp_path}/data/"
    assert tree.findtext("mark_cache_size") == "7"
    assert tree.findtext("max_concurrent_queries") == "100"
    assert tree.findtext("users_config") == f"{tmp_path}/config/users.xml"
    assert tree.findtext("http_port") == one.url.rpartition(":")[2]
    assert tree.findtext("logger/level") == "warning"
    assert ET.fromstring((tmp_path / "config" / "users.xml").read_text()).find("users/default") is not None
    assert str(tmp_path) not in shown["config.xml"]
    assert one.command()[1] == f"--config-file={tmp_path}/config/config.xml"


def test_it_is_ready_when_it_answers_a_query(external, web):
    web.answers["SELECT 1"] = "1\n"
    assert external.ready()
    web.answers["SELECT 1"] = (500, "starting")
    assert not external.ready()


def test_the_version_is_what_it_states(external, web):
    web.answers["SELECT version()"] = rows(["18.16.1"])
    assert external.version() == "18.16.1"


def test_number_columns_are_counted_and_neither_time_nor_tags(filled):
    assert filled.count() == {"cpu": TableCount(12, {"user": 12}), "mem": TableCount(3, {"free": 2})}


def test_a_database_with_rows_is_refused_and_empty_tables_are_not(filled, web):
    with pytest.raises(TrialFailed, match="already holds data: cpu, mem"):
        filled.prepare()
    for table in ("SELECT count(*), count(`user`)", "SELECT count(*), count(`free`)"):
        web.answers = {table: rows(["0", "0"]), **web.answers}
    filled.prepare()


def test_every_table_is_merged_and_merges_are_waited_for(filled, web):
    running = iter([rows([1]), rows([1]), rows()])
    web.answers["SELECT 1 FROM system.merges"] = lambda _: next(running)
    filled.settle()
    merged = [one for one in web.statements if one.startswith("OPTIMIZE")]
    assert merged == ["OPTIMIZE TABLE benchbook.cpu FINAL", "OPTIMIZE TABLE benchbook.mem FINAL"]
    assert next(running, None) is None


def test_the_size_is_that_of_the_parts_in_use(external, web):
    web.answers["SELECT sum(bytes_on_disk * active)"] = rows(["4096"])
    assert external.size() == {"data": 4096}


def test_an_error_is_told_with_the_statement(external, web):
    web.answers["SELECT version()"] = (500, "Code: 62. DB::Exception: Syntax error")
    with pytest.raises(
        TrialFailed, match=r"refuses SELECT version\(\) \(status 500\): Code: 62. DB::Exception"
    ):
        external.version()
