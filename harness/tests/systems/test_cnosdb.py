"""The CnosDB driver against a small HTTP server that imitates one, and against scripts."""

import signal
import threading
import time

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import TrialFailed
from benchbook.systems import cnosdb
from benchbook.systems.cnosdb import CnosDB20, CnosDB24, driver
from benchbook.systems.driver import SeveralDatabases, TableCount

SCRIPT = """
if [ "$1" = config ]; then printf "[cache]\\nmax_buffer_size = 1\\n"; exit; fi
trap "echo interrupted; exit 0" INT
echo started
while :; do sleep 0.05; done
"""


@pytest.fixture
def server(web):
    web.otherwise = ""
    web.answers["GET /api/v1/ping"] = {
        "version": "2.4.3, revision: abc, build_time: now",
        "status": "healthy",
    }
    return web


@pytest.fixture
def remote(server, place):
    """Return the driver of a server that already runs, with two databases."""
    return driver(place("cnosdb-2.4", "2.4", url=server.url, databases=("benchbook", "benchbook_2")))


def statements(server):
    return [one.body for one in server.asked if one.method == "POST"]


@pytest.fixture
def local(place):
    """Return a maker of drivers that start a script."""

    def make(version="2.4.3", arm="vanilla", databases=("benchbook",), **settings):
        return driver(place("cnosdb", version, SCRIPT, arm=arm, databases=databases, settings=settings))

    return make


def test_the_version_is_the_number_that_it_states(remote, server):
    assert remote.configure() == {}
    remote.start()
    assert remote.ready()
    assert remote.version() == "2.4.3"
    server.answers["GET /api/v1/ping"] = {"version": "2.0.0"}
    assert remote.version() == "2.0.0"


def test_databases_keep_old_data_and_are_dropped_at_the_end(remote, server):
    server.answers["SHOW DATABASES"] = 200, [{"database_name": "public"}, {"database_name": "usage_schema"}]
    remote.prepare()
    assert statements(server)[1:] == [
        f"CREATE DATABASE {name} WITH TTL 'INF' SHARD 1 VNODE_DURATION '365d' REPLICA 1 PRECISION 'NS'"
        for name in ("benchbook", "benchbook_2")
    ]
    assert server.asked[0].headers["Authorization"].startswith("Basic ")
    assert server.asked[0].headers["Accept"] == "application/json"
    remote.stop()
    assert statements(server)[-2:] == ["DROP DATABASE benchbook", "DROP DATABASE benchbook_2"]


def test_a_database_with_data_is_refused_and_never_dropped(remote, server):
    server.answers["SHOW DATABASES"] = 200, [{"database_name": "benchbook"}]
    server.answers["SHOW TABLES"] = 200, [{"table_name": "readings"}]
    with pytest.raises(
        TrialFailed, match=r'at http.* already holds data: the database "benchbook" .*DROP DATABASE benchbook'
    ):
        remote.prepare()
    remote.stop()
    assert not any("CREATE" in one or "DROP" in one for one in statements(server))


def test_rows_are_counted_exactly_and_values_by_field(remote, server):
    server.answers["SHOW TABLES"] = 200, [{"table_name": "readings"}]
    server.answers["DESCRIBE TABLE readings"] = (
        200,
        [
            {"column_name": "time", "data_type": "TIMESTAMP(NANOSECOND)", "column_type": "TIME"},
            {"column_name": "name", "data_type": "STRING", "column_type": "TAG"},
            {"column_name": "latitude", "data_type": "DOUBLE", "column_type": "FIELD"},
            {"column_name": "velocity", "data_type": "DOUBLE", "column_type": "FIELD"},
        ],
    )
    server.answers["SELECT exact_count"] = 200, [{"n": 12}]
    server.answers["SELECT count"] = 200, [{"latitude": 12, "velocity": 11}]
    assert isinstance(remote, SeveralDatabases)
    assert remote.count_in("benchbook_2") == {"readings": TableCount(12, {"latitude": 12, "velocity": 11})}
    assert {one.parameters["db"] for one in server.asked} == {"benchbook_2"}
    assert any("WHERE time >=" in one for one in statements(server) if "velocity" in one)


def test_an_empty_answer_is_no_rows(remote, server):
    server.answers["SHOW TABLES"] = 200, ""
    assert remote.count() == {}


def test_the_servers_own_words_come_with_a_refusal(remote, server):
    server.answers["SHOW DATABASES"] = 422, {"error_code": "010001", "error_message": "no such thing"}
    with pytest.raises(TrialFailed, match=r"refuses SHOW DATABASES \(status 422\): no such thing"):
        remote.prepare()


def test_settling_writes_every_database_out(remote, server):
    remote.settle()
    assert statements(server) == ["COMPACT DATABASE benchbook", "COMPACT DATABASE benchbook_2"]


def test_before_243_vnodes_are_written_out_one_by_one(local, tmp_path, server, monkeypatch):
    server.answers["COMPACT DATABASE"] = 422, {"error_message": "Expected VNODE, after COMPACT"}
    one = local(version="2.4.2")
    monkeypatch.setattr(one, "url", server.url)
    for vnode in ("3", "12"):
        (tmp_path / "data/db/data/cnosdb.benchbook" / vnode).mkdir(parents=True)
    one.settle()
    assert statements(server) == ["COMPACT DATABASE benchbook", "COMPACT VNODE 3 12;"]


