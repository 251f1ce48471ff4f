"""The real PostgreSQL 15, as Debian's package has it, on a separate cluster."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from own_server import declared, found, place, running_already, started

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import TableCount
from benchbook.systems.postgresql import PostgreSQL, driver

SYSTEM = declared("postgresql-15")


@pytest.fixture(scope="module")
def postgres() -> Program:
    """Get the pinned program."""
    return found(SYSTEM)


@pytest.fixture(params=["vanilla", "relaxed"])
def server(request: pytest.FixtureRequest, postgres: Program, folder: Path) -> Iterator[PostgreSQL]:
    """Start a server on an empty data folder and end it."""
    made = driver(place(postgres, request.param, SYSTEM, folder, databases=("benchbook", "benchbook_2")))
    (text,) = made.configure().values()
    assert str(folder) not in text
    assert "port = {port}" in text
    with started(made, within_seconds=30) as server:
        yield server


def test_a_server_that_runs_already(server: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", server.client_environment()["PGPASSWORD"])
    there = running_already(server, driver)
    there.settle()
    assert there.count() == {}
    assert there.size()["data"] > 0
    assert SYSTEM.accepts(there.version())
    there.stop()
    assert "elsewhere" not in {row[0] for row in server.psql().rows("SELECT datname FROM pg_database")}
    assert server.ready()


def test_a_whole_trial(server: PostgreSQL, folder: Path) -> None:
    assert SYSTEM.accepts(server.version())
    assert len(server.processes()) > 1
    owners = set()
    for pid in server.processes():
        with contextlib.suppress(psutil.NoSuchProcess):  # autovacuum's workers come and go
            owners.add(psutil.Process(pid).uids().effective)
    assert len(owners) == 1
    assert 0 not in owners
    server.prepare()
    server.prepare()
    assert server.count() == {}
    ask = server.psql("benchbook")
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
    expected = SYSTEM.arms[server.place.arm].settings.get("synchronous_commit", "on")
    assert ask.rows("SHOW synchronous_commit") == [[expected]]
    with pytest.raises(TrialFailed, match="contains t"):
        server.prepare()
    kept = "".join(file.read_text(errors="replace") for file in folder.glob("config/*"))
    assert server._password not in kept
    assert not (folder / "data" / "password").exists()


def test_a_killed_server_is_told_with_its_last_words(server: PostgreSQL) -> None:
    os.kill(server.processes()[0], signal.SIGKILL)
    assert server._started is not None
    server._started.wait_ending(5.0)
    with pytest.raises(TrialFailed, match="SIGKILL"):
        server.ready()


def test_nobody_enters_without_the_password(server: PostgreSQL) -> None:
    stranger = replace(server.psql(), password="wrong")
    with pytest.raises(TrialFailed, match="password authentication failed"):
        stranger.rows("SELECT 1")
