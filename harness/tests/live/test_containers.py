"""A system run from its image, on a real engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import begin, bench, environment, need_benchload, rows
from built import go_request
from engine import build, engine

from benchbook.declare.system import System
from benchbook.errors import TrialFailed, Unavailable
from benchbook.process import containers
from benchbook.process.launch import ContainerOptions, Program
from benchbook.process.sandbox import launching
from benchbook.provision.find import find
from benchbook.provision.request import Request

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = System.model_validate(tomllib.loads((ROOT / "systems/influxdb-1.8.10.toml").read_text()))
TAG = "benchbook-test/influxd:1.8.10"
RUN = ("run", "quickstart", "--profile", "smoke", "--trials", "1", "--set", f"system={SYSTEM.name}")


@pytest.fixture(scope="module")
def docker() -> Iterator[str]:
    """Give an engine that has the image, as DOCKER_HOST."""
    need_benchload()
    try:
        program = find(SYSTEM, go_request(), only="go")
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert program.path is not None
    with engine() as address:
        build(address, TAG, program.path, "/usr/bin/influxd")
        before = os.environ.get("DOCKER_HOST")
        os.environ["DOCKER_HOST"] = address
        try:
            yield address
        finally:
            if before is None:
                del os.environ["DOCKER_HOST"]
            else:
                os.environ["DOCKER_HOST"] = before


@pytest.fixture
def program(docker: str, tmp_path: Path) -> Program:
    return find(
        SYSTEM,
        Request(
            given={SYSTEM.name: f"docker://{TAG}?cpus=0.5&cores=0&memory=256MiB"},
            image_lock=tmp_path / "lock.json",
        ),
    )


def left(address: str) -> list[str]:
    import docker as sdk

    client = sdk.DockerClient(base_url=address, version="auto")
    try:
        networks = [one.name for one in client.networks.list() if one.name.startswith("benchbook")]
        return [one.name for one in client.containers.list(all=True, ignore_removed=True)] + networks
    finally:
        client.close()


def test_the_image_is_known_by_its_identity_and_the_limits_arrive(program: Program, tmp_path: Path) -> None:
    assert program.image is not None
    assert program.digest == program.image
    assert program.container == ContainerOptions(cpus=0.5, cores="0", memory_bytes=256 << 20)
    assert not (tmp_path / "lock.json").exists(), "an image that was built here is locked to nothing"
    with launching(program, [tmp_path], tmp_path / "processes") as launch:
        assert launch is not None
        started = launch.start(
            ["/usr/bin/influxd", "run"],
            name="influxd",
            log=tmp_path / "log",
            environment={"INFLUXDB_REPORTING_DISABLED": "true", "INFLUXDB_HTTP_BIND_ADDRESS": "127.0.0.1:0",
                         "INFLUXDB_BIND_ADDRESS": "127.0.0.1:0", "INFLUXDB_DATA_DIR": f"{tmp_path}/data",
                         "INFLUXDB_DATA_WAL_DIR": f"{tmp_path}/wal", "INFLUXDB_META_DIR": f"{tmp_path}/meta"},
        )  # fmt: skip
        attributes = started._handle.attrs["HostConfig"]
        assert attributes["NanoCpus"] == 500_000_000
        assert attributes["CpusetCpus"] == "0"
        assert attributes["Memory"] == attributes["MemorySwap"] == 256 << 20
        for _ in range(200):
            if "Listening on HTTP" in (tmp_path / "log").read_text(errors="replace"):
                break
            time.sleep(0.05)
        assert started.pid in started.tree()
        used = launch.usage()
        assert used["cpu_user_seconds"] + used["cpu_system_seconds"] > 0
        assert used["memory_bytes"] > 1 << 20
        assert {"read_bytes", "write_bytes"} <= set(used)
        started.kill()
        started.wait_ending(10)
        with pytest.raises(
            TrialFailed, match=r"in a container, exited with code 137.*The end of its log: .*lvl=info"
        ):
            started.check()
        assert launch.usage()["cpu_user_seconds"] >= used["cpu_user_seconds"], "what it used stays known"
    assert left(os.environ["DOCKER_HOST"]) == []
    assert list((tmp_path / "processes").iterdir()) == []


def test_a_program_that_the_image_lacks_is_told(program: Program, tmp_path: Path) -> None:
    with launching(program, [tmp_path], None) as launch:
        assert launch is not None
        with pytest.raises(TrialFailed, match=r"could not be started in a container: .*no such file"):
            launch.start(["/usr/bin/nothing"], name="nothing", log=tmp_path / "log")
        done = launch.call(["/usr/bin/influxd", "version"])
        assert (done.returncode, "1.8.10" in done.stdout) == (0, True)
    assert left(os.environ["DOCKER_HOST"]) == []


def test_more_memory_than_the_limit_is_told(docker: str, tmp_path: Path) -> None:
    given = {SYSTEM.name: f"docker://{TAG}?memory=6MiB"}
    small = find(SYSTEM, Request(given=given, image_lock=tmp_path / "lock.json"))
    with launching(small, [tmp_path], None) as launch:
        assert launch is not None
        with pytest.raises(TrialFailed, match=r"more memory than its limit|could not be started"):
            _until_it_ends(launch, tmp_path / "log")


def _until_it_ends(launch: containers.Containers, log: Path) -> None:
    started = launch.start(["/usr/bin/influxd", "run"], name="influxd", log=log)
    started.wait_ending(20)
    started.check()


@pytest.mark.parametrize("network", ["host", "private"])
def test_a_run_as_container(docker: str, tmp_path: Path, network: str) -> None:
    done = bench(
        *RUN,
        "--system",
        f"{SYSTEM.name}=docker://{TAG}?network={network}",
        "--results",
        str(tmp_path),
        report=False,
    )
    assert done.returncode == 0, done.stderr
    [trial] = rows(tmp_path, "select status, reason, program from trials")
    assert trial["status"] == "ok", trial["reason"]
    kept = json.loads(trial["program"])
    assert kept["container"]["network"] == network
    assert kept["digest"].startswith("sha256:")
    found = {row["metric"]: row["value"] for row in rows(
        tmp_path, "select metric, value from measurements where phase = 'load'")}  # fmt: skip
    assert found["server_cpu_seconds"] > 0
    assert found["server_memory_peak_bytes"] > 1 << 20
    [log] = tmp_path.glob("runs/*/trials/0000/logs/influxd.log")
    assert "Listening on HTTP" in log.read_text()
    assert left(docker) == []


def test_process_and_container_stand_in_one_run_in_turn(docker: str, tmp_path: Path) -> None:
    """The source is a factor: the same system as process and as container, block by block."""
    declared = tmp_path / "root"
    for name in ("datasets", "experiments", "reports", "storage", "harness"):
        declared.mkdir(exist_ok=True)
        (declared / name).symlink_to(ROOT / name)
    (declared / "systems").mkdir()
    text = (ROOT / "systems/influxdb-1.8.10.toml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith("digest = ")]
    (declared / "systems/influxdb-1.8.10.toml").write_text(
        "\n".join(kept).replace('image = "influxdb:1.8.10"', f'image = "{TAG}"')
    )
    results = tmp_path / "results"
    done = subprocess.run(
        [*begin_words(), *RUN, "--trials", "2", "--set", "source=go,docker", "--results", str(results)],
        env=environment(BENCHBOOK_ROOT=str(declared)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    trials = rows(results, "select block, level as source, status, dataset_digest from trials join levels "
                           "using (trial_id) where factor = 'source' order by all")  # fmt: skip
    assert [(one["block"], one["source"], one["status"]) for one in trials] == [
        (0, "docker", "ok"), (0, "go", "ok"), (1, "docker", "ok"), (1, "go", "ok")
    ]  # fmt: skip
    digests = rows(
        results, "select query_type, query_id, count(distinct digest) as n from answers group by all"
    )
    assert {row["n"] for row in digests} == {1}
    assert "docker over go" in done.stdout


def test_a_killed_harness_leaves_nothing_for_long(docker: str, tmp_path: Path) -> None:
    results = tmp_path / "results"
    with begin(*RUN, "--system", f"{SYSTEM.name}=docker://{TAG}", "--set", "queries=2000",
               "--results", str(results), report=False) as first:  # fmt: skip
        for _ in range(600):
            if left(docker):
                break
            time.sleep(0.1)
        time.sleep(0.3)
        os.kill(first.pid, signal.SIGKILL)
    assert left(docker), "the engine, not the harness, runs containers"
    done = bench("resume", "--results", str(results), report=False)
    assert done.returncode == 0, done.stderr
    assert "removed what an earlier run left: influxdb-1.8.10 (container benchbook-" in done.stderr
    assert left(docker) == []


def begin_words() -> list[str]:
    import sys

    return [sys.executable, "-P", "-m", "benchbook"]
