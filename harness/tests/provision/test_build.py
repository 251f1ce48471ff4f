"""Building into the cache: once, completely or not at all, with a script as the Go toolchain."""

import os
import threading
import time

import pytest

from benchbook.errors import Unavailable
from benchbook.provision.find import find, preview
from benchbook.provision.go import folder_of
from benchbook.provision.request import Request

from .conftest import executable

TOOLCHAIN = """#!/bin/sh
if [ "$1" = env ]; then echo go1.99; exit; fi
echo "$@ GOBIN=$GOBIN GOOS=$GOOS GOFLAGS=$GOFLAGS CGO=$CGO_ENABLED" >> {calls}
{before}
printf '#!/bin/sh\\necho Server v{version}\\n' > "$GOBIN/serverd"
chmod +x "$GOBIN/serverd"
echo example.org/serverd
"""


@pytest.fixture
def toolchain(tmp_path):
    """Return a maker of Go toolchains: (path of go, file of its calls)."""

    def make(before="", version="1.8.10"):
        calls = tmp_path / "calls"
        text = TOOLCHAIN.format(calls=calls, before=before, version=version)
        return executable(tmp_path / "go", text), calls

    return make


@pytest.fixture
def request_with(tmp_path):
    def make(go, **more):
        around = {"PATH": os.environ["PATH"], "GOOS": "plan9", "GOFLAGS": "-race"}
        return Request(go=go, cache=tmp_path / "a cache", environment=around, **more)

    return make


def test_a_system_is_built_once_and_then_taken_from_the_cache(server_system, toolchain, request_with):
    go, calls = toolchain()
    words = []
    asked = request_with(go, progress=words.append)
    assert preview(server_system, asked).startswith("build it once, a few minutes: CGO_ENABLED=0 go install")
    first = find(server_system, asked)
    assert first == find(server_system, asked)
    assert (first.source, first.version) == ("go", "1.8.10")
    assert first.detail.endswith("with go1.99")
    assert preview(server_system, asked).startswith(f"use {first.path}")
    (call,) = calls.read_text().splitlines()
    assert call.startswith("install -v -trimpath -ldflags -X v=1.8.10 example.org/serverd@v1.8.10 GOBIN=")
    assert call.endswith("GOOS= GOFLAGS= CGO=0")
    assert words[0] == "building Server 1.8 once from its Go module"
    assert words[-1].startswith("built Server 1.8 in ")


def test_the_cache_serves_without_a_toolchain(server_system, toolchain, request_with, tmp_path):
    go, _ = toolchain()
    find(server_system, request_with(go))
    assert find(server_system, request_with(tmp_path / "gone")).source == "go"


def test_a_program_that_was_changed_in_the_cache_is_built_again(server_system, toolchain, request_with):
    go, calls = toolchain()
    asked = request_with(go)
    found = find(server_system, asked)
    found.path.write_text("half a program")
    assert find(server_system, asked).digest == found.digest
    assert len(calls.read_text().splitlines()) == 2


def test_a_failed_build_tells_the_toolchains_words_and_leaves_nothing(server_system, toolchain, request_with):
    go, _ = toolchain(before="echo 'cannot find module'; exit 1")
    asked = request_with(go)
    with pytest.raises(Unavailable, match=r"could not be built.*cannot find module"):
        find(server_system, asked)
    left = [path.name for path in folder_of(server_system, asked).parent.iterdir()]
    assert [name for name in left if not name.endswith(".lock")] == []


def test_a_program_that_states_another_version_is_refused(server_system, toolchain, request_with):
    go, _ = toolchain(version="unknown")
    with pytest.raises(Unavailable, match=r"reports version unknown, not 1\.8\.10"):
        find(server_system, request_with(go))


def test_an_interrupted_build_is_redone(server_system, toolchain, request_with):
    go, calls = toolchain(before='[ -e "$0.second" ] || { touch "$0.second"; sleep 60; }')

    def interrupt(words):
        if words.startswith("building") and "(" in words:
            raise KeyboardInterrupt

    asked = request_with(go, progress=interrupt)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        find(server_system, asked)
    assert time.monotonic() - began < 30
    assert not folder_of(server_system, asked).exists()
    assert find(server_system, request_with(go)).version == "1.8.10"
    assert len(calls.read_text().splitlines()) == 2


def test_what_a_killed_build_left_is_removed(server_system, toolchain, request_with):
    go, _ = toolchain()
    asked = request_with(go)
    folder = folder_of(server_system, asked)
    left = folder.parent / f".{folder.name}.building-killed"
    left.mkdir(parents=True)
    find(server_system, asked)
    assert not left.exists()


def test_two_harnesses_do_not_build_at_once(server_system, toolchain, request_with):
    go, calls = toolchain(before="sleep 1.5")
    words = []
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(find(server_system, request_with(go, progress=words.append)))
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert len(calls.read_text().splitlines()) == 1
    assert any(one.startswith("waiting while another harness builds") for one in words)


def test_a_cache_that_cannot_be_written_is_told(server_system, toolchain, tmp_path):
    go, _ = toolchain()
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="BENCHBOOK_CACHE"):
        find(server_system, Request(go=go, cache=tmp_path / "file", environment={"PATH": "/bin"}))


def test_the_cache_folder_follows_the_environment(tmp_path):
    assert Request(environment={"BENCHBOOK_CACHE": str(tmp_path)}).cache_folder() == tmp_path
    assert Request(environment={"XDG_CACHE_HOME": "/x"}).cache_folder().as_posix() == "/x/benchbook"
    assert Request(environment={"XDG_CACHE_HOME": "relative"}).cache_folder().parts[-2:] == (
        ".cache",
        "benchbook",
    )
