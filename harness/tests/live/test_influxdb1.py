"""The real InfluxDB 1.8.10, as the harness gets it itself."""

from __future__ import annotations

import os
import shutil
import signal
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built import go_request

from benchbook.declare.system import System
from benchbook.errors import TrialFailed, Unavailable
from benchbook.process.launch import Program
from benchbook.provision.find import find
from benchbook.systems.driver import DatasetRequest, LoadRequest, Place, QueryRequest, TableCount
from benchbook.systems.influxdb1 import InfluxDB1, driver

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = System.model_validate(tomllib.loads((ROOT / "systems/influxdb-1.8.10.toml").read_text()))
LINES = "".join(
    f"cpu,hostname=host_{host} usage_user={tick}.5,usage_system={tick}i {1451606400 + tick}000000000\n"
    for tick in range(2000)
    for host in range(3)
)
DATASET = (
    "--seed", "1", "--scale", "2", "--start", "2016-01-01T00:00:00Z",
    "--end", "2016-01-01T00:10:00Z", "--interval", "10s",
)  # fmt: skip


@pytest.fixture(scope="module")
def influxd() -> Program:
    """Get the pinned program: from the cache, or built from its Go module when there is Go."""
    try:
        return find(SYSTEM, go_request())
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["vanilla", "tuned"])
def server(request: pytest.FixtureRequest, influxd: Program, tmp_path: Path) -> Iterator[InfluxDB1]:
    """Start a server with an empty data folder and end it."""
    for name in ("data", "config", "logs"):
        (tmp_path / name).mkdir()
    found = driver(
        Place(
            influxd, request.param, dict(SYSTEM.arms[request.param].settings),
            tmp_path / "data", tmp_path / "config", tmp_path / "logs", processes=tmp_path / "processes",
        )
    )  # fmt: skip
    texts = found.configure()
    assert str(tmp_path) not in texts["influxdb.conf"]
    found.start()
    _wait(found)
    yield found
    found.stop()
    assert list((tmp_path / "processes").iterdir()) == []


def _wait(server: InfluxDB1) -> None:
    import time

    for _ in range(1000):
        if server.ready():
            return
        time.sleep(0.01)
    pytest.fail("the server did not answer in 10 s")


def _write(server: InfluxDB1) -> None:
    with urllib.request.urlopen(f"{server.url}/write?db=benchbook", data=LINES.encode()) as answer:
        assert answer.status == 204


def test_a_whole_trial(server: InfluxDB1) -> None:
    assert SYSTEM.accepts(server.version())
    assert len(server.processes()) == 1
    server.prepare()
    assert server.count() == {}
    _write(server)
    assert server.count() == {
        "cpu": TableCount(6000, {"usage_user": 6000, "usage_system": 6000}, exact=False)
    }
    before = server.size()
    assert before["wal"] > 0
    server.settle()
    after = server.size()
    assert after["data"] > before["data"]
    assert after["wal"] == 0
    assert 1.0 < server.watched_seconds < 3.0
    assert server.count()["cpu"].rows == 6000


def test_a_database_with_data_is_refused(server: InfluxDB1) -> None:
    server.prepare()
    server.prepare()
    _write(server)
    with pytest.raises(TrialFailed, match="already holds data"):
        server.prepare()


def test_a_killed_server_is_told_with_its_last_words(server: InfluxDB1) -> None:
    server.prepare()
    os.kill(server.processes()[0], signal.SIGKILL)
    with pytest.raises(
        TrialFailed, match=r"influxdb-1\.8\.10 was ended by SIGKILL. The end of its log: .*lvl=info"
    ):
        server.count()
    with pytest.raises(TrialFailed, match="SIGKILL"):
        server.ready()
    assert server.processes() == []


def test_settling_a_dead_server_is_told(server: InfluxDB1) -> None:
    server.prepare()
    _write(server)
    os.kill(server.processes()[0], signal.SIGKILL)
    with pytest.raises(TrialFailed, match="SIGKILL"):
        server.settle()


def test_a_misspelled_setting_is_refused_before_the_start(influxd: Program, tmp_path: Path) -> None:
    place = Place(influxd, "x", {"data.wal-fsync-dealy": "1s"}, tmp_path, tmp_path, tmp_path)
    with pytest.raises(TrialFailed, match=r'Did you mean "data\.wal-fsync-delay"'):
        driver(place).configure()


def test_it_is_loaded_and_queried_by_benchload(server: InfluxDB1, tmp_path: Path) -> None:
    benchload = _benchload()
    server.prepare()
    client = server.client(benchload)
    events = list(client.load(LoadRequest(DatasetRequest("devops", DATASET, {}), workers=2, batch_rows=100)))
    assert events[0]["type"] == "start"
    assert events[-1]["type"] == "summary"
    assert events[-1]["rows"] == 60 * 2 * 9
    assert {name: one.rows for name, one in server.count().items()}["cpu"] == 120
    queries = _queries(benchload, tmp_path)
    assert list(client.query(QueryRequest(queries, warmup=2)))[-1]["operations"] == 5
    answers: list[dict[str, Any]] = [
        one for one in client.query(QueryRequest(queries, answers=3)) if one["type"] == "answer"
    ]
    assert len(answers) == 3
    with pytest.raises(TrialFailed, match="holds data already"):
        list(client.load(LoadRequest(DatasetRequest("devops", DATASET, {}), workers=1, batch_rows=100)))


def test_it_is_loaded_and_queried_for_a_time(server: InfluxDB1, tmp_path: Path) -> None:
    benchload = _benchload()
    server.prepare()
    client = server.client(benchload)
    request = LoadRequest(
        DatasetRequest("devops", DATASET, {}), workers=2, batch_rows=100, lasts_seconds=0.5, whole=True
    )
    summary = list(client.load(request))[-1]
    assert summary["window_ns"] == 500_000_000
    assert summary["rows"] >= 60 * 2 * 9
    counted = server.count()
    assert sum(sum(one.fields.values()) for one in counted.values()) == summary["values"]
    assert min(one.rows for one in counted.values()) >= 120
    asked = list(client.query(QueryRequest(_queries(benchload, tmp_path), lasts_seconds=0.5)))[-1]
    assert asked["window_ns"] == 500_000_000
    assert asked["operations"] > 0
    assert asked["errors"] == 0


def _benchload() -> Path:
    found = os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not found:
        pytest.skip("benchload is not built: BENCHBOOK_BENCHLOAD names no file and it is not on PATH")
    return Path(found)


def _queries(benchload: Path, folder: Path) -> Path:
    import subprocess

    wanted = ("--query-seed", "1", "--types", "1-host-1-hr", "--count", "5")
    # A query of an hour needs data of more than an hour; the window's host is what matters here.
    longer = [*DATASET[:7], "2016-01-01T02:00:00Z", *DATASET[8:]]
    command = [str(benchload), "queries", "devops", *longer, *wanted]
    done = subprocess.run(command, capture_output=True, check=True)
    (folder / "queries.jsonl").write_bytes(done.stdout)
    return folder / "queries.jsonl"
