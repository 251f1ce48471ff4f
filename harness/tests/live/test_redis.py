"""The real Redis of the distribution, through every call of its driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from own_server import declared, found, place, running_already, started, wait_until_ready

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import Place
from benchbook.systems.redis import Redis, driver

SYSTEM = declared("redis-7")


@pytest.fixture(scope="module")
def program() -> Program:
    return found(SYSTEM)


@pytest.fixture(params=["vanilla", "durable"])
def server(request: pytest.FixtureRequest, program: Program, tmp_path: Path) -> Iterator[Redis]:
    for name in ("data", "config", "logs"):
        (tmp_path / name).mkdir()
    made = driver(place(program, request.param, SYSTEM, tmp_path))
    texts = made.configure()
    assert str(tmp_path) not in texts["redis.conf"]
    with started(made, within_seconds=10) as server:
        yield server


def test_a_server_that_runs_already(server: Redis):
    """Check that the data of a trial is removed afterwards, and nothing else."""
    there = running_already(server, driver)
    there.connection().set("object", b"x")
    there.stop()
    assert server.count() == {}
    assert server.ready()


def test_the_whole_protocol(server: Redis):
    assert SYSTEM.accepts(server.version())
    server.prepare()
    assert server.count() == {}
    connection = server.connection()
    connection.set("object", b"y" * 1000)
    server.settle()
    assert server.count()["objects"].rows == 1
    assert server.size()["data"] > 0
    assert server.processes()
    with pytest.raises(TrialFailed, match="already holds data"):
        server.prepare()


def test_an_arm_may_not_set_what_the_harness_sets(program: Program, tmp_path: Path):
    with pytest.raises(TrialFailed, match='sets "dir"'):
        driver(Place(program, "x", {"dir": "/"}, tmp_path, tmp_path, tmp_path)).configure()


def test_a_setting_that_redis_does_not_know_is_told_in_its_words(program: Program, tmp_path: Path):
    made = driver(Place(program, "x", {"appendolny": True}, tmp_path, tmp_path, tmp_path))
    made.configure()
    made.start()
    try:
        with pytest.raises(TrialFailed, match="appendolny"):
            wait_until_ready(made, 10)
    finally:
        made.stop()
