"""The four ways to run one experiment: as process, as container, at a URL, and on several machines.

Three network namespaces play a server and two clients. All four load the same rows and give the same answers.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from bench import begin, bench, need_benchload, rows
from built import go_request
from engine import build, engine
from machines import cluster

from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.process.network import free_ports
from benchbook.provision.find import find

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = System.model_validate(tomllib.loads((ROOT / "systems/influxdb-1.8.10.toml").read_text()))
TAG = "benchbook-test/influxd:1.8.10"
RUN = (
    "run", "cnos-vs-influx", "--profile", "smoke", "--trials", "1", "--set", f"system={SYSTEM.name}",
    "--set", "arm=vanilla", "--set", "clients=2", "--set", "workers=2", "--set", "batch_size=1000",
)  # fmt: skip


@pytest.fixture(scope="module")
def influxd() -> Path:
    need_benchload()
    try:
        program = find(SYSTEM, go_request(), only="go").path
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert program is not None
    return program


@pytest.fixture
def running(influxd: Path, tmp_path: Path) -> Iterator[str]:
    """A server that somebody else started."""
    http, rpc = free_ports(2)
    around = {
        "INFLUXDB_REPORTING_DISABLED": "true", "INFLUXDB_HTTP_BIND_ADDRESS": f"127.0.0.1:{http}",
        "INFLUXDB_BIND_ADDRESS": f"127.0.0.1:{rpc}",
        **{f"INFLUXDB_{name}_DIR": str(tmp_path / name) for name in ("DATA", "DATA_WAL", "META")},
    }  # fmt: skip
    with (tmp_path / "influxd.log").open("wb") as log:
        started = subprocess.Popen(
            [influxd, "run", "-config", os.devnull],
            env=around,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{http}"
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def carried_out(
    results: Path, *more: str
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the trial, the counts that were checked, and the digests of its answers."""
    done = bench(*RUN, "--results", str(results), *more, report=False)
    assert done.returncode == 0, done.stderr
    [trial] = rows(
        results, "select status, reason, unmeasured, placement, dataset_digest, queries_digest from trials"
    )
    assert trial["status"] == "ok", trial["reason"]
    counts = rows(results, "select name, expected, found from checks where name like '%in %' order by all")
    answers = rows(results, "select query_type, query_id, digest, row_count from answers order by all")
    return trial, counts, answers


@pytest.mark.timeout(1200)  # four runs, an image and a cluster
def test_four_ways_and_the_same_work(influxd: Path, running: str, tmp_path: Path) -> None:
    found = {"process": carried_out(tmp_path / "process", "--set", "source=go")}
    with engine() as address:
        build(address, TAG, influxd, "/usr/bin/influxd")
        os.environ["DOCKER_HOST"] = address
        try:
            found["container"] = carried_out(
                tmp_path / "container", "--system", f"{SYSTEM.name}=docker://{TAG}?network=private"
            )
        finally:
            del os.environ["DOCKER_HOST"]
    found["url"] = carried_out(tmp_path / "url", "--system", f"{SYSTEM.name}={running}")
    with cluster(tmp_path) as (scheduler, _):
        found["cluster"] = carried_out(tmp_path / "cluster", "--cluster", scheduler)

    trial, counts, answers = found["process"]
    assert len(counts) > 10
    assert len(answers) >= 100
    for way, (other, other_counts, other_answers) in found.items():
        assert other_counts == counts, way
        assert other_answers == answers, way
        assert other["dataset_digest"] == trial["dataset_digest"], way
        assert other["queries_digest"] == trial["queries_digest"], way
    assert {"server_cpu_seconds", "start_seconds"} <= set(json.loads(found["url"][0]["unmeasured"]))
    assert trial["placement"] is None
    placed = json.loads(found["cluster"][0]["placement"])
    hosts = {urlsplit(one["worker"]).hostname for one in [placed["server"], *placed["clients"]]}
    assert len(hosts) == 3
    assert all(one["clock_error_seconds"] > 0 for one in placed["clients"])
    series = rows(
        tmp_path / "cluster", "select client, sum(rows) as n from client_intervals group by all order by all"
    )
    assert [one["client"] for one in series] == [0, 1]
    assert series[0]["n"] == series[1]["n"] > 0
    merged = rows(tmp_path / "cluster", "select sum(rows) as n from intervals where phase = 'load'")
    assert merged[0]["n"] == 2 * series[0]["n"]


@pytest.mark.timeout(900)
def test_a_worker_that_is_lost_fails_its_trial_and_the_run_goes_on(influxd: Path, tmp_path: Path) -> None:
    """First a client's machine, then the server's, whose place another worker takes."""
    results = tmp_path / "results"
    with cluster(tmp_path) as (scheduler, network):
        network.worker("spare", scheduler, "server")
        more = ("--trials", "3", "--set", "source=go", "--cluster", scheduler, "--results", str(results))
        lost = [("0000", "client2"), ("0001", "server")]
        with begin(*RUN, *more) as run:
            while run.poll() is None and lost:
                time.sleep(0.02)
                trial, machine = lost[0]
                begun = any(results.glob(f"runs/*/trials/{trial}"))
                if begun and any((tmp_path / "server").glob("*/benchbook-*/scratch/*/trial/events.jsonl")):
                    network.kill(machine)
                    lost = lost[1:]
            out, err = run.communicate(timeout=240)
    assert run.returncode == 4, err
    trials = rows(results, 'select status, reason, placement from trials order by "index"')
    assert [one["status"] for one in trials] == ["failed", "failed", "ok"], err
    assert re.search(r"The trial lost the client's worker", trials[0]["reason"])
    assert re.search(r"The server's worker .* was lost during the trial", trials[1]["reason"])
    placed = json.loads(trials[2]["placement"])
    assert network.address["spare"] in placed["server"]["worker"]
    assert {network.address["client1"] in one["worker"] for one in placed["clients"]} == {True}
    assert Path(out.splitlines()[-1]).is_file()


def test_no_scheduler_is_told_in_a_sentence(tmp_path: Path) -> None:
    need_benchload()
    [port] = free_ports(1)
    done = bench(*RUN, "--cluster", f"tcp://127.0.0.1:{port}", "--results", str(tmp_path))
    assert done.returncode == 2
    assert "no Dask scheduler answers there" in done.stderr
    assert "Traceback" not in done.stderr
