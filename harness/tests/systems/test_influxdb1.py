"""The InfluxDB driver against a small HTTP server that imitates one."""

import threading
import tomllib

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.influxdb1 import driver
from benchbook.systems.server import Layout, sections_text

CONFIG = 'printf \'[data]\\nwal-fsync-delay = "0s"\\n[http]\\nbind-address = "x"\\n\''
"""A server that prints the settings that it knows."""


@pytest.fixture
def server(web):
    web.answers["GET /ping"] = 204, "", {"X-Influxdb-Version": "1.8.10"}
    web.otherwise = {"results": [{}]}
    return web


@pytest.fixture
def remote(server, place):
    """Return the driver of a server that already runs."""
    return driver(place("influxdb-1.8.10", "1.8.10", url=server.url))


def databases(*names):
    series = {"name": "databases", "columns": ["name"], "values": [[name] for name in names]}
    return {"results": [{"series": [series]}]}


def test_a_running_server_is_asked_for_its_version_and_nothing_is_started(remote):
    assert remote.configure() == {}
    remote.start()
    assert remote.ready()
    assert remote.version() == "1.8.10"
    assert remote.processes() == []


def test_the_database_keeps_old_data_and_is_dropped_at_the_end(remote, server):
    server.answers["SHOW DATABASES"] = databases("_internal")
    remote.prepare()
    assert (
        server.statements[-1] == 'CREATE DATABASE "benchbook" WITH DURATION INF REPLICATION 1 NAME "autogen"'
    )
    remote.stop()
    assert server.statements[-1] == 'DROP DATABASE "benchbook"'


def test_a_database_with_data_is_refused_and_never_dropped(remote, server):
    server.answers["SHOW DATABASES"] = databases("benchbook")
    server.answers["SHOW MEASUREMENTS LIMIT 1"] = databases("cpu")
    with pytest.raises(TrialFailed, match=r"already holds data.*DROP DATABASE benchbook"):
        remote.prepare()
    remote.stop()
    assert not any("CREATE" in one or "DROP" in one for one in server.statements)


def test_rows_are_the_values_of_the_fullest_field(remote, server):
    series = [
        {"name": "cpu", "columns": ["time", "count_a", "count_b"], "values": [[0, 10, 7]]},
        {"name": "mem", "columns": ["time", "count_free"], "values": [[0, 3]]},
    ]
    server.answers["SELECT COUNT(*) FROM /.*/"] = {"results": [{"series": series}]}
    assert remote.count() == {
        "cpu": TableCount(10, {"a": 10, "b": 7}, exact=False),
        "mem": TableCount(3, {"free": 3}, exact=False),
    }


def test_the_servers_own_words_come_with_a_refusal(remote, server):
    server.answers["SHOW DATABASES"] = 400, {"error": "error parsing query"}
    with pytest.raises(TrialFailed, match=r"refuses SHOW DATABASES \(status 400\): error parsing query"):
        remote.prepare()


def test_settling_waits_until_no_compaction_runs_or_waits(remote, server):
    def engine(**values):
        tags = {"database": "benchbook"}
        server.answers["GET /debug/vars"] = {
            "runtime": {"name": "runtime", "tags": None, "values": {}},
            "tsm1_engine:1": {"name": "tsm1_engine", "tags": tags, "values": values},
        }

    engine(tsmLevel1CompactionsActive=1)
    settled = threading.Thread(target=remote.settle)
    settled.start()
    settled.join(1.5)
    assert settled.is_alive()
    engine(tsmLevel1CompactionsActive=0)
    settled.join(5)
    assert not settled.is_alive()
    assert remote.watched_seconds > 1.0


def test_a_server_that_is_not_there_is_not_ready(place):
    gone = driver(place("influxdb-1.8.10", "1.8.10", url="http://127.0.0.1:9"))
    assert not gone.ready()
    with pytest.raises(TrialFailed, match="did not answer"):
        gone.version()


def test_an_error_inside_an_answer_is_a_refusal(remote, server):
    server.answers["SHOW DATABASES"] = {"results": [{"error": "timeout"}]}
    with pytest.raises(TrialFailed, match="refuses SHOW DATABASES: timeout"):
        remote.prepare()


def test_a_busy_port_is_told_before_the_start(server, place):
    settings = {"http.bind-address": f"127.0.0.1:{server.port}"}
    busy = driver(place("influxd", script=CONFIG, settings=settings))
    busy.configure()
    with pytest.raises(TrialFailed, match=f"Cannot listen on 127.0.0.1:{server.port}"):
        busy.start()


def test_an_address_of_every_interface_is_reached_on_loopback(place):
    one = driver(place("influxd", script=CONFIG, settings={"http.bind-address": ":18086"}))
    one.configure()
    assert one.url == "http://127.0.0.1:18086"


def test_the_configuration_is_toml_with_the_arms_settings_in_their_sections(place):
    arm = {"data.wal-fsync-delay": "100ms", "http.log-enabled": False, "data.cache-max-memory-size": 7}
    ports = {"http": "1", "rpc": "2"}
    text = driver(place("influxd", settings=arm)).files(
        Layout('/a "quoted" folder', "c", "l", "127.0.0.1", ports)
    )
    assert tomllib.loads(text["influxdb.conf"]) == {
        "reporting-disabled": True,
        "bind-address": "127.0.0.1:2",
        "http": {"bind-address": "127.0.0.1:1", "log-enabled": False},
        "meta": {"dir": '/a "quoted" folder/meta'},
        "data": {
            "dir": '/a "quoted" folder/data',
            "wal-dir": '/a "quoted" folder/wal',
            "wal-fsync-delay": "100ms",
            "cache-max-memory-size": 7,
        },
    }


def test_what_is_returned_has_placeholders_and_the_file_has_the_trials_own(place, tmp_path):
    one = driver(place("influxd", script=CONFIG))
    shown = one.configure()["influxdb.conf"]
    assert 'bind-address = "{http}"' in shown
    assert 'dir = "{data}/data"' in shown
    written = (tmp_path / "config" / "influxdb.conf").read_text()
    assert f'dir = "{tmp_path}/data/data"' in written
    assert f'bind-address = "{one.url.removeprefix("http://")}"' in written


def test_the_text_does_not_depend_on_the_order_of_settings():
    assert sections_text({"a.x": 1, "b": 2}) == sections_text({"b": 2, "a.x": 1})


def test_an_arm_may_not_move_the_data(place):
    with pytest.raises(TrialFailed, match=r"data\.dir"):
        driver(place("influxd", settings={"data.dir": "/elsewhere"})).configure()


def test_a_setting_that_the_server_does_not_know_names_the_nearest(place):
    driver(place("influxd", script=CONFIG, settings={"data.wal-fsync-delay": "1s"})).configure()
    with pytest.raises(
        TrialFailed, match=r'no setting "data\.wal-fsync-dealy"\. Did you mean "data\.wal-fsync-delay"'
    ):
        driver(place("influxd", script=CONFIG, settings={"data.wal-fsync-dealy": "1s"})).configure()
