"""Images without a Docker engine, and the options of ``--system NAME=docker://IMAGE``."""

import tomllib
from pathlib import Path

import pytest

from benchbook.declare.system import ContainerSource, System
from benchbook.errors import RequestError, Unavailable
from benchbook.process import containers
from benchbook.provision import docker, image_lock
from benchbook.provision.find import find, preview
from benchbook.provision.request import Missing, Request

ROOT = Path(__file__).resolve().parents[3]
INFLUX = System.model_validate(tomllib.loads((ROOT / "systems/influxdb-1.8.10.toml").read_text()))


@pytest.fixture
def around(tmp_path):
    return {"PATH": str(tmp_path), "DOCKER_HOST": f"unix://{tmp_path}/docker.sock"}


def test_without_an_engine_the_way_that_needs_none_is_advised(around, tmp_path):
    for ask in (docker.find, docker.preview):
        found = ask(INFLUX, Request(environment=around))
        assert isinstance(found, Missing)
        assert found.reason == f"docker: no Docker engine listens on {tmp_path}/docker.sock"
        assert found.command is None
    with pytest.raises(Unavailable) as caught:
        find(INFLUX, Request(environment=around, cache=tmp_path))
    assert "sudo apt-get install bubblewrap" in caught.value.hint
    assert "docker.io" not in caught.value.hint


def test_the_socket_of_podman_is_an_engine_too(tmp_path, monkeypatch):
    assert containers.address({}) == containers.SOCKET
    (tmp_path / "podman.sock").touch()
    monkeypatch.setattr(containers, "PODMAN_SOCKETS", (str(tmp_path / "none"), str(tmp_path / "podman.sock")))
    assert containers.address({}) == f"unix://{tmp_path}/podman.sock"
    assert containers.address({"DOCKER_HOST": "unix:///own"}) == "unix:///own"


def test_only_one_source_is_asked_where_it_is_a_factor(around):
    with pytest.raises(Unavailable) as caught:
        find(INFLUX, Request(environment=around), only="docker")
    assert "docker: no Docker engine" in caught.value.message
    assert "host:" not in caught.value.message


def test_an_engine_elsewhere_is_refused(around):
    found = docker.find(INFLUX, Request(environment=around | {"DOCKER_HOST": "tcp://example.org:2375"}))
    assert "does not share this machine's files" in found.reason


def test_a_socket_that_nobody_serves_is_no_engine(around, tmp_path):
    (tmp_path / "docker.sock").touch()
    assert "no Docker engine answers" in docker.find(INFLUX, Request(environment=around)).reason


def test_a_given_image_runs_without_an_engine_unless_its_options_need_one(around):
    given = {INFLUX.name: "docker://influxdb:1.8.10?network=private&memory=512MiB"}
    assert preview(INFLUX, Request(given=given, environment=around)).startswith(
        "run the image influxdb:1.8.10?"
    )
    with pytest.raises(Unavailable, match='network = "private" needs a container engine'):
        find(INFLUX, Request(given=given, environment=around))
    given = {INFLUX.name: "docker://influxdb:1.8.10?memory=512MiB"}
    with pytest.raises(Unavailable, match="no bwrap on PATH"):
        find(INFLUX, Request(given=given, environment=around))


def test_a_wrong_option_of_a_given_image_names_the_nearest(around):
    given = {INFLUX.name: "docker://influxdb:1.8.10?memroy=512MiB"}
    with pytest.raises(RequestError, match="memory"):
        find(INFLUX, Request(given=given, environment=around))


@pytest.mark.parametrize(
    ("text", "count"), [("512", 512), ("3KiB", 3072), ("512MiB", 512 << 20), ("2GiB", 2 << 30)]
)
def test_memory_is_read_in_its_unit(text, count):
    assert ContainerSource(memory=text).memory_bytes() == count


def test_the_lock_keeps_every_tag_and_refuses_a_broken_file(tmp_path):
    file = tmp_path / "images.lock.json"
    lock = image_lock.Lock(file, file)
    assert lock.digest("a:1") is None
    lock.add("b:1", "sha256:2", image_lock.FIRST_PULL)
    lock.add("a:1", "sha256:1", image_lock.COMMAND)
    assert (lock.digest("a:1"), lock.digest("b:1")) == ("sha256:1", "sha256:2")
    assert {tag: one.by for tag, one in image_lock.read(file).items()} == {
        "a:1": "bench lock",
        "b:1": "first pull",
    }
    for text, message in (
        ("{", "is unreadable"),
        ("[]", "must map each tag"),
        ('{"a:1": {"digest": 1}}', "must map each tag"),
        ('{"a:1": {"digest": null, "user": "x"}}', "must map each tag"),
    ):
        file.write_text(text)
        with pytest.raises(RequestError, match=message):
            lock.digest("a:1")


def test_a_project_that_is_read_only_keeps_its_digests(tmp_path, monkeypatch):
    """In the Nix store, the cache holds first pulls only; what the project locks cannot be replaced by it."""
    cache, systems = tmp_path / "cache", tmp_path / "systems"
    image_lock.Lock(systems / image_lock.FILE, systems / image_lock.FILE).add("a:1", "sha256:1", "bench lock")
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    monkeypatch.setattr(image_lock.os, "access", lambda *_: False)
    lock = image_lock.of(Request(cache=cache))
    assert lock.written == cache / image_lock.FILE
    lock.add("a:1", "sha256:9", image_lock.FIRST_PULL)
    lock.add("b:1", "sha256:2", image_lock.FIRST_PULL)
    assert (lock.digest("a:1"), lock.digest("b:1")) == ("sha256:1", "sha256:2")
    assert set(image_lock.read(lock.project)) == {"a:1"}
