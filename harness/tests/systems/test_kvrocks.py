"""Kvrocks: what differs from Redis."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.kvrocks import driver
from tests.systems.redis_double import Connection


@pytest.fixture
def external(place, monkeypatch):
    def make(**options):
        one = driver(place("kvrocks-2.8.0", "2.8.0", url="redis://db:6666"))
        monkeypatch.setattr(one, "_connection", Connection(**options))
        return one

    return make


def test_it_logs_to_its_output_and_stays_in_the_foreground(place, tmp_path):
    one = driver(place("kvrocks", settings={"rocksdb.compression": "zstd"}))
    assert one.configure()["kvrocks.conf"] == (
        "bind 127.0.0.1\ndaemonize no\ndir {data}\nlog-dir stdout\nport {port}\nrocksdb.compression zstd\n"
    )
    assert one.command() == [one.program, "-c", tmp_path / "config" / "kvrocks.conf"]
    with pytest.raises(TrialFailed, match='sets "log-dir"'):
        driver(place("kvrocks", settings={"log-dir": "/x"})).configure()


def test_the_version_is_its_own_and_not_that_of_redis(external):
    stated = {"redis_version": "7.0.0", "kvrocks_version": "2.8.0"}
    assert external(answers={"INFO server": stated}).version() == "2.8.0"


def test_keys_are_looked_for_by_a_scan(external):
    external().prepare()
    with pytest.raises(TrialFailed, match="already holds data"):
        external(answers={"DBSIZE": 0}, keys={b"a": b"x"}).prepare()


def test_settling_waits_for_flushes_and_compactions(external):
    states = iter(
        [{"num_running_compactions[default]": 1, "x": 9}, {"is_compacting": "yes"}, {"is_compacting": "no"}]
    )
    one = external(answers={"INFO rocksdb": states, "INFO keyspace": {}, "INFO persistence": {}})
    one.settle()
    assert one._connection.asked[0] == ("COMPACT",)
    assert next(states, None) is None
