"""Results on object storage: appended by several machines at once, asked and reported in place. A real MinIO."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import SMALL, begin, bench, need_benchload
from built import go_request

from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.provision.find import find
from benchbook.record import objects
from benchbook.storage.s3 import MinioServer

ROOT = Path(__file__).resolve().parents[3]
MINIO = System.model_validate(tomllib.loads((ROOT / "systems/minio.toml").read_text()))
URL = "s3://benchbook-results/team"


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give an address on a MinIO of the test's own, with the keys in the environment."""
    need_benchload()
    try:
        program = find(MINIO, go_request())
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert program.path is not None
    (tmp_path / "drive").mkdir()
    server = MinioServer(program.path, tmp_path / "drive", tmp_path / "minio.log", tmp_path / "processes")
    try:
        server.start()
        s3 = server.s3
        monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
        s3.make_bucket("benchbook-results")
        yield URL
    finally:
        server.stop()


@pytest.mark.timeout(900)
def test_two_machines_append_and_a_third_reads(bucket: str, tmp_path: Path) -> None:
    """Each machine has a separate cache."""
    machines = [tmp_path / f"cache{number}" for number in range(3)]
    runs = []
    for machine in machines[:2]:
        os.environ["BENCHBOOK_CACHE"] = str(machine)
        runs.append(begin("run", *SMALL, "--results", bucket))
    for run in runs:
        out, err = run.communicate(timeout=280)
        assert run.returncode == 0, err
        assert Path(out.splitlines()[-1]).is_file()
    os.environ["BENCHBOOK_CACHE"] = str(machines[2])
    try:
        asked = "select count(distinct run_id) as runs, count(*) as trials from trials where status = 'ok'"
        done = bench("sql", "--json", "--results", bucket, asked)
        assert done.returncode == 0, done.stderr
        assert '"runs": 2' in done.stdout
        assert '"trials": 8' in done.stdout
        report = bench("report", "--results", bucket)
        assert report.returncode == 0, report.stderr
        assert "rows" in Path(report.stdout.splitlines()[-1]).read_text()
        whole = bench("resume", "--results", bucket)
        assert "nothing to resume" in whole.stderr, "runs of other machines are theirs"
    finally:
        del os.environ["BENCHBOOK_CACHE"]
    storage = objects.Objects(bucket)
    assert len(storage.names("tables/trials", ".parquet")) == 8
    assert not list(machines[0].glob("results/*/benchbook.duckdb"))


def test_a_bucket_that_is_not_there_is_told_in_a_sentence(bucket: str, tmp_path: Path) -> None:
    done = bench("sql", "--results", "s3://nothing-here/x", "select 1 from trials")
    assert done.returncode == 2
    assert "s3://nothing-here/x" in done.stderr
    assert "Traceback" not in done.stderr
