"""The CnosDB driver against a small HTTP server that answers like one, and a program that is none."""

import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.cnosdb import CnosDB20, CnosDB24, driver
from benchbook.systems.driver import Place, SeveralDatabases, TableCount


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(200, json.dumps({"version": self.server.states, "status": "healthy"}))

    def do_POST(self):
        database = parse_qs(urlsplit(self.path).query)["db"][0]
        statement = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.headers.append(dict(self.headers))
        self.server.asked.append((database, statement))
        for begin, (status, content) in self.server.answers.items():
            if statement.startswith(begin):
                return self.reply(status, content if isinstance(content, str) else json.dumps(content))
        return self.reply(200, "")

    def reply(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.asked, found.headers, found.answers, found.states = (
        [],
        [],
        {},
        "2.4.3, revision: abc, build_time: now",
    )
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def remote(server, tmp_path):
    """Return the driver of a server that already runs, with two databases."""
    program = Program("cnosdb-2.4", "2.4", "given", url=f"http://127.0.0.1:{server.server_port}")
    return driver(
        Place(program, "vanilla", {}, tmp_path, tmp_path, tmp_path, databases=("benchbook", "benchbook_2"))
    )


def statements(server):
    return [statement for _, statement in server.asked]


def local(tmp_path, version="2.4.3", arm="vanilla", databases=("benchbook",), **settings):
    program = tmp_path / "cnosdb"
    program.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = config ]; then printf "[cache]\\nmax_buffer_size = 1\\n"; exit; fi\n'
        'trap "echo interrupted; exit 0" INT\n'
        "echo started\n"
        "while :; do sleep 0.05; done\n"
    )
    program.chmod(0o755)
    for name in ("data", "config", "logs"):
        (tmp_path / name).mkdir(exist_ok=True)
    return driver(
        Place(
            Program("cnosdb", version, "given", path=program), arm, settings,
            tmp_path / "data", tmp_path / "config", tmp_path / "logs", databases=databases,
        )
    )  # fmt: skip


def test_the_version_is_the_number_that_it_states(remote, server):
    assert remote.configure() == {}
    remote.start()
    assert remote.ready()
    assert remote.version() == "2.4.3"
    server.states = "2.0.0"
    assert remote.version() == "2.0.0"


def test_databases_keep_old_data_and_are_dropped_at_the_end(remote, server):
    server.answers["SHOW DATABASES"] = 200, [{"database_name": "public"}, {"database_name": "usage_schema"}]
    remote.prepare()
    assert statements(server)[1:] == [
        f"CREATE DATABASE {name} WITH TTL 'INF' SHARD 1 VNODE_DURATION '365d' REPLICA 1 PRECISION 'NS'"
        for name in ("benchbook", "benchbook_2")
    ]
    assert server.headers[0]["Authorization"].startswith("Basic ")
    assert server.headers[0]["Accept"] == "application/json"
    remote.stop()
    assert statements(server)[-2:] == ["DROP DATABASE benchbook", "DROP DATABASE benchbook_2"]


def test_a_database_with_data_is_refused_and_never_dropped(remote, server):
    server.answers["SHOW DATABASES"] = 200, [{"database_name": "benchbook"}]
    server.answers["SHOW TABLES"] = 200, [{"table_name": "readings"}]
    with pytest.raises(
        TrialFailed, match=r'"benchbook" of http.* already holds data.*DROP DATABASE benchbook'
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
    assert {database for database, _ in server.asked} == {"benchbook_2"}
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


def test_before_243_vnodes_are_written_out_one_by_one(tmp_path, server, monkeypatch):
    server.answers["COMPACT DATABASE"] = 422, {"error_message": "Expected VNODE, after COMPACT"}
    one = local(tmp_path, version="2.4.2")
    monkeypatch.setattr(one, "_url", f"http://127.0.0.1:{server.server_port}")
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


def test_a_server_of_24_gets_its_ports_and_folders_and_reports_nothing(tmp_path):
    one = local(tmp_path)
    assert isinstance(one, CnosDB24)
    shown = one.configure()["cnosdb.toml"]
    written = (tmp_path / "config" / "cnosdb.toml").read_text()
    assert str(tmp_path) not in shown
    assert 'path = "{data}/wal"' in shown
    assert f'path = "{tmp_path}/data/wal"' in written
    assert "enable_report = false" in written
    assert "store_metrics = false" in written
    assert 'mode = "singleton"' in written


def test_a_server_of_20_gets_every_key_and_its_options_as_arguments(tmp_path):
    one = local(tmp_path, "2.0.1", "published", **{"run.cpu": 64, "cache.max_buffer_size": 10485760})
    assert isinstance(one, CnosDB20)
    texts = one.configure()
    assert texts["arguments"] == "--cpu=64 --memory=16\n"
    written = (tmp_path / "config" / "cnosdb.toml").read_text()
    assert "reporting_disabled = true" in written
    assert "max_buffer_size = 10485760" in written
    assert "[security]" in written
    assert "run" not in written
    assert "--http-host=127.0.0.1:" in " ".join(map(str, one._command))


def test_20_takes_several_clients_only_as_published(tmp_path):
    with pytest.raises(TrialFailed, match=r"only one of several databases.*clients = 1.*as-published"):
        local(tmp_path, "2.0.1", databases=("benchbook", "benchbook_2"))
    one = local(tmp_path, "2.0.1", "as-published", databases=("benchbook", "benchbook_2"))
    assert one.not_required == ("benchbook", "benchbook_2")


@pytest.mark.parametrize("version", ["2.0.1", "2.4.3"])
def test_a_setting_that_it_would_ignore_is_refused(tmp_path, version):
    with pytest.raises(TrialFailed, match=r'no setting "cache.max_bufer_size".*cache.max_buffer_size'):
        local(tmp_path, version, **{"cache.max_bufer_size": 1}).configure()
    with pytest.raises(TrialFailed, match=r"storage\.path.*harness sets"):
        local(tmp_path, version, **{"storage.path": "/elsewhere"}).configure()


def test_it_is_stopped_by_an_interruption(tmp_path):
    one = local(tmp_path)
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


def test_a_server_that_died_is_told_with_its_last_words(tmp_path):
    one = local(tmp_path)
    one.configure()
    one.start()
    one._running.process.send_signal(signal.SIGKILL)
    one._running.wait_ending(5)
    with pytest.raises(TrialFailed, match="was ended by SIGKILL"):
        one.ready()
    one.stop()


def test_data_and_log_are_measured_apart(tmp_path):
    one = local(tmp_path)
    for name, size in (("db/data", 9000), ("wal", 5000)):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000
    assert 5000 <= size["wal"] < size["data"]
