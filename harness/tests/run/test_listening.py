import os
import socket
import sys
from types import SimpleNamespace

import pytest

from benchbook.errors import TrialFailed
from benchbook.process import network, spawn
from benchbook.process.network import beyond_loopback, require_measured, require_reason


def test_loopback_and_the_host_that_was_told_are_allowed_and_nothing_else():
    with socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)) as open_to_all:
        port = open_to_all.getsockname()[1]
        assert beyond_loopback([os.getpid()], "127.0.0.1") == [f"0.0.0.0:{port}"]
        assert beyond_loopback([os.getpid()], "0.0.0.0") == []
    assert beyond_loopback([os.getpid(), 2**22 + 1], "127.0.0.1") == []


def test_a_system_open_to_others_fails_its_trial_unless_it_declares_why():
    system = SimpleNamespace(name="a-system", listens_beyond=None)
    require_reason(system, [])
    with pytest.raises(TrialFailed, match=r"a-system listens on 0\.0\.0\.0:9.*systems/a-system\.toml"):
        require_reason(system, ["0.0.0.0:9"])
    system.listens_beyond = "it has no setting for that"
    require_reason(system, ["0.0.0.0:9"])


LISTEN = """
import os, socket, sys, time
held = socket.create_server(("127.0.0.1", 0))
{fork}
print(held.getsockname()[1], flush=True)
time.sleep(60)
"""


@pytest.fixture
def listening(tmp_path):
    """Start a program that listens, after ``fork``; return it with its address."""
    made = []

    def make(fork=""):
        command = [sys.executable, "-c", LISTEN.format(fork=fork)]
        one = spawn.start(command, name="the server", log=tmp_path / "log", pipes=True)
        made.append(one)
        return one, f"http://127.0.0.1:{int(next(one.lines()))}"

    yield make
    for one in made:
        one.stop()


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who listens")


@needs_linux
@pytest.mark.parametrize("fork", ["", "if os.fork(): held.close(); time.sleep(60)"])
def test_a_server_that_listens_itself_or_in_a_child_is_measured(listening, fork):
    one, url = listening(fork)
    require_measured("a-system", url, one.tree)


@needs_linux
def test_a_server_in_a_daemon_that_the_harness_adopts_is_measured(listening):
    """The daemon is in the tree, so its processor time and memory are in the telemetry."""
    one, url = listening("if os.fork(): held.close(); time.sleep(60)\nos.setsid()\nif os.fork(): os._exit(0)")
    require_measured("a-system", url, one.tree)
    assert len(one.tree()) > 1


@needs_linux
def test_a_server_that_another_process_serves_fails_its_trial(listening, monkeypatch):
    monkeypatch.setattr(network, "LISTENER_SECONDS", 0.1)
    _, url = listening()
    other, _ = listening()
    with pytest.raises(
        TrialFailed, match=r"a-system did not start, or that left it, listens on port \d+: 'python"
    ):
        require_measured("a-system", url, other.tree)
    with pytest.raises(TrialFailed, match="would not be measured"):
        require_measured("a-system", url, list)


@needs_linux
def test_a_server_that_a_supervisor_starts_again_is_another_one(listening):
    """The first process stays; the server that it starts listens on a new socket."""
    one, url = listening()
    supervisor = [os.getpid()]
    before = network.instance(url, supervisor)
    assert network.instance(url, supervisor) == before
    one.stop()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", int(url.rpartition(":")[2])))
        again.listen()
        assert network.instance(url, supervisor) != before


@needs_linux
def test_an_embedded_system_in_another_process_is_another_one(listening):
    (one, _), (other, _) = listening(), listening()
    assert network.instance("", one.tree()) == network.instance("", one.tree())
    assert network.instance("", one.tree()) != network.instance("", other.tree())


def test_what_nobody_listens_on_or_what_has_no_port_is_accepted(listening):
    one, _ = listening()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        require_measured("a-system", f"http://127.0.0.1:{closed.getsockname()[1]}", one.tree)
    require_measured("a-system", "", one.tree)
