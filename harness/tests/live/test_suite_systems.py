"""The real systems of the experiment devops-suite, each loaded, settled, measured, counted and asked.

The ones that start in seconds are for every machine; those of the Java virtual machine take a minute each and run
nightly.
"""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from bench import need_benchload

from benchbook.declare.system import System
from benchbook.errors import TrialFailed, Unavailable
from benchbook.process.spawn import find_benchload
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.systems import java
from benchbook.systems.driver import DatasetRequest, LoadRequest, Place, QueryRequest

ROOT = Path(__file__).resolve().parents[3]
STANDIN = Path(__file__).parent / "standin"
"""A server in memory that speaks MongoDB's protocol. It tests the target; nothing is ever measured of it."""
FLAGS = (
    "--seed=1",
    "--scale=8",
    "--start=2016-01-01T00:00:00Z",
    "--end=2016-01-01T02:00:00Z",
    "--interval=60s",
)
TAGS = {
    "time", "hostname", "region", "datacenter", "rack", "os", "arch", "team", "service", "service_version",
    "service_environment", "path", "fstype", "serial", "interface", "port", "server",
}  # fmt: skip
"""Columns that are no fields, which some systems count too."""
ROWS, VALUES = 8 * 120, 8 * 120 * 101
CHEAP = ["victoriametrics-1.79", "questdb-9.3.4", "clickhouse-18.16", "postgresql-15", "mongodb-7.0"]
SLOW = ["elasticsearch-6.8.23", "cassandra-5.0.9", "opentsdb-2.4.1"]


def cases():
    for name in [*CHEAP, *SLOW]:
        for arm in ["vanilla", *(["aggregation", "refresh"] if name.startswith("elastic") else [])]:
            yield pytest.param(
                name, arm, marks=[pytest.mark.nightly] if name in SLOW else [], id=f"{name}-{arm}"
            )


def answers(client, queries: Path) -> list[tuple]:
    found = [e for e in client.query(QueryRequest(queries, answers=20)) if e["type"] == "answer"]
    assert len(found) == 12
    return [(e["id"], len(e["rows"]), [row[:2] for row in e["rows"]]) for e in found]


def through_every_call(driver, client, benchload: Path, folder: Path) -> None:
    """Load an empty server, settle it, count all that was sent, ask it, and be refused as it holds data."""
    driver.prepare()
    load = LoadRequest(DatasetRequest("devops", FLAGS, {}), workers=2, batch_rows=500, timeout_seconds=120)
    summary = next(event for event in client.load(load) if event["type"] == "summary")
    assert (summary["rows"], summary["values"]) == (9 * ROWS, VALUES)
    driver.settle()
    counted = driver.count()
    assert sorted(counted) == sorted(
        ["cpu", "diskio", "disk", "kernel", "mem", "net", "nginx", "postgresl", "redis"]
    )
    assert {one.rows for one in counted.values()} == {ROWS}
    assert counted["cpu"].fields["usage_user"] == ROWS
    values = [n for one in counted.values() for name, n in one.fields.items() if name not in TAGS]
    assert sum(values) == VALUES
    queries = folder / "queries"
    made = subprocess.run(
        [benchload, "queries", "devops", *FLAGS, "--query-seed=1", "--count=3",
         "--types=1-host-1-hr,8-host-1-hr,groupby,groupby-max"],
        capture_output=True, check=True,
    )  # fmt: skip
    queries.write_bytes(made.stdout)
    for _, rows, keys in answers(client, queries):
        assert rows > 0
        assert rows == len({tuple(key) for key in keys})
    with pytest.raises(TrialFailed, match="already holds"):
        driver.prepare()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "arm"), list(cases()))
def test_the_whole_protocol(name: str, arm: str, folder: Path):
    need_benchload()
    system = System.model_validate(tomllib.loads((ROOT / f"systems/{name}.toml").read_text()))
    try:
        program = find(system, Request())
    except Unavailable as reason:
        pytest.skip(str(reason))
    benchload = find_benchload()
    settings = {key: value for key, value in system.arms[arm].settings.items() if key != "heap"}
    place = Place(
        program,
        arm,
        settings,
        folder / "data",
        folder / "config",
        folder / "logs",
        processes=folder / "processes",
    )
    driver = importlib.import_module(f"benchbook.systems.{system.driver}").driver(place)
    client = driver.client(benchload)
    try:
        texts = driver.configure()
        assert not any(str(folder) in text for text in texts.values())
        driver.start()
        deadline = time.monotonic() + 400
        while not driver.ready():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert system.accepts(driver.version())
        through_every_call(driver, client, benchload, folder)
        assert driver.size()["data"] > 0
        assert driver.processes()
    finally:
        driver.stop()
    assert list((folder / "processes").iterdir()) == []


@pytest.mark.nightly
def test_the_protocol_of_mongodb_against_a_stand_in(folder: Path):
    need_benchload()
    declared = System.model_validate(tomllib.loads((ROOT / "systems/mongodb-7.0.toml").read_text()))
    standin = System.model_validate(tomllib.loads((STANDIN / "mongo-java-server.toml").read_text()))
    try:
        program = find(standin, Request())
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert program.path is not None
    benchload = find_benchload()
    command = [java.program(), "-cp", java.classpath(java.jars(program.path)), STANDIN / "MongoStandIn.java"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url = f"mongodb://127.0.0.1:{int(server.stdout.readline())}"
            elsewhere = dataclasses.replace(program, source="url", path=None, url=url)
            place = Place(elsewhere, "vanilla", {}, folder / "data", folder / "config", folder / "logs")
            driver = importlib.import_module("benchbook.systems.mongodb").driver(place)
            client = driver.client(benchload)
            assert driver.ready()
            assert not declared.accepts(driver.version())  # so that no run takes it for MongoDB
            through_every_call(driver, client, benchload, folder)
        finally:
            server.stdin.close()
