"""InfluxDB 1.x is settled when its caches are flushed and no compaction runs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems import influxdb1
from benchbook.systems.influxdb1 import settle


def counters(cache: int = 0, **engine: int) -> list[dict[str, Any]]:
    tags = {"database": "benchbook", "retentionPolicy": "autogen", "id": "1"}
    return [
        {"name": "tsm1_cache", "tags": tags, "values": {"memBytes": cache}},
        {"name": "tsm1_engine", "tags": tags, "values": engine},
    ]


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(influxdb1, "PLANNER_SECONDS", 0.1)
    monkeypatch.setattr(influxdb1, "STALE_SECONDS", 0.6)
    monkeypatch.setattr(influxdb1, "SETTLE_SECONDS", 60.0)


def test_caches_are_written_out_until_they_hold_nothing(hurried):
    held = [300, 200]
    settle(lambda: counters(held[-1] if held else 0), held.pop)
    assert held == []


def test_what_a_server_elsewhere_holds_is_left(hurried):
    settle(lambda: counters(300), None)


def test_a_counter_of_waiting_ones_that_was_left_behind_is_not_waited_for(hurried):
    watched = settle(lambda: counters(tsmLevel1CompactionQueue=1, tsmLevel1Compactions=7), None)
    assert watched > 0.6


def test_waiting_ones_that_are_begun_are_waited_for(hurried):
    done = itertools.chain(range(12), itertools.repeat(12))

    def statistics() -> list[dict[str, Any]]:
        so_far = next(done)
        return counters(tsmLevel1CompactionQueue=12 - so_far, tsmLevel1Compactions=so_far)

    settle(statistics, None)
    assert next(done) == 12


def test_a_compaction_that_runs_for_ever_fails_the_trial(hurried, monkeypatch):
    monkeypatch.setattr(influxdb1, "SETTLE_SECONDS", 2.0)
    with pytest.raises(TrialFailed, match="1 compactions run and 2 wait"):
        settle(lambda: counters(tsmFullCompactionsActive=1, tsmLevel1CompactionQueue=2), None)