def test_another_refusal_to_write_out_is_told(remote, server):
    server.answers["COMPACT DATABASE"] = 422, {"error_message": "disk is full"}
    with pytest.raises(TrialFailed, match="disk is full"):
        remote.settle()


def test_before_243_rows_are_counted_under_a_condition(remote, server):
    server.answers["SHOW TABLES"] = 200, [{"table_name": "readings"}]
    server.answers["DESCRIBE TABLE"] = 200, [{"column_name": "velocity", "column_type": "FIELD"}]
    server.answers["SELECT exact_count"] = 422, {"error_message": "Invalid function 'exact_count'."}
    server.answers["SELECT count"] = 200, [{"velocity": 11, "time": 12}]
    assert remote.count() == {"readings": TableCount(12, {"velocity": 11})}


def test_a_server_of_24_gets_its_ports_and_folders_and_reports_nothing(local, tmp_path):
    one = local()
    assert isinstance(one, CnosDB24)
    shown = one.configure()["cnosdb.toml"]
    written = (tmp_path / "config" / "cnosdb.toml").read_text()
    assert str(tmp_path) not in shown
    assert 'path = "{data}/wal"' in shown
    assert f'path = "{tmp_path}/data/wal"' in written
    assert "enable_report = false" in written
    assert "store_metrics = false" in written
    assert 'mode = "singleton"' in written


def test_a_server_of_20_gets_every_key_and_its_options_as_arguments(local, tmp_path):
    one = local("2.0.1", "published", **{"run.cpu": 64, "cache.max_buffer_size": 10485760})
    assert isinstance(one, CnosDB20)
    texts = one.configure()
    assert texts["arguments"] == "--cpu=64 --memory=16\n"
    written = (tmp_path / "config" / "cnosdb.toml").read_text()
    assert "reporting_disabled = true" in written
    assert "max_buffer_size = 10485760" in written
    assert "[security]" in written
    assert "run" not in written
    assert "--http-host=127.0.0.1:" in " ".join(map(str, one.command()))


def test_20_takes_several_clients_only_as_published(local, tmp_path):
    with pytest.raises(TrialFailed, match=r"only one of several databases.*clients = 1.*as-published"):
        local("2.0.1", databases=("benchbook", "benchbook_2"))
    one = local("2.0.1", "as-published", databases=("benchbook", "benchbook_2"))
    assert one.not_required == ("benchbook", "benchbook_2")


def test_24_durable_differs_from_published_in_the_sync_alone():
    arms = Catalogue().system("cnosdb-2.4").arms
    assert arms["durable"].settings == {**arms["published"].settings, "wal.sync": True}


@pytest.mark.parametrize("version", ["2.0.1", "2.4.3"])
def test_a_setting_that_it_would_ignore_is_refused(local, version):
    with pytest.raises(TrialFailed, match=r'no setting "cache.max_bufer_size".*cache.max_buffer_size'):
        local(version, **{"cache.max_bufer_size": 1}).configure()
    with pytest.raises(TrialFailed, match=r"storage\.path.*harness sets"):
        local(version, **{"storage.path": "/elsewhere"}).configure()


def test_it_is_stopped_by_an_interruption(local, tmp_path):
    one = local()
    one.configure()
    one.start()
    log = tmp_path / "logs" / "cnosdb.log"
    for _ in range(1000):  # before it has set its trap an interruption ends it without a word
        if "started" in log.read_text():
            break
        time.sleep(0.01)
    assert len(one.processes()) >= 1
    one.stop()
    assert one.processes() == []
    assert "interrupted" in log.read_text()


def test_a_server_that_died_is_told_with_its_last_words(local, tmp_path):
    one = local()
    one.configure()
    one.start()
    one._started.process.send_signal(signal.SIGKILL)
    one._started.wait_ending(5)
    with pytest.raises(TrialFailed, match="was ended by SIGKILL"):
        one.ready()
    one.stop()


def test_data_and_log_are_measured_apart(local, tmp_path):
    one = local()
    for name, size in (("db/data", 9000), ("wal", 5000)):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000
    assert 5000 <= size["wal"] < size["data"]


def test_files_that_change_are_waited_for(local, tmp_path, monkeypatch):
    monkeypatch.setattr(cnosdb, "REST_SECONDS", 0.4)
    one = local("2.0.1")
    (tmp_path / "data" / "db").mkdir()

    def merge():
        for size in range(1, 5):
            (tmp_path / "data" / "db" / "a.tsm").write_bytes(b"x" * size)
            time.sleep(0.2)

    merging = threading.Thread(target=merge)
    began = time.monotonic()
    merging.start()
    one.settle()
    assert time.monotonic() - began > 0.9
    assert one.watched_seconds == 0.4
    merging.join()


def test_files_of_an_external_server_are_not_watched(remote):
    remote.settle()
    assert remote.watched_seconds == 0.0


def test_files_that_never_rest_fail_the_trial(local, monkeypatch):
    one = local("2.0.1")
    monkeypatch.setattr(type(one), "settle_seconds", 0.3)
    with pytest.raises(TrialFailed, match="did not settle within 0 s"):
        one.settle()
