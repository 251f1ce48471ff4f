"""Systems from images without an engine: a registry on loopback, real servers, and everything that can go wrong."""

from __future__ import annotations

import http.server
import json
import os
import pwd
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench import begin, bench, environment, need_benchload, rows
from registry import Registry, debian, layer, registry

from benchbook.declare.system import System
from benchbook.errors import Unavailable
from benchbook.process import sandbox
from benchbook.process.wait import until
from benchbook.provision import image
from benchbook.provision.find import find
from benchbook.provision.request import Missing, Request

ROOT = Path(__file__).resolve().parents[3]
INFLUX = System.model_validate(tomllib.loads((ROOT / "systems/influxdb-1.8.10.toml").read_text()))
NAME = "library/influxdb:1.8.10"
ENV = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Give a registry; skip where images cannot run."""
    need_benchload()
    if reason := sandbox.refusal(os.environ):
        pytest.skip(reason)
    with registry(tmp_path_factory.mktemp("registry") / "blobs") as made:
        yield made


@pytest.fixture(scope="module")
def influx(served: Registry) -> str:
    """Push an image FROM scratch around the static InfluxDB; return its digest."""
    try:
        go = Path(os.environ["BENCHBOOK_GO"]) if "BENCHBOOK_GO" in os.environ else None
        program = find(INFLUX, Request(go=go), only="go")
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert program.path is not None
    return served.push(NAME, [layer({"usr/bin/influxd": program.path})], Entrypoint=["/usr/bin/influxd"])


@pytest.fixture
def away(served: Registry, tmp_path: Path) -> dict[str, str]:
    """Return an environment with an empty cache and this registry as the mirror of all others."""
    kept = {name: value for name, value in os.environ.items() if name != "DOCKER_HOST"}
    cache = {"BENCHBOOK_CACHE": str(tmp_path / "cache"), image.MIRROR: served.address}
    tools = Path(os.environ.get("BENCHBOOK_CACHE", Path.home() / ".cache/benchbook")) / "tools"
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "tools").symlink_to(tools)
    return kept | cache


def asked(system: System, environment: dict[str, str], tmp_path: Path) -> Missing:
    found = image.find(system, Request(environment=environment, image_lock=tmp_path / "lock.json"))
    assert isinstance(found, Missing), found
    return found


def pinned(digest: str | None, **more: Any) -> System:
    """Return InfluxDB with its image at another digest."""
    declared = INFLUX.model_dump(exclude_none=True)
    declared["source"] = {"docker": {**declared["source"]["docker"], "digest": digest, **more}}
    return System.model_validate(declared)


def test_a_process_and_an_image_take_turns_in_one_run(
    influx: str, away: dict[str, str], tmp_path: Path
) -> None:
    """What isolation costs: the source is a factor, and the same cells run both ways, block by block."""
    declared = tmp_path / "root"
    declared.mkdir()
    for name in ("datasets", "experiments", "reports", "storage", "harness"):
        (declared / name).symlink_to(ROOT / name)
    (declared / "systems").mkdir()
    text = (ROOT / "systems/influxdb-1.8.10.toml").read_text()
    stated = INFLUX.source.docker
    assert stated is not None
    assert stated.digest is not None
    (declared / "systems/influxdb-1.8.10.toml").write_text(text.replace(stated.digest, influx))
    own = Path(os.environ.get("BENCHBOOK_CACHE", Path.home() / ".cache/benchbook"))
    (tmp_path / "cache" / "systems").symlink_to(own / "systems")
    results = tmp_path / "results"
    words = ("run", "quickstart", "--profile", "smoke", "--trials", "2", "--set", f"system={INFLUX.name}",
             "--set", "source=go,image", "--results", str(results))  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "benchbook", *words],
        env={**environment(), **away, "BENCHBOOK_ROOT": str(declared)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    trials = rows(results, "select block, level as source, status, program from trials join levels "
                           "using (trial_id) where factor = 'source' order by block, source")  # fmt: skip
    assert [(one["block"], one["source"], one["status"]) for one in trials] == [
        (0, "go", "ok"), (0, "image", "ok"), (1, "go", "ok"), (1, "image", "ok")
    ]  # fmt: skip
    kept = json.loads(trials[1]["program"])
    assert kept["digest"] == influx
    assert "without an engine" in kept["detail"]
    assert str(tmp_path) not in trials[1]["program"]
    digests = rows(
        results, "select query_type, query_id, count(distinct digest) as n from answers group by all"
    )
    assert {row["n"] for row in digests} == {1}
    assert "image over go" in done.stdout


@pytest.mark.parametrize(
    ("name", "user", "packages", "links"),
    [
        ("redis-7", "redis", ["redis-server"], {"usr/local/bin/redis-server": "/usr/bin/redis-server"}),
        ("mariadb-10.11", "mysql", ["mariadb-server"], {}),
        ("postgresql-15", "postgres", ["postgresql-15"], {}),
    ],
)
def test_images_of_debian_packages(
    served: Registry,
    away: dict[str, str],
    open_folder: Path,
    name: str,
    user: str,
    packages: list[str],
    links: Any,
) -> None:
    """Programs with shared libraries and accounts; two of them refuse to run as root."""
    account = pwd.getpwnam(user)
    tag = f"library/{name}:1"
    # The image of Redis names its user; those of the others leave it to their entry scripts.
    stated = {"User": user} if name == "redis-7" else {}
    digest = served.push(tag, [debian(*packages), layer({}, links)], Env=ENV, **stated)
    results = open_folder / "results"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "benchbook", "run", "kline-mysql-vs-kv", "--profile", "smoke", "--trials", "1",
         "--set", f"system={name}", "--set", "method=corrected", "--set", "memory_limit=512MiB",
         "--system", f"{name}=docker://{served.address}/{tag}", "--results", str(results)],
        env={**environment(), **away}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    trials = rows(results, "select status, reason, program, confinement from trials")
    assert trials
    assert {one["status"] for one in trials} == {"ok"}, trials
    program = json.loads(trials[0]["program"])
    assert program["digest"] == digest
    assert program["container"]["user"] == f"{account.pw_uid}:{account.pw_gid}"
    assert json.loads(trials[0]["confinement"])["memory_bytes"] == 512 << 20


def test_a_tag_is_locked_at_its_first_pull_and_refused_once_it_is_gone(
    served: Registry, influx: str, away: dict[str, str], tmp_path: Path
) -> None:
    request = Request(environment=away, image_lock=tmp_path / "lock.json")
    moving = pinned(None, image="moving:1")
    first = served.push("library/moving:1", [layer({"usr/bin/influxd": b"#!/bin/sh\n"})])
    assert image.find(moving, request).digest == first  # type: ignore[union-attr]
    second = served.push("library/moving:1", [layer({"usr/bin/influxd": b"#!/bin/sh\nexit 1\n"})])
    assert image.latest_digest("moving:1", request) == second != first
    assert image.find(moving, request).digest == first  # type: ignore[union-attr]
    locked = json.loads((tmp_path / "lock.json").read_text())
    assert (locked["moving:1"]["digest"], locked["moving:1"]["by"]) == (first, "first pull")


def test_an_image_of_another_digest_is_refused(away: dict[str, str], influx: str, tmp_path: Path) -> None:
    found = asked(pinned("sha256:" + "0" * 64), away, tmp_path)
    assert "influxdb:1.8.10 cannot be pulled" in found.reason
    assert "MANIFEST_UNKNOWN" in found.reason
    assert left(away) == []


@pytest.mark.parametrize(
    "damage", [lambda blob: blob[: len(blob) // 2], lambda blob: blob[:-9] + b"123456789"]
)
def test_a_damaged_layer_is_never_unpacked(
    served: Registry, away: dict[str, str], tmp_path: Path, damage: Any
) -> None:
    digest = served.push("library/broken:1", [layer({"usr/bin/influxd": os.urandom(1 << 20)})])
    newest = max(served.folder.rglob("*"), key=lambda file: file.stat().st_size if file.is_file() else 0)
    blob = max(
        (
            file
            for file in served.folder.rglob("*")
            if file.is_file() and 1 << 20 <= file.stat().st_size < 2 << 20
        ),
        key=lambda file: file.stat().st_mtime,
    )
    assert newest.exists()
    whole = blob.read_bytes()
    blob.write_bytes(damage(whole))
    try:
        found = asked(pinned(digest, image="broken:1"), away, tmp_path)
    finally:
        blob.write_bytes(whole)
    assert "broken:1 cannot be pulled" in found.reason
    assert left(away) == []
    request = Request(environment=away, image_lock=tmp_path / "lock.json")
    assert image.find(pinned(digest, image="broken:1"), request).digest == digest  # type: ignore[union-attr]


def test_a_registry_that_wants_a_password_is_told(away: dict[str, str], tmp_path: Path) -> None:
    class Closed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="closed"')
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closed) as closed:
        threading.Thread(target=closed.serve_forever, daemon=True).start()
        found = asked(pinned(None), away | {image.MIRROR: f"127.0.0.1:{closed.server_address[1]}"}, tmp_path)
        closed.shutdown()
    assert "cannot be pulled" in found.reason
    assert "401" in found.reason


def test_a_full_disk_is_told_and_leaves_nothing(
    served: Registry, away: dict[str, str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    digest = served.push("library/large:1", [layer({"usr/bin/influxd": bytes(8 << 20)})])
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", small], check=True)
    try:
        (small / "tools").symlink_to((tmp_path / "cache/tools").resolve())
        full = away | {"BENCHBOOK_CACHE": str(small)}
        found = asked(pinned(digest, image="large:1"), full, tmp_path)
        assert "cannot be stored in the cache" in found.reason
        assert "No space left on device" in found.reason
        assert left(full) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_pull_that_was_killed_goes_on(served: Registry, away: dict[str, str], tmp_path: Path) -> None:
    """What has arrived whole is not fetched again, and nothing incomplete looks complete."""
    first, second = (
        layer({"etc/first": os.urandom(1 << 20)}),
        layer({"usr/bin/influxd": os.urandom(96 << 20)}),
    )
    digest = served.push("library/slow:1", [first, second])
    reference = f"{INFLUX.name}=docker://{served.address}/library/slow:1@{digest}"
    words = ("run", "quickstart", "--profile", "smoke", "--set", f"system={INFLUX.name}", "--system", reference,
             "--results", str(tmp_path / "results"))  # fmt: skip
    cache = Path(away["BENCHBOOK_CACHE"])
    os.environ.update(before := {"BENCHBOOK_CACHE": str(cache)})
    try:
        killed = 0
        for _ in range(3):
            with begin(*words, report=False) as harness:
                while harness.poll() is None and not any(
                    file.stat().st_size > 1 << 20 for file in image._files(cache / "images")
                ):
                    time.sleep(0.002)
                killed += harness.poll() is None
                os.kill(harness.pid, signal.SIGKILL)
            if killed:
                break
        assert killed, "every pull ended before it could be killed"
        assert list(cache.glob("images/*/image.json")) == []
        assert until(lambda: not _pulling(), 20.0), "crane outlives the harness"
        found = bench(*words, report=False)
    finally:
        for name in before:
            del os.environ[name]
    assert "pulling" in found.stderr
    assert len(list(cache.glob("images/*/image.json"))) == 1
    assert left(away) == []


def _pulling() -> bool:
    done = subprocess.run(["pgrep", "-f", "crane.*library/slow"], capture_output=True, check=False)
    return done.returncode == 0


def left(environment: dict[str, str]) -> list[str]:
    """Return folders that look like images but are none."""
    images = Path(environment["BENCHBOOK_CACHE"]) / "images"
    return [
        one.name
        for one in (images.iterdir() if images.is_dir() else ())
        if one.is_dir() and one.suffix != ".oci" and not (one / "image.json").is_file()
    ]
