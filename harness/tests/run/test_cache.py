"""The cache state of a trial, from those of its phases."""

from types import SimpleNamespace

import pytest

from benchbook.measure.measurement import Measurement
from benchbook.run import steps
from benchbook.run.findings import Timeline


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ({}, "warm"),
        ({"q": "warm"}, "warm"),
        ({"q": "cold"}, "cold"),
        ({"q": "warm", "r": "cold"}, "cold"),
        ({"q": "lukewarm"}, "lukewarm"),
        ({"q": "cold", "r": "lukewarm"}, "lukewarm"),
    ],
)
def test_a_trial_is_cold_where_all_that_asked_for_it_had_it(states, found):
    assert steps.trial_state(states) == found


def test_a_warm_phase_after_a_cold_one_does_not_make_the_trial_lukewarm():
    states = {"first": "cold", "hot": "lukewarm"}
    assert steps.trial_state(states, {"first"}) == "cold"
    assert steps.trial_state({**states, "second": "lukewarm"}, {"first", "second"}) == "lukewarm"


def read(phase, value, metric="server_read_bytes"):
    return Measurement(phase, metric, value)


@pytest.mark.parametrize(
    ("measured", "found"),
    [
        ([read("q", 0.0)], "lukewarm"),
        ([read("q", 4096.0)], "cold"),
        ([read("q", 0.0), read(steps.DROP_CACHES, 4096.0)], "cold"),
        ([read("q", 0.0), read("q", 512.0, "storage_bucket_read_bytes")], "cold"),
        ([read("other", 0.0)], "cold"),
        ([read(steps.DROP_CACHES, 4096.0), read("q", 0.0, "data_cached_bytes")], "lukewarm"),
        ([read(steps.DROP_CACHES, 4096.0), read("q", 512.0, "data_cached_bytes")], "cold"),
        ([read("q", 0.0, "data_cached_bytes")], "lukewarm"),
    ],
)
def test_cold_is_seen_by_the_bytes_that_were_read_since_the_stop(measured, found):
    assert steps.confirmed({"q": "cold", "w": "warm"}, measured) == {"q": found, "w": "warm"}


class Restarting:
    """A system whose server may be another one than before."""

    def __init__(self) -> None:
        self.url, self.server = "http://127.0.0.1:1", 1

    def prepare(self) -> None:
        pass

    def processes(self) -> list[int]:
        return [self.server]


@pytest.mark.parametrize("restarts", [True, False])
def test_a_server_that_was_started_again_between_phases_is_not_warm(monkeypatch, restarts):
    monkeypatch.setattr(steps.network, "instance", lambda _, pids: tuple(map(str, pids)))
    driver, states = Restarting(), []

    def phase(_made, name, _options):
        states.append(_made.warmth())
        if restarts and name == "b":
            driver.server += 1

    monkeypatch.setattr(steps, "workload", lambda _: SimpleNamespace(run=phase, after=lambda *_: None))
    planned = [
        SimpleNamespace(name=name, workload="query", done_at=lambda _: True, replaced=lambda _: None)
        for name in "abc"
    ]
    made = steps.Steps(
        context=SimpleNamespace(plan=SimpleNamespace(phases=planned), dataset=lambda _: (None, None)),
        planned=SimpleNamespace(levels={}), timeline=Timeline(), findings=None, driver=driver, client=None,
        events=None, folder=None, storage=SimpleNamespace(check=lambda: None), data=None, restart=None,
    )  # fmt: skip
    made.all()
    assert states == ["warm", "warm", "lukewarm" if restarts else "warm"]
