"""Redis: its configuration, and its answers, with a scripted connection."""

import pytest
import redis as library

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.redis import driver
from tests.systems.redis_double import Connection


@pytest.fixture
def external(place, monkeypatch):
    """Return the driver of a running server, with a scripted connection."""

    def make(**options):
        one = driver(place("redis-7", "7.0", url="redis://db:6379"))
        monkeypatch.setattr(one, "_connection", Connection(**options))
        return one

    return make


def test_the_configuration_has_words_for_booleans_and_quotes_for_nothing(place, tmp_path):
    one = driver(place("redis-server", settings={"appendonly": True, "save": "", "maxmemory": "2gb"}))
    shown = one.configure()["redis.conf"]
    assert shown == 'appendonly yes\nbind 127.0.0.1\ndir {data}\nmaxmemory 2gb\nport {port}\nsave ""\n'
    assert f"dir {tmp_path}/data\n" in (tmp_path / "config" / "redis.conf").read_text()
    assert one.command() == [one.program, tmp_path / "config" / "redis.conf"]


def test_what_the_harness_sets_is_refused(place):
    with pytest.raises(TrialFailed, match='sets "dir"'):
        driver(place("redis-server", settings={"dir": "/x"})).configure()


def test_it_is_ready_when_it_answers_a_ping(external):
    assert external().ready()
    assert not external(answers={"PING": library.ConnectionError("refused")}).ready()


def test_the_version_is_what_info_states(external):
    assert external(answers={"INFO server": {"redis_version": "7.0.15"}}).version() == "7.0.15"


def test_strings_are_objects(external):
    assert external(keys={b"0007": {}, b"a": b"x", b"b": b"y"}).count() == {"objects": TableCount(2)}
    assert external().count() == {}


def test_keys_are_read_in_batches(external, monkeypatch):
    monkeypatch.setattr("benchbook.systems.redis.KEYS_PER_REQUEST", 2)
    assert external(keys=dict.fromkeys([b"a", b"b", b"c"], b"x")).count() == {"objects": TableCount(3)}


def test_a_server_with_keys_is_refused_and_its_keys_stay(external):
    one = external(answers={"DBSIZE": 7})
    with pytest.raises(TrialFailed, match=r"redis-7 at redis://db:6379 already holds data") as caught:
        one.prepare()
    assert "redis-cli -u redis://db:6379 flushdb" in caught.value.hint
    asked = one._connection.asked
    one.stop()
    assert ("FLUSHDB",) not in asked


def test_keys_of_the_trial_are_removed_from_an_external_server(external):
    one = external(answers={"DBSIZE": 0})
    one.prepare()
    connection = one._connection
    one.stop()
    assert connection.asked[-1] == ("FLUSHDB",)
    assert not connection.open


def test_settling_writes_a_snapshot_and_waits_for_it(external):
    states = iter(
        [{"rdb_bgsave_in_progress": 1}, {"aof_rewrite_in_progress": 1}, {}, {"rdb_last_bgsave_status": "ok"}]
    )
    one = external(answers={"INFO persistence": states})
    one.settle()
    assert one._connection.asked[0] == ("BGSAVE", "SCHEDULE")
    assert next(states, None) is None


def test_a_snapshot_that_failed_is_told_with_the_log(external):
    one = external(answers={"INFO persistence": {"rdb_last_bgsave_status": "err"}})
    with pytest.raises(TrialFailed, match="could not write its snapshot") as caught:
        one.settle()
    assert "server.log" in caught.value.hint


def test_the_size_of_an_external_server_is_what_it_states(external):
    assert external(answers={"INFO memory": {"used_memory_dataset": "4096"}}).size() == {"data": 4096}


def test_a_refused_command_is_told(external):
    one = external(answers={"BGSAVE": library.ResponseError("MISCONF")})
    with pytest.raises(TrialFailed, match="redis-7 at redis://db:6379 refuses BGSAVE: MISCONF"):
        one.settle()


@pytest.mark.parametrize(
    "error", [RecursionError("maximum depth"), OverflowError("too large"), ValueError("int")]
)
def test_an_answer_that_the_library_cannot_parse_is_the_servers(external, error):
    one = external(answers={"DBSIZE": error})
    with pytest.raises(TrialFailed, match=f"redis://db:6379 gave an answer that is not of the form.*{error}"):
        one.prepare()


def test_an_answer_of_another_form_is_quoted(external):
    one = external(answers={"INFO": [b"loading", {}]})
    with pytest.raises(ValueError, match="dictionary update sequence") as raised:
        one.busy()
    assert one.misread(raised.value).startswith(
        "redis-7 answers INFO persistence with [b'loading', {}], which is not"
    )
