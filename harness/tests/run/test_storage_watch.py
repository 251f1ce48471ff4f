"""A trial ends when its storage dies, in any phase; a working storage disturbs no trial."""

import threading
import time

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.spawn import start
from benchbook.run import watchdog
from benchbook.run.watchdog import StorageWatch


class Storage:
    """A storage that dies on request."""

    def __init__(self):
        self.dead = threading.Event()
        self.abandoned = 0

    def check(self):
        if self.dead.is_set():
            raise TrialFailed("MinIO was ended by SIGKILL.")

    def abandon(self):
        self.abandoned += 1


class Client:
    """A client that waits forever unless it is asked to end."""

    def __init__(self, tmp_path, script):
        self.running = start(["sh", "-c", script], name="client", log=tmp_path / "log")
        self.cancelled = 0

    def processes(self):
        return self.running.tree()

    def cancel(self):
        self.cancelled += 1
        self.running.kill()


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(watchdog, "PROBE_SECONDS", 0.01)
    monkeypatch.setattr(watchdog, "REPORT_SECONDS", 0.1)
    monkeypatch.setattr(watchdog, "GRACE_SECONDS", 0.1)


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("trap 'exit 1' TERM; while :; do sleep 0.01; done", "exited with code 1"),
        ("trap '' TERM; while :; do sleep 0.01; done", "was ended by SIGKILL"),
    ],
    ids=["asked to end", "killed"],
)
def test_the_client_is_ended_when_the_storage_has_died(tmp_path, script, ending):
    storage, client = Storage(), Client(tmp_path, script)
    server = start(["sleep", "600"], name="server", log=tmp_path / "log")
    watch = StorageWatch(storage, client, server.tree)
    with pytest.raises(TrialFailed, match="SIGKILL"), watch.watched():  # noqa: PT012
        time.sleep(0.1)
        storage.dead.set()
        client.running.wait_ending(30.0)
    assert client.running.ending() == ending
    assert watch.failure == "MinIO was ended by SIGKILL."
    assert storage.abandoned
    for one in (client.running, server):
        one.stop(grace_seconds=0.0)


def test_what_waits_for_the_server_alone_is_ended_by_its_end(tmp_path):
    storage, client = Storage(), Client(tmp_path, "exit 0")
    server = start(["sleep", "600"], name="server", log=tmp_path / "log")
    with pytest.raises(TrialFailed, match="SIGKILL"), StorageWatch(storage, client, server.tree).watched():  # noqa: PT012
        storage.dead.set()
        server.wait_ending(30.0)
    assert server.ending() == "was ended by SIGKILL"
    for one in (client.running, server):
        one.stop(grace_seconds=0.0)


def test_a_trial_that_nobody_saw_fail_fails_of_its_dead_storage(tmp_path):
    storage, client = Storage(), Client(tmp_path, "exit 0")
    with pytest.raises(TrialFailed, match="SIGKILL"), StorageWatch(storage, client, list).watched():
        storage.dead.set()
    client.running.stop()


def test_a_storage_that_was_dead_for_a_while_fails_its_trial_too(tmp_path):
    storage, client = Storage(), Client(tmp_path, "exit 0")
    watch = StorageWatch(storage, client, list)
    with pytest.raises(TrialFailed, match="SIGKILL"), watch.watched():  # noqa: PT012
        storage.dead.set()
        while not watch.failure:
            time.sleep(0.01)
        storage.dead.clear()
    client.running.stop()


def test_a_storage_that_lives_disturbs_nobody(tmp_path):
    storage, client = Storage(), Client(tmp_path, "sleep 600")
    watch = StorageWatch(storage, client, list)
    with watch.watched():
        time.sleep(0.3)
    assert client.running.ending() is None
    assert (watch.failure, storage.abandoned, client.cancelled) == ("", 0, 0)
    client.running.stop(grace_seconds=0.0)
