"""Calls of libraries, and servers behind them, end at a limit of the whole call."""

import socket
import threading

import pytest

from benchbook.errors import TrialFailed
from benchbook.process import wait
from benchbook.storage import s3
from benchbook.systems import mysql, python_worker, redis

HELLO = b"\x4a\x00\x00\x00\x0a5.7"
"""The begin of MySQL's first packet."""


@pytest.fixture
def dripping():
    """The port of a server that sends ``begin`` and then a byte from time to time, until the test ends."""
    over, begin = threading.Event(), [b""]
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip(connection):
            with connection:
                try:
                    connection.sendall(begin[0])
                    while not over.wait(0.02):
                        connection.sendall(b"1")
                except OSError:
                    return

        def serve():
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                threading.Thread(target=drip, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

        def start(text):
            begin[0] = text
            return listening.getsockname()[1]

        yield start
        over.set()


def test_a_call_returns_its_result_or_raises_its_error():
    assert wait.within(5.0, lambda: 7) == 7
    with pytest.raises(KeyError):
        wait.within(5.0, lambda: {}["x"])


def test_a_call_that_takes_too_long_is_given_up():
    ended = threading.Event()
    with pytest.raises(TimeoutError, match=r"no complete answer within 0\.1 s"):
        wait.within(0.1, lambda: ended.wait(60), ended.set)
    assert ended.is_set()


def test_a_block_that_takes_too_long_is_ended_from_outside():
    ended = threading.Event()
    with wait.limited(0.1, ended.set) as over:
        assert ended.wait(60)
    assert over.is_set()
    with wait.limited(60.0, ended.set) as over:
        pass
    assert not over.is_set()


def test_a_redis_that_drips_fails_in_a_sentence(dripping, place, monkeypatch):
    monkeypatch.setattr(redis, "PROBE_SECONDS", 0.2)
    one = redis.Redis(place("redis", url=f"redis://127.0.0.1:{dripping(b'+PO')}"))
    assert not one.answers()
    with pytest.raises(TrialFailed, match=r"gave no complete answer within 0\.2 s"):
        one.within(lambda: one.connection().execute_command("DBSIZE"), 0.2)


def test_a_mysql_that_drips_fails_in_a_sentence(dripping, place, monkeypatch):
    for limit in ("PROBE_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(mysql, limit, 0.2)
    one = mysql.MySQL(place("mysql", url=f"mysql://127.0.0.1:{dripping(HELLO)}"))
    assert not one.answers()
    with pytest.raises(TrialFailed, match=r"refuses 'SELECT VERSION\(\)': no complete answer within 0\.2 s"):
        one.version()


def test_an_object_store_that_drips_fails_in_a_sentence(dripping):
    port = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    with pytest.raises(TrialFailed, match=r"refuses to list its buckets: no complete answer within 0\.3 s"):
        s3.S3(f"http://127.0.0.1:{port}", "key", "secret").buckets(0.3)


def test_a_worker_that_does_not_reply_is_ended(place, monkeypatch):
    """An engine that waits for a server which sends nothing: Oracle's library has no limit."""
    monkeypatch.setattr(python_worker.PythonWorker, "ask_seconds", 0.3)
    one = python_worker.PythonWorker(place("oracle"), "worker", "Oracle")
    one.start()
    monkeypatch.setattr(one.worker.process, "stdin", open("/dev/null", "wb"))  # noqa: PTH123, SIM115
    with pytest.raises(TrialFailed, match=r"Oracle did not settle within 0\.3 s"):
        one.ask("settle")
    one.worker.wait_ending(10.0)
    assert one.worker.ending() == "was ended by SIGKILL"
    one.worker.stop()
