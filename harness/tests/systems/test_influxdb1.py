"""The InfluxDB driver against a small HTTP server that answers like one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.influxdb1 import driver


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/ping":
            self.send_response(204)
            self.send_header("X-Influxdb-Version", "1.8.10")
            self.end_headers()
        else:
            self.reply(200, self.server.statistics)

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.asked.append(form["q"][0])
        status, result = self.server.answers.get(form["q"][0], (200, {}))
        self.reply(status, {"results": [result]} if status == 200 else result)

    def reply(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.asked, found.answers, found.statistics = [], {}, {}
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


@pytest.fixture
def remote(server, tmp_path):
    """Return the driver of a server that already runs."""
    program = Program("influxdb-1.8.10", "1.8.10", "given", url=f"http://127.0.0.1:{server.server_port}")
    return driver(Place(program, "vanilla", {}, tmp_path, tmp_path, tmp_path))


def databases(*names):
    return 200, {"series": [{"name": "databases", "columns": ["name"], "values": [[name] for name in names]}]}


def test_a_running_server_is_asked_for_its_version_and_nothing_is_started(remote):
    assert remote.configure() == {}
    remote.start()
    assert remote.ready()
    assert remote.version() == "1.8.10"
    assert remote.processes() == []


def test_the_database_keeps_old_data_and_is_dropped_at_the_end(remote, server):
    server.answers["SHOW DATABASES"] = databases("_internal")
    remote.prepare()
    assert server.asked[-1] == 'CREATE DATABASE "benchbook" WITH DURATION INF REPLICATION 1 NAME "autogen"'
    remote.stop()
    assert server.asked[-1] == 'DROP DATABASE "benchbook"'


def test_a_database_with_data_is_refused_and_never_dropped(remote, server):
    server.answers["SHOW DATABASES"] = databases("benchbook")
    server.answers["SHOW MEASUREMENTS LIMIT 1"] = databases("cpu")
    with pytest.raises(TrialFailed, match=r"already holds data.*DROP DATABASE benchbook"):
        remote.prepare()
    remote.stop()
    assert not any("CREATE" in one or "DROP" in one for one in server.asked)


def test_rows_are_the_values_of_the_fullest_field(remote, server):
    series = [
        {"name": "cpu", "columns": ["time", "count_a", "count_b"], "values": [[0, 10, 7]]},
        {"name": "mem", "columns": ["time", "count_free"], "values": [[0, 3]]},
    ]
    server.answers["SELECT COUNT(*) FROM /.*/"] = 200, {"series": series}
    assert remote.count() == {
        "cpu": TableCount(10, {"a": 10, "b": 7}, exact=False),
        "mem": TableCount(3, {"free": 3}, exact=False),
    }


def test_the_servers_own_words_come_with_a_refusal(remote, server):
    server.answers["SHOW DATABASES"] = 400, {"error": "error parsing query"}
    with pytest.raises(TrialFailed, match="refuses SHOW DATABASES: error parsing query"):
        remote.prepare()


def test_settling_waits_until_no_compaction_runs_or_waits(remote, server):
    def engine(**values):
        tags = {"database": "benchbook"}
        server.statistics = {
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


def test_a_server_that_is_not_there_is_not_ready(tmp_path):
    program = Program("influxdb-1.8.10", "1.8.10", "given", url="http://127.0.0.1:9")
    gone = driver(Place(program, "vanilla", {}, tmp_path, tmp_path, tmp_path))
    assert not gone.ready()
    with pytest.raises(TrialFailed, match="does not answer"):
        gone.version()


def test_a_busy_port_is_told_before_the_start(server, tmp_path):
    settings = {"http.bind-address": f"127.0.0.1:{server.server_port}"}
    program = tmp_path / "influxd"
    program.write_text("#!/bin/sh\nprintf '[http]\\nbind-address = \"x\"\\n'\n")
    program.chmod(0o755)
    place = Place(Program("i", "1", "given", path=Path(program)), "x", settings, tmp_path, tmp_path, tmp_path)
    busy = driver(place)
    busy.configure()
    with pytest.raises(TrialFailed, match=f"127.0.0.1:{server.server_port} cannot be listened on"):
        busy.start()
