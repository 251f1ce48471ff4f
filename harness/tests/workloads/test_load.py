"""Metrics of a load come from what was acknowledged, over the acknowledged time."""

from __future__ import annotations

from benchbook.workloads.load import measurements


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


def test_nothing_acknowledged_is_a_rate_of_zero() -> None:
    found = {
        one.metric: one.value
        for one in measurements("load", {"duration_ns": 0, "rows": 0, "values": 0}, 0, 1)
    }
    assert found["rows_per_second"] == 0
