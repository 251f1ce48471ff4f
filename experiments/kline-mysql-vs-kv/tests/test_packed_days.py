"""The packed-day service before Redis, with a script in place of benchload."""

import sys

import pytest

from benchbook.declare import plugin
from benchbook.errors import RequestError, TrialFailed
from benchbook.systems import kvrocks
from benchbook.systems.driver import TableCount
from tests.systems.redis_double import Connection

packed = plugin.module("kline-mysql-vs-kv", "packed_days")
driver, DayService = packed.PackedDays, packed.DayService

SERVICE = """#!/bin/sh
''''exec '{python}' "$0" "$@" # '''
import http.server, sys
address = sys.argv[sys.argv.index("--listen") + 1]
assert sys.argv[sys.argv.index("--store") + 1] == "redis://127.0.0.1:6379"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/ping" else 404)
        self.end_headers()
host, _, port = address.rpartition(":")
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""


@pytest.fixture
def benchload(tmp_path):
    def make(text=SERVICE):
        program = tmp_path / "benchload"
        program.write_text(text.format(python=sys.executable))
        program.chmod(0o755)
        return program

    return make


def test_it_is_started_before_the_store_and_stopped(place, benchload, tmp_path):
    service = DayService.wanted(place("redis", settings={"service": "go"}))
    service.start(benchload(), "redis://127.0.0.1:6379")
    assert service.url.startswith("http://127.0.0.1:")
    assert service.processes()
    service.stop()
    assert service.processes() == []
    assert list((tmp_path / "processes").iterdir()) == []


def test_an_arm_without_one_has_none(place):
    assert DayService.wanted(place("redis")) is None


def test_one_that_dies_is_told_with_its_last_words(place, benchload):
    service = DayService.wanted(place("redis", settings={"service": "go"}))
    with pytest.raises(TrialFailed, match=r"the packed-day service \(go\) exited with code 3.*no store"):
        service.start(benchload("#!/bin/sh\necho no store >&2; exit 3\n"), "redis://127.0.0.1:6379")


def test_one_that_does_not_answer_is_told(place, benchload, monkeypatch):
    monkeypatch.setattr(packed, "READY_SECONDS", 0.1)
    service = DayService.wanted(place("redis", settings={"service": "go"}))
    with pytest.raises(TrialFailed, match="did not answer within 0 s"):
        service.start(benchload("#!/bin/sh\nsleep 60\n"), "redis://127.0.0.1:6379")
    service.stop()


def test_the_service_before_it_is_no_setting_of_the_server(place):
    one = driver(place("redis-server", settings={"service": "python"}))
    shown = one.configure()
    assert shown["service"] == "python\n"
    assert "service" not in shown["redis.conf"]
    with pytest.raises(RequestError, match='Did you mean "python"'):
        driver(place("redis-server", settings={"service": "pyton"}))


def test_packed_days_are_bars(place, monkeypatch):
    days = {b"d1": bytes(28 * 3), b"d2": bytes(28 * 2)}
    one = driver(place("redis-7", "7.0", url="redis://db:6379"))
    monkeypatch.setattr(one, "_connection", Connection(keys={b"0007": days, b"a": b"x"}))
    bars = dict.fromkeys(("open", "close", "high", "low", "volume", "amount", "turn"), 5)
    assert one.count() == {"finance": TableCount(5, bars)}
    monkeypatch.setattr(one, "_connection", Connection())
    assert one.count() == {}


def test_kvrocks_is_what_it_is_elsewhere_with_packed_days(place):
    one = packed.Kvrocks(place("kvrocks", settings={"service": "go"}))
    assert one.configure().keys() == {"kvrocks.conf", "service"}
    assert type(one).version is kvrocks.Kvrocks.version
