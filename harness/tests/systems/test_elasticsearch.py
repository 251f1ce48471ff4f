"""Elasticsearch: its configuration, its index template, and its answers."""

import json
import os

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import OrdinaryUser
from benchbook.systems.driver import TableCount
from benchbook.systems.elasticsearch import driver, template

ALL = "/*,-.*"


@pytest.fixture
def external(place, web):
    return driver(place("elasticsearch-6.8.23", "6.8.23", url=web.url))


@pytest.fixture
def local(place, tmp_path, monkeypatch):
    """Return a maker of drivers of a distribution with two configuration files."""
    (tmp_path / "home" / "bin").mkdir(parents=True)
    (tmp_path / "home" / "config").mkdir()
    (tmp_path / "home" / "config" / "jvm.options").write_text(
        "-Xloggc:logs/gc.log\n-XX:HeapDumpPath=data\n-Djava.io.tmpdir=${ES_TMPDIR}\n"
    )
    (tmp_path / "home" / "config" / "log4j2.properties").write_text("status = error\n")
    monkeypatch.setattr("benchbook.systems.java.home", lambda: "/java")

    def make(user=None, **settings):
        made = place("elasticsearch", settings=settings)
        program = tmp_path / "home" / "bin" / "elasticsearch"
        program.touch()
        object.__setattr__(made.program, "path", program)
        monkeypatch.setattr(
            "benchbook.systems.elasticsearch.ordinary_user",
            lambda _: OrdinaryUser("tester", os.getuid(), os.getgid(), user),
        )
        return driver(made)

    return make


def test_the_configuration_is_completed_from_the_distribution(local, tmp_path):
    one = local(heap="2g", template="aggregation", **{"indices.memory.index_buffer_size": "20%"})
    shown = one.configure()
    assert shown["heap"] == "2g\n"
    assert shown["template"] == "aggregation\n"
    assert "indices.memory.index_buffer_size: 20%\n" in shown["elasticsearch.yml"]
    assert "path.data: {data}/data\n" in shown["elasticsearch.yml"]
    assert "heap" not in shown["elasticsearch.yml"]
    options = (tmp_path / "config" / "jvm.options").read_text()
    assert options == "-Xloggc:logs/gc.log\n-XX:HeapDumpPath=logs\n-Djava.io.tmpdir=scratch\n"
    assert {name: (tmp_path / "program" / name).readlink() for name in ("logs", "scratch")} == {
        "logs": tmp_path / "logs",
        "scratch": tmp_path / "data",
    }
    assert (tmp_path / "config" / "log4j2.properties").exists()
    assert one.environment()["ES_JAVA_OPTS"] == "-Xms2g -Xmx2g"


@pytest.mark.parametrize("setpriv", [None, "/usr/bin/setpriv"])
def test_it_runs_a_linked_distribution_that_is_removed_at_the_end(local, tmp_path, setpriv):
    one = local(setpriv)
    one.configure()
    linked = tmp_path / "program" / "bin" / "elasticsearch"
    assert one.command()[-1] == linked
    assert linked.samefile(tmp_path / "home" / "bin" / "elasticsearch")
    one.stop()
    assert not (tmp_path / "program").exists()
    assert (tmp_path / "home" / "bin" / "elasticsearch").exists()


def test_an_unknown_template_names_the_nearest(local):
    with pytest.raises(TrialFailed, match='template = "agregation"') as caught:
        local(template="agregation")
    assert caught.value.hint == 'Did you mean "aggregation"?'


def test_a_refresh_after_each_write_is_another_target(place):
    assert driver(place("elasticsearch", settings={"refresh": True})).target == "elasticsearch-refresh"
    assert driver(place("elasticsearch")).target == "elasticsearch"


def test_the_template_of_aggregations_stores_columns_only():
    mappings = template("aggregation")["mappings"]["doc"]
    assert mappings["_source"] == {"enabled": False}
    assert [
        kind["integers"]["mapping"]["index"] for kind in mappings["dynamic_templates"] if "integers" in kind
    ] == [False]
    assert template("default")["mappings"]["doc"]["_source"] == {"enabled": True}


def test_it_is_asked_for_its_version_and_given_its_template(external, web):
    web.answers = {
        "GET /": {"version": {"number": "6.8.23"}},
        f"GET {ALL}/_count": {"count": 0},
        "PUT /_template/benchbook": {"acknowledged": True},
    }
    assert external.version() == "6.8.23"
    external.prepare()
    assert json.loads(web.asked[-1].body) == template("default")
    web.answers[f"GET {ALL}/_count"] = {"count": 7}
    with pytest.raises(TrialFailed, match="already holds data: 7 documents"):
        external.prepare()


def test_settling_refreshes_merges_and_flushes_in_this_order(external, web):
    web.otherwise = {"acknowledged": True}
    external.settle()
    assert [f"{one.method} {one.path}" for one in web.asked] == [
        f"POST {ALL}/_refresh", f"POST {ALL}/_forcemerge", f"PUT {ALL}/_settings", f"POST {ALL}/_flush",
    ]  # fmt: skip
    assert web.asked[1].parameters == {"max_num_segments": "1"}


def test_documents_and_values_are_counted_by_aggregations(external, web):
    fields = {"@timestamp": {"type": "date"}, "user": {"type": "double"}, "host": {"type": "keyword"}}
    web.answers = {
        f"POST {ALL}/_refresh": {},
        f"GET {ALL}/_mapping": {"cpu": {"mappings": {"doc": {"properties": fields}}}},
        "POST /cpu/_search": {"hits": {"total": 12}, "aggregations": {"user": {"value": 7}}},
    }
    assert external.count() == {"cpu": TableCount(12, {"user": 7})}
    assert json.loads(web.asked[-1].body)["aggs"] == {"user": {"value_count": {"field": "user"}}}


def test_the_size_of_an_external_server_is_what_it_states(external, web):
    web.answers[f"GET {ALL}/_stats/store"] = {"_all": {"total": {"store": {"size_in_bytes": 4096}}}}
    assert external.size() == {"data": 4096}


def test_the_log_is_measured_apart(local, tmp_path):
    one = local()
    for name, size in (("nodes/0/indices/a/0/index/x", 9000), ("nodes/0/indices/a/0/translog/y", 5000)):
        file = tmp_path / "data" / "data" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000 > size["wal"] >= 5000
