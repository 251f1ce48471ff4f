"""DuckDB and SQLite with benchload's stream, in every declared arm: the same rows, the same answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.system import System
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.systems.driver import DatasetRequest, LoadRequest, Place, QueryRequest, TableCount, driver
from benchbook.systems.python_worker import EmbeddedDriver

ROOT = Path(__file__).resolve().parents[3]
DATASET = (
    "--seed", "1", "--scale", "8", "--start", "2016-01-01T00:00:00Z",
    "--end", "2016-01-01T02:00:00Z", "--interval", "10s",
)  # fmt: skip
ROWS = 720 * 8
TYPES = "1-host-1-hr,8-host-1-hr,groupby"
SYSTEMS = {
    name: System.model_validate(tomllib.loads((ROOT / f"systems/{name}.toml").read_text()))
    for name in ("duckdb", "sqlite")
}
ARMS = [(name, arm) for name, system in SYSTEMS.items() for arm in system.arms]


@pytest.fixture(scope="module")
def benchload() -> Path:
    found = os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not found:
        pytest.skip("benchload is not built: BENCHBOOK_BENCHLOAD names no file and it is not on PATH")
    return Path(found)


@pytest.fixture(scope="module")
def queries(benchload: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    wanted = ("--query-seed", "7", "--types", TYPES, "--count", "5")
    command = [str(benchload), "queries", "devops", *DATASET, *wanted]
    file = tmp_path_factory.mktemp("queries") / "queries.jsonl"
    file.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    return file


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[EmbeddedDriver] = []

    def one(name: str, arm: str) -> EmbeddedDriver:
        system, base = SYSTEMS[name], tmp_path / f"{name}-{arm}"
        for folder in ("data", "config", "logs"):
            (base / folder).mkdir(parents=True)
        place = Place(
            find(system, Request()), arm, dict(system.arms[arm].settings),
            base / "data", base / "config", base / "logs", processes=base / "processes",
        )  # fmt: skip
        found = driver(system.driver, place)
        assert isinstance(found, EmbeddedDriver)
        made.append(found)
        found.configure()
        found.start()
        assert found.ready()
        assert system.accepts(found.version())
        return found

    yield one
    for found in made:
        found.stop()


def test_every_arm_holds_the_same_rows_and_gives_the_same_answers(
    make: Any, benchload: Path, queries: Path
) -> None:
    answers: dict[tuple[str, str], dict[tuple[str, int], Any]] = {}
    counts: list[dict[str, TableCount]] = []
    for name, arm in ARMS:
        system = make(name, arm)
        system.prepare()
        client = system.client(benchload)
        events = list(client.load(LoadRequest(DatasetRequest("devops", DATASET, {}), 1, 2000)))
        summary = events[-1]
        assert (summary["rows"], summary["values"], summary["errors"]) == (ROWS * 9, ROWS * 101, 0)
        system.settle()
        size = system.size()
        assert size["data"] > 100_000
        assert size["other"] == 0
        counts.append(system.count())
        assert list(client.query(QueryRequest(queries, warmup=3)))[-1]["operations"] == 15
        found = [one for one in client.query(QueryRequest(queries, answers=5)) if one["type"] == "answer"]
        answers[name, arm] = {(one["query_type"], one["id"]): one["rows"] for one in found}
        system.stop()
    assert counts[0]["cpu"].rows == ROWS
    assert sum(len(one.fields) for one in counts[0].values()) == 101
    assert all(one == counts[0] for one in counts)
    first = answers[ARMS[0]]
    assert len(first) == 15
    assert all(first.values())
    assert all(one == first for one in answers.values())


def test_the_events_have_the_fields_of_benchloads(make: Any, benchload: Path, queries: Path) -> None:
    system = make("sqlite", "vanilla")
    request = LoadRequest(DatasetRequest("devops", DATASET, {}), 1, 5000)
    ours = [
        *system.client(benchload).load(request),
        *system.client(benchload).query(QueryRequest(queries, warmup=1)),
    ]
    import json

    command = [str(benchload), "load", "devops", *DATASET, "--target", "null", "--workers", "1"]
    theirs = [
        json.loads(line)
        for line in subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
    ]
    for kind in ("interval", "histogram", "summary"):
        wanted = next(set(one) for one in theirs if one["type"] == kind)
        for one in ours:
            if one["type"] == kind:
                assert set(one) == wanted
    start = next(one for one in theirs if one["type"] == "start")
    assert set(start) - {"gzip"} == set(ours[0])
