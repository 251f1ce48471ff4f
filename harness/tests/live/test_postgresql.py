"""The real PostgreSQL 15, as Debian's package has it, on a cluster of its own."""

from __future__ import annotations

import os
import signal
import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.declare.system import System
from benchbook.errors import TrialFailed, Unavailable
from benchbook.provision import Request, find
from benchbook.systems.driver import Place, TableCount
from benchbook.systems.postgresql import PostgreSQL, driver
from benchbook.systems.program import Program

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = System.model_validate(tomllib.loads((ROOT / "systems/postgresql-15.toml").read_text()))


@pytest.fixture(scope="module")
def postgres() -> Program:
    """Get the pinned program."""
    try:
        return find(SYSTEM, Request())
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["vanilla", "relaxed"])
def server(request: pytest.FixtureRequest, postgres: Program, folder: Path) -> Iterator[PostgreSQL]:
    """Start a server on an empty data folder and end it."""
    found = driver(
        Place(
            postgres, request.param, dict(SYSTEM.arms[request.param].settings),
            folder / "data", folder / "config", folder / "logs", processes=folder / "processes",
            databases=("benchbook", "benchbook_2"),
        )
    )  # fmt: skip
    (text,) = found.configure().values()
    assert str(folder) not in text
    assert "port = {port}" in text
    try:
        found.start()
        for _ in range(3000):
            if found.ready():
                break
            time.sleep(0.01)
        else:
            pytest.fail("the server did not answer in 30 s")
        yield found
    finally:
        found.stop()
    assert list((folder / "processes").iterdir()) == []


def test_a_server_that_runs_already(server: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", server.environment["PGPASSWORD"])
    given = replace(server._place.program, path=None, url=server.url)
    there = driver(replace(server._place, program=given, databases=("elsewhere",)))
    assert there.configure() == {}
    there.start()
    assert there.ready()
    assert there.processes() == []
    there.prepare()
    there.settle()
    assert there.count() == {}
    assert there.size()["data"] > 0
    assert SYSTEM.accepts(there.version())
    there.stop()
    assert "elsewhere" not in {row[0] for row in server._psql().rows("SELECT datname FROM pg_database")}
    assert server.ready()


def test_a_whole_trial(server: PostgreSQL, folder: Path) -> None:
    assert SYSTEM.accepts(server.version())
    assert len(server.processes()) > 1
    assert all(Path(f"/proc/{pid}").stat().st_uid != 0 for pid in server.processes())
    server.prepare()
    server.prepare()
    assert server.count() == {}
    ask = server._psql("benchbook")
    ask.rows("CREATE TABLE t (a int, b bytea)")
    ask.rows(
        "INSERT INTO t SELECT g, CASE WHEN g % 2 = 0 THEN 'x'::bytea END FROM generate_series(1, 1000) g"
    )
    assert server.count() == {"t": TableCount(1000, {"a": 1000, "b": 500})}
    assert server.count_in("benchbook_2") == {}
    server.settle()
    size = server.size()
    assert size["data"] > 0
    assert size["wal"] > 0
    expected = SYSTEM.arms[server._place.arm].settings.get("synchronous_commit", "on")
    assert ask.rows("SHOW synchronous_commit") == [[expected]]
    with pytest.raises(TrialFailed, match="already holds the tables t"):
        server.prepare()
    kept = "".join(file.read_text(errors="replace") for file in folder.glob("config/*"))
    assert server._password not in kept
    assert not (folder / "data" / "password").exists()


def test_a_killed_server_is_told_with_its_last_words(server: PostgreSQL) -> None:
    os.kill(server.processes()[0], signal.SIGKILL)
    assert server._running is not None
    server._running.wait_ending(5.0)
    with pytest.raises(TrialFailed, match="SIGKILL"):
        server.ready()


def test_nobody_enters_without_the_password(server: PostgreSQL) -> None:
    stranger = server._psql().__class__(
        server._program("psql"), "127.0.0.1", server._port, "benchbook", "wrong", "postgres"
    )
    with pytest.raises(TrialFailed, match="password authentication failed"):
        stranger.rows("SELECT 1")
