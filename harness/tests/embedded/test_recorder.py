"""The events of a recorder add up."""

import pytest
from hdrh.histogram import HdrHistogram

from benchbook.embedded import recorder as module
from benchbook.embedded.recorder import Recorder


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands until it is set, in ns."""
    now = [0]
    monkeypatch.setattr(module.time, "perf_counter_ns", lambda: now[0])
    return now


def test_intervals_cover_the_time_without_gaps_and_add_up(clock):
    events = []
    recorder = Recorder(events.append, "write")
    for number in range(1, 26):
        clock[0] = number * 100_000_000
        recorder.done(clock[0] - 5_000_000, clock[0], rows=10, values=100, size=1000)
    summary = recorder.stop()
    intervals = [one for one in events if one["type"] == "interval"]
    assert [(one["index"], one["start_ns"], one["duration_ns"]) for one in intervals] == [
        (0, 0, 10**9),
        (1, 10**9, 10**9),
        (2, 2 * 10**9, 5 * 10**8),
    ]
    assert sum(one["operations"] for one in intervals) == summary["operations"] == 25
    assert sum(one["rows"] for one in intervals) == summary["rows"] == 250
    assert summary["rows_per_second"] == 100.0
    counts = [HdrHistogram.decode(one["histogram"]).get_total_count() for one in intervals]
    assert counts == [10, 10, 5]


def test_the_whole_histogram_has_every_latency_to_three_digits(clock):
    events = []
    recorder = Recorder(events.append, "query")
    for latency in (1_000, 2_000_000, 3_000_000_000):
        recorder.done(0, latency)
    recorder.stop()
    (one,) = [one for one in events if one["type"] == "histogram"]
    assert (one["operation"], one["kind"], one["unit"], one["count"]) == ("query", "service", "ns", 3)
    assert (one["min_ns"], one["max_ns"]) == (1_000, 3_000_000_000)
    decoded = HdrHistogram.decode(one["encoded"])
    assert decoded.get_value_at_percentile(50) == pytest.approx(2_000_000, rel=1e-3)
    assert decoded.get_max_value() == pytest.approx(3_000_000_000, rel=1e-3)


def test_latencies_out_of_range_are_counted_at_its_border(clock):
    recorder = Recorder(lambda _: None, "query")
    recorder.done(5, 5)
    recorder.done(0, 10**14)
    assert recorder.stop()["operations"] == 2


def test_failures_with_the_same_words_are_one_event(clock):
    events = []
    recorder = Recorder(events.append, "write")
    for _ in range(3):
        recorder.failed("refused", "disk is full", rows=7)
    recorder.failed("timeout", "interrupted")
    summary = recorder.stop()
    errors = [one for one in events if one["type"] == "error"]
    assert [(one["kind"], one["message"], one["operations"], one["rows"]) for one in errors] == [
        ("refused", "disk is full", 3, 21),
        ("timeout", "interrupted", 1, 0),
    ]
    assert (summary["errors"], summary["rows_refused"], summary["operations"]) == (4, 21, 0)


def test_ever_new_words_fill_no_memory(clock):
    events = []
    recorder = Recorder(events.append, "write")
    for number in range(500):
        recorder.failed("refused", f"error {number}")
    recorder.stop()
    errors = [one for one in events if one["type"] == "error"]
    assert len(errors) == 101
    assert sum(one["operations"] for one in errors) == 500
