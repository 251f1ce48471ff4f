"""The events of a recorder add up."""

import itertools

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from benchbook.measure.rate import per_second
from benchbook.workers import recorder as module
from benchbook.workers.recorder import Recorder


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that changes only when it is set, in ns."""
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


def test_what_ends_after_the_window_is_counted_and_in_no_rate(clock):
    events = []
    recorder = Recorder(events.append, "write", window_seconds=1.5)
    for number in range(1, 11):
        assert recorder.over() == (clock[0] > 1.5e9)
        clock[0] = number * 200_000_000
        recorder.done(clock[0] - 200_000_000, clock[0], rows=10)
    clock[0] = 2_100_000_000
    summary = recorder.stop()
    assert (summary["operations"], summary["rows"]) == (10, 100)
    assert (summary["drained_operations"], summary["drained_rows"]) == (3, 30)
    assert (summary["window_ns"], summary["duration_ns"]) == (1_500_000_000, 2_100_000_000)
    assert summary["rows_per_second"] == pytest.approx(70 / 1.5)
    intervals = [one for one in events if one["type"] == "interval"]
    assert [(one["start_ns"], one["duration_ns"], one["operations"]) for one in intervals] == [
        (0, 10**9, 5),
        (10**9, 5 * 10**8, 2),
        (15 * 10**8, 6 * 10**8, 3),
    ]
    assert [one.get("drain", False) for one in intervals] == [False, False, True]


def test_work_that_ends_before_its_window_has_rates_over_its_own_time(clock):
    recorder = Recorder(lambda _: None, "delete", window_seconds=10)
    clock[0] = 10**9
    recorder.done(0, clock[0])
    summary = recorder.stop()
    assert summary["window_ns"] == 10**9
    assert summary["operations_per_second"] == 1
    assert "drained_operations" not in summary


def test_without_a_window_nothing_is_said_of_one(clock):
    events = []
    recorder = Recorder(events.append, "query")
    clock[0] = 10**9
    recorder.done(0, clock[0])
    assert not recorder.over()
    assert not {"window_ns", "drained_operations", "drained_rows"} & set(recorder.stop())
    assert not any("drain" in one for one in events)


@given(
    steps=st.lists(st.integers(1, 1_500_000_000), min_size=1, max_size=30),
    window=st.floats(0.001, 20),
)
def test_rates_and_intervals_agree_at_any_pace(steps, window):
    now, events = [0], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.time, "perf_counter_ns", lambda: now[0])
        recorder = Recorder(events.append, "write", window_seconds=window)
        for step in steps:
            now[0] += step
            recorder.done(now[0] - step, now[0], rows=3)
        summary = recorder.stop()
    in_time = sum(end <= round(window * 1e9) for end in itertools.accumulate(steps))
    assert summary["operations"] == len(steps)
    assert summary["operations"] - summary.get("drained_operations", 0) == in_time
    assert summary["rows_per_second"] == pytest.approx(3 * in_time * 1e9 / summary["window_ns"])
    assert per_second(summary, "rows") * summary["rows"] == pytest.approx(summary["rows_per_second"])
    intervals = [one for one in events if one["type"] == "interval"]
    assert sum(one["operations"] for one in intervals if not one.get("drain")) == in_time
    for one, after in itertools.pairwise(intervals):
        assert one["start_ns"] + one["duration_ns"] == after["start_ns"]
