"""Metrics of a load count acknowledged rows over the acknowledged time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.measure.measurement import Measurement
from benchbook.run.findings import Findings
from benchbook.systems.driver import DatasetRequest
from benchbook.workloads.load import LoadOptions, expected, measurements, none_in_time, request, sent


def test_rates_count_what_was_acknowledged() -> None:
    summary = {"duration_ns": 2_000_000_000, "rows": 750, "values": 7500, "rows_refused": 250, "retries": 3}
    found = {one.metric: (one.value, one.unit) for one in measurements("load", summary, 0.5, 100_000)}
    assert found["rows_per_second"] == (375.0, "1/s")
    assert found["values_per_second"] == (3750.0, "1/s")
    assert found["bytes_per_second"] == (37_500.0, "B/s")
    assert found["acknowledged_seconds"] == (2.0, "s")
    assert found["settled_seconds"] == (2.5, "s")
    assert found["rows_refused"] == (250.0, "1")
    assert found["retries"] == (3.0, "1")


def test_a_load_that_continues_or_has_a_pace_has_the_rates_of_its_duration() -> None:
    summary = {
        "duration_ns": 5 * 10**9, "window_ns": 2 * 10**9, "rows": 750, "values": 7500, "drained_rows": 350,
        "drained_operations": 7, "operations": 15,
    }  # fmt: skip
    rates = [
        {one.metric: one.value for one in measurements("load", summary, 0, 1, window=window)}[
            "rows_per_second"
        ]
        for window in (False, True)
    ]
    assert rates == [150, pytest.approx(200)]


def test_nothing_acknowledged_is_a_rate_of_zero() -> None:
    found = {
        one.metric: one.value
        for one in measurements("load", {"duration_ns": 0, "rows": 0, "values": 0}, 0, 1)
    }
    assert found["rows_per_second"] == 0


def test_a_load_whose_first_write_outlasts_its_time_has_no_rates() -> None:
    late = {"rows": 59_000, "drained_rows": 59_000, "window_ns": 5 * 10**9, "duration_ns": 16 * 10**9}
    assert none_in_time(late)
    assert not none_in_time({**late, "drained_rows": 58_000})
    assert not none_in_time({**late, "rows": 0, "drained_rows": 0})  # nothing at all was acknowledged
    found = Findings([Measurement("load", "rows_per_second", 0), Measurement("load", "rows", 59_000)])
    found.measurements.append(Measurement("ask", "queries_per_second", 0))
    found.leave_out_rates("load", "the first write took longer")
    assert [(one.phase, one.metric) for one in found.measurements] == [
        ("load", "rows"),
        ("ask", "queries_per_second"),
    ]
    assert found.unmeasured == {"rows_per_second of load": "the first write took longer"}


def test_a_row_counts_when_it_is_found_afterwards() -> None:
    summary = {"duration_ns": 1_000_000_000, "rows": 1000, "values": 10_000}
    found = {one.metric: one.value for one in measurements("load", summary, 0, 100_000, found=0.5)}
    assert found["rows"] == 1000
    assert found["rows_found"] == 500
    assert found["rows_per_second"] == 500
    assert found["bytes_per_second"] == 50_000
    assert found["rows_per_second_attempted"] == 1000


def test_refused_rows_are_in_the_attempted_rate_alone() -> None:
    summary = {"duration_ns": 2_000_000_000, "rows": 750, "values": 7500, "rows_refused": 250}
    found = {one.metric: one.value for one in measurements("load", summary, 0, 1)}
    assert found["rows_per_second"] == 375
    assert found["rows_per_second_attempted"] == 500


def test_refusals_are_expected_by_their_words() -> None:
    options = LoadOptions(expects=["cache-max-memory-size exceeded", "timeout"])
    refused = {"status": 500, "message": "engine: cache-max-memory-size exceeded: (…/1073741824)"}
    assert expected(options, refused)
    assert not expected(LoadOptions(), refused)
    assert not expected(options, {"status": 500, "message": "shard closed"})
    assert expected(options, {"status": 500, "message": "timeout"})
    # A failure that the client reports, not the server, is never expected.
    assert not expected(options, {"status": 0, "message": "no complete answer within --timeout"})


def test_a_load_goes_on_after_refusals_only_where_it_expects_some() -> None:
    dataset = DatasetRequest("iot", (), {})
    assert request(LoadOptions(expects=["full"], retries=0), dataset).keep_going
    assert not request(LoadOptions(), dataset).keep_going


@given(
    clients=st.integers(1, 5),
    rows=st.integers(1, 10**6),
    refused=st.integers(0, 10**6),
    of=st.integers(1, 10**6),
)
def test_bytes_sent_follow_the_rows_of_a_load_with_a_duration(
    clients: int, rows: int, refused: int, of: int
) -> None:
    summary, digest = {"rows": rows, "rows_refused": refused}, {"rows": of, "bytes": 100 * of}
    assert sent(LoadOptions(clients=clients), summary, digest, "bytes") == 100 * of * clients
    lasting = LoadOptions(clients=clients, duration="1s")
    assert sent(lasting, summary, digest, "bytes") == 100 * (rows + refused)


def test_a_load_with_a_duration_is_whole_where_its_dataset_is_read_later() -> None:
    dataset = DatasetRequest("iot", (), {})
    lasting = request(LoadOptions(duration="1m30s"), dataset, read_later=True)
    assert (lasting.lasts_seconds, lasting.whole) == (90, True)
    assert not request(LoadOptions(duration="20s"), dataset).whole
    once = request(LoadOptions(), dataset, read_later=True)
    assert (once.lasts_seconds, once.whole) == (None, False)
