"""The extras: in step with ``pyproject.toml``, and one sentence with the command where one is missing."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError, Unavailable
from benchbook.host import extras
from benchbook.host.packages import programs
from benchbook.process import containers
from benchbook.provision import docker
from benchbook.provision.find import find, preview
from benchbook.provision.request import Missing, Request
from benchbook.report import render

ROOT = Path(__file__).resolve().parents[3]
Without = Callable[..., None]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Without:
    """Return what makes packages look like ones that are not installed."""

    def remove(*packages: str) -> None:
        for package in packages:
            monkeypatch.setitem(sys.modules, package, None)

    return remove


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, object], None]:
    """Return what makes this environment look like one with a mark of its installer, and an origin of Benchbook."""

    class Distribution:
        def __init__(self, origin: object) -> None:
            self._origin = origin

        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(self._origin) if self._origin else None

    def make(mark: str, origin: object) -> None:
        if mark:
            (tmp_path / mark).touch()
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        monkeypatch.setattr("importlib.metadata.distribution", lambda _: Distribution(origin))
        monkeypatch.setattr("shutil.which", lambda _: None)

    return make


def test_the_table_is_what_pyproject_declares() -> None:
    declared = tomllib.loads((ROOT / "harness" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = declared["optional-dependencies"]
    every = f"benchbook[{','.join(extras.EXTRAS)}]"
    assert optional.pop("all") == [every]
    names = {extra: tuple(re.split(r"[\[>=]", one)[0] for one in some) for extra, some in optional.items()}
    assert names == dict(extras.EXTRAS)
    assert extras.PURPOSES.keys() == extras.EXTRAS.keys()


def test_only_these_files_need_a_package_of_an_extra() -> None:
    needed = {package for some in extras.EXTRAS.values() for package in some}
    found = {}
    for file in sorted((ROOT / "harness" / "benchbook").rglob("*.py")):
        imports = re.findall(r"^ *(?:import|from) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        if some := sorted(needed & set(imports)):
            found["/".join(file.parts[-2:])] = some
    assert found == {
        "process/containers.py": ["docker", "requests"],
        "process/network.py": ["docker"],
        "provision/docker.py": ["docker"],
        "run/cluster.py": ["distributed"],
        "systems/mysql.py": ["pymysql"],
        "systems/redis.py": ["redis"],
        "workers/mysql_engine.py": ["pymysql"],
        "workers/postgresql_engine.py": ["psycopg"],
    }, "check that the file names the extra before a trial needs it (host/extras.py)"


WHEEL = {"url": "file:///home/a%20b/benchbook-0.1.0-py3-none-any.whl", "archive_info": {}}
GIT = {
    "url": "https://example.org/b.git",
    "vcs_info": {"vcs": "git", "commit_id": "f0"},
    "subdirectory": "harness",
}


@pytest.mark.parametrize(
    ("mark", "origin", "expected"),
    [
        ("uv-receipt.toml", WHEEL, f"uv tool install 'benchbook[servers] @ {WHEEL['url']}'"),
        ("uv-receipt.toml", None, "uv tool install 'benchbook[servers]'"),
        (
            "pipx_metadata.json",
            GIT,
            "pipx install --force 'benchbook[servers] @ git+https://example.org/b.git@f0#subdirectory=harness'",
        ),
        ("", WHEEL, f"{{prefix}}/bin/python -m pip install 'benchbook[servers] @ {WHEEL['url']}'"),
        ("requirements.lock", None, "rm -r {prefix}  # the next command of ./bench installs it again"),
    ],
)
def test_the_command_is_one_of_the_installer(
    mark: str, origin: object, expected: str, installed: Callable[..., None], without: Without, tmp_path: Path
) -> None:
    without("redis", "distributed", "nbclient")
    installed(mark, origin)
    assert extras.command("redis") == expected.format(prefix=tmp_path)


def test_extras_that_are_installed_stay_installed(installed: Callable[..., None], without: Without) -> None:
    without("redis")
    installed("uv-receipt.toml", None)
    assert extras.command("redis") == "uv tool install 'benchbook[cluster,quarto,servers]'"


@pytest.mark.parametrize(
    ("system", "package"),
    [
        ("postgresql-15", "psycopg"),
        ("mysql-8", "pymysql"),
        ("mariadb-10.11", "pymysql"),
        ("redis-7", "redis"),
        ("kvrocks-2.8.0", "redis"),
    ],
)
def test_a_server_without_its_client_is_unavailable(system: str, package: str, without: Without) -> None:
    without(package)
    declared = Catalogue().system(system)
    for look in (find, preview):
        with pytest.raises(Unavailable) as caught:
            look(declared, Request())
        assert f"its client, the Python package {package} (Benchbook's extra servers), is not" in str(
            caught.value
        )
        assert extras.command(package) in (caught.value.hint or "")


def test_without_the_client_of_docker_no_engine_is_used(without: Without, tmp_path: Path) -> None:
    without("docker")
    (tmp_path / "socket").touch()
    around = {"DOCKER_HOST": f"unix://{tmp_path}/socket", "PATH": ""}
    assert isinstance(containers.connect(around), containers.NoEngine)
    found = docker.preview(Catalogue().system("influxdb-1.8.10"), Request(environment=around))
    assert isinstance(found, Missing)
    assert found.reason == "docker: the Python package docker (Benchbook's extra servers) is not installed"
    assert found.command == extras.command("docker")


@pytest.mark.parametrize(
    "arguments",
    [["dask", "scheduler"], ["run", "quickstart", "--profile", "smoke", "--cluster", "tcp://h:1"]],
)
def test_a_cluster_needs_its_extra(
    arguments: list[str], without: Without, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    without("distributed")
    more = ["--results", str(tmp_path)] if arguments[0] == "run" else []
    assert run([*arguments, *more]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert (
        " needs the Python package distributed (Benchbook's extra cluster), which is not installed." in told
    )
    assert "Get it with: " in told


def test_without_its_packages_quarto_is_not_used(
    without: Without, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "quarto").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert render.quarto() == str(tmp_path / "quarto")
    without("ipykernel")
    assert render.quarto() is None


def test_a_missing_extra_is_in_the_table_of_the_doctor(without: Without) -> None:
    without("pymysql")
    found = {one.package: one for one in programs(ROOT)}
    assert found["benchbook[servers]"].state == "absent"
    assert found["benchbook[servers]"].fix == extras.command("pymysql")
    assert (found["benchbook[cluster]"].state, found["benchbook[cluster]"].fix) == ("present", "")


def test_what_is_not_missing_is_no_error() -> None:
    extras.require(["json"], "this")
    with pytest.raises(RequestError, match="this needs the Python package no-such-package, which is not"):
        extras.require(["no-such-package"], "this")
