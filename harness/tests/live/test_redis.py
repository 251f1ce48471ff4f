"""The real Redis of the distribution, through every call of its driver."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.declare.system import System
from benchbook.errors import TrialFailed, Unavailable
from benchbook.provision import Request, find
from benchbook.systems.driver import Place
from benchbook.systems.program import Program
from benchbook.systems.redis import Redis, driver
from benchbook.systems.redis_layout import BAR_BYTES

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = System.model_validate(tomllib.loads((ROOT / "systems/redis-7.toml").read_text()))


@pytest.fixture(scope="module")
def program() -> Program:
    try:
        return find(SYSTEM, Request())
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["vanilla", "durable"])
def server(request: pytest.FixtureRequest, program: Program, tmp_path: Path) -> Iterator[Redis]:
    for name in ("data", "config", "logs"):
        (tmp_path / name).mkdir()
    found = driver(
        Place(
            program, request.param, dict(SYSTEM.arms[request.param].settings),
            tmp_path / "data", tmp_path / "config", tmp_path / "logs", processes=tmp_path / "processes",
        )
    )  # fmt: skip
    texts = found.configure()
    assert str(tmp_path) not in texts["redis.conf"]
    found.start()
    _wait_until_ready(found)
    yield found
    found.stop()
    assert list((tmp_path / "processes").iterdir()) == []


def test_a_server_that_runs_already(server: Redis):
    """What a trial put into it is gone afterwards, and nothing else."""
    given = replace(server._place.program, path=None, url=server.url)
    there = driver(replace(server._place, program=given, databases=("elsewhere",)))
    assert there.configure() == {}
    there.start()
    assert there.ready()
    assert there.processes() == []
    there.prepare()
    there.connection().set("object", b"x")
    there.stop()
    assert server.count() == {}
    assert server.ready()


def test_the_whole_protocol(server: Redis):
    assert SYSTEM.accepts(server.version())
    server.prepare()
    assert server.count() == {}
    connection = server.connection()
    connection.hset("0000", "000001_20200101", b"x" * 240 * BAR_BYTES)
    connection.set("object", b"y" * 1000)
    server.settle()
    counted = server.count()
    assert counted["finance"].rows == 240
    assert set(counted["finance"].fields.values()) == {240}
    assert counted["objects"].rows == 1
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
            _wait_until_ready(made)
    finally:
        made.stop()


def _wait_until_ready(server: Redis) -> None:
    for _ in range(1000):
        if server.ready():
            return
        time.sleep(0.01)
    pytest.fail("the server did not answer in 10 s")
