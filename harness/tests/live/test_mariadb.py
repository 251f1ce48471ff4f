"""The real MariaDB of the distribution, through every call of its driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from own_server import declared, found, place, running_already, started

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import Place
from benchbook.systems.mariadb import MariaDB, driver

SYSTEM = declared("mariadb-10.11")


@pytest.fixture(scope="module")
def program() -> Program:
    return found(SYSTEM)


@pytest.fixture(params=["vanilla", "published"])
def server(request: pytest.FixtureRequest, program: Program, folder: Path) -> Iterator[MariaDB]:
    made = driver(place(program, request.param, SYSTEM, folder))
    texts = made.configure()
    assert str(folder) not in texts["my.cnf"]
    with started(made, within_seconds=20) as server:
        yield server


def test_a_server_that_runs_already(server: MariaDB):
    """Check that the data of a trial is removed afterwards, and nothing else."""
    there = running_already(server, driver)
    there.sql("CREATE TABLE elsewhere.t (a INT PRIMARY KEY)")
    assert there.size()["data"] > 0
    there.stop()
    assert server.sql("SHOW DATABASES LIKE 'elsewhere'") == []
    assert server.ready()


def test_the_whole_protocol(server: MariaDB):
    assert SYSTEM.accepts(server.version())
    assert all(psutil.Process(pid).uids().effective != 0 for pid in server.processes())
    server.prepare()
    assert server.count() == {}
    server.sql(
        "CREATE TABLE benchbook.finance (stock_name INT, open INT, turn INT, PRIMARY KEY (stock_name))"
    )
    server.sql("INSERT INTO benchbook.finance VALUES (1, 2, 3), (2, 3, NULL)")
    server.settle()
    counted = server.count()["finance"]
    assert (counted.rows, counted.fields) == (2, {"open": 2, "turn": 1})
    size = server.size()
    assert size["data"] > 0
    assert size["wal"] > 0
    assert server.sql("SELECT @@GLOBAL.innodb_max_dirty_pages_pct")[0][0] > 0
    with pytest.raises(TrialFailed, match="already holds data"):
        server.prepare()
    with pytest.raises(TrialFailed, match="refuses 'SELEC 1'"):
        server.sql("SELEC 1")


def test_a_setting_that_it_does_not_know_is_told_in_its_words(program: Program, folder: Path):
    settings = {"innodb_buffer_pol_size": 1}
    made = driver(Place(program, "x", settings, folder / "data", folder / "config", folder / "logs"))
    with pytest.raises(TrialFailed, match="unknown variable 'innodb_buffer_pol_size=1'"):
        made.configure()
