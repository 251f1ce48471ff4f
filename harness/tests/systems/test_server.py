"""The base class of server drivers, tested with the smallest driver: a script that does not listen."""

from __future__ import annotations

import signal
import socket
from typing import ClassVar

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.server import DatabaseServer, Layout, Server, check_settings, settings_text

SERVER = "trap 'echo stopping; exit 0' TERM; echo started; while :; do sleep 0.05; done"


class Small(Server):
    target = "small"
    ports = ("client", "peer")
    reserved = ("port",)
    harness_settings = ("heap",)

    def files(self, at: Layout) -> dict[str, str]:
        lines = {"port": at.ports["client"], "peer": at.address("peer"), "data": at.data, **self.settings}
        return {"small.conf": settings_text(lines)}

    def command(self):
        return [self.program, self.place.config / "small.conf"]

    def environment(self):
        return {"SMALL": "yes"}

    def answers(self) -> bool:
        return "started" in self.log.read_text()


class Databases(DatabaseServer):
    held: ClassVar[dict[str, list[str]]] = {}
    done: ClassVar[list[str]] = []

    def files(self, at: Layout) -> dict[str, str]:
        return {}

    def databases(self):
        return list(self.held)

    def tables(self, database):
        return self.held[database]

    def create(self, database):
        self.done.append(f"create {database}")

    def reuse(self, database):
        self.done.append(f"reuse {database}")

    def drop(self, database):
        self.done.append(f"drop {database}")
        raise TrialFailed("gone")

    def drop_command(self, database):
        return f"small drop {database}"

    def count_in(self, database):
        return {database: TableCount(1)}


@pytest.fixture
def small(place):
    def make(script=SERVER, **settings):
        return Small(place("small", script=script, settings=settings))

    return make


def test_the_file_has_the_trials_ports_and_folders_and_what_is_returned_has_none(small, tmp_path):
    one = small(cache=True, heap="2g")
    shown = one.configure()
    assert shown == {"small.conf": "cache = true\ndata = {data}\npeer = {peer}\nport = {client}\n"}
    written = (tmp_path / "config" / "small.conf").read_text().splitlines()
    assert f"data = {tmp_path}/data" in written
    assert f"port = {one.url.rpartition(':')[2]}" in written
    assert any(line.startswith("peer = 127.0.0.1:") for line in written)
    assert one.url.startswith("http://127.0.0.1:")


def test_the_digest_of_a_configuration_is_that_of_the_next_trial(small):
    assert small(cache=1).configure() == small(cache=1).configure()


def test_what_the_harness_sets_is_refused(small):
    with pytest.raises(
        TrialFailed, match=r'The configuration \(arm\) vanilla sets "port", which the harness sets'
    ):
        small(port=1).configure()


def test_a_server_is_started_with_its_files_and_stopped_by_its_signal(small, tmp_path):
    one = small("echo $SMALL $1; " + SERVER)
    one.configure()
    for times in (1, 2):  # as for a cold cache
        one.start()
        while not one.ready() or one.log.read_text().count("started") < times:  # the trap is then set
            pass
        assert one.processes()
        one.stop()
        assert one.processes() == []
    # The shell may report the end of its job between the two lines.
    said = [line for line in one.log.read_text().splitlines() if line != "Terminated"]
    assert said[:3] == [f"yes {tmp_path}/config/small.conf", "started", "stopping"]
    assert list((tmp_path / "processes").iterdir()) == []


def test_a_busy_port_is_told_before_the_start(small):
    one = small()
    one.configure()
    port = int(one.url.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)), pytest.raises(TrialFailed, match="Cannot listen on"):
        one.start()
    assert one.processes() == []


def test_a_server_that_dies_is_told_with_its_last_words(small):
    one = small("echo no space left >&2; exit 3")
    one.configure()
    one.start()
    one._started.wait_ending(5.0)
    with pytest.raises(TrialFailed, match=r"small exited with code 3\. The end of its log: no space left"):
        one.ready()
    with pytest.raises(TrialFailed, match="no space left"):
        one.http.text("/x")
    one.stop()


def test_a_server_that_ignores_its_signal_is_killed(small, monkeypatch):
    monkeypatch.setattr(Small, "stop_seconds", 0.1)
    monkeypatch.setattr(Small, "stop_signal", signal.SIGINT)
    one = small("trap '' INT; echo started; while :; do sleep 0.05; done")
    one.configure()
    one.start()
    while not one.ready():
        pass
    one.stop()
    assert one.processes() == []


def test_an_external_server_is_not_configured_started_or_measured(place):
    one = Small(place("small", url="http://db:1"))
    assert one.external
    assert one.configure() == {}
    one.start()
    assert one.processes() == []
    assert one.size() == {}
    assert one.url == "http://db:1"
    one.stop()


def test_what_does_not_settle_in_time_is_told_with_the_reason(small, monkeypatch):
    monkeypatch.setattr(Small, "settle_seconds", 0.05)
    with pytest.raises(TrialFailed, match="small did not settle within 0 s: merges still run"):
        small().wait_settled(lambda: False, "merges still run", pause=0.01)
    count = iter(range(10_000))
    with pytest.raises(TrialFailed, match="did not settle within 0 s: its files are still changing"):
        small().wait_unchanged(lambda: next(count), 5.0)


def test_the_time_that_files_only_rested_is_no_settling(small):
    one = small()
    one.wait_unchanged(lambda: 1, 0.01)
    assert one.watched_seconds == 0.01


@pytest.fixture
def databases(place, monkeypatch):
    monkeypatch.setattr(Databases, "held", {"old": [], "full": ["cpu", "mem"]})
    monkeypatch.setattr(Databases, "done", [])

    def make(*names):
        return Databases(place("small", url="http://db:1", databases=names))

    return make


def test_missing_databases_are_made_and_only_they_are_dropped(databases):
    one = databases("old", "new")
    one.prepare()
    assert one.done == ["reuse old", "create new"]
    one.stop()
    one.stop()
    assert one.done[2:] == ["drop new"]


def test_a_database_with_tables_is_refused_with_the_command_that_drops_it(databases):
    one = databases("full")
    with pytest.raises(
        TrialFailed, match='already holds data: the database "full" contains cpu, mem'
    ) as caught:
        one.prepare()
    assert caught.value.hint == "Check that you do not need it, then remove it with: small drop full."
    one.stop()
    assert one.done == []


def test_the_first_database_is_counted(databases):
    assert databases("old", "new").count() == {"old": TableCount(1)}


def test_an_unknown_setting_names_the_nearest():
    check_settings({"cache": 1}, ["cache"], "Small")
    with pytest.raises(TrialFailed, match='Small has no setting "cahce"') as caught:
        check_settings({"cahce": 1}, ["cache"], "Small")
    assert caught.value.hint == 'Did you mean "cache"?'
