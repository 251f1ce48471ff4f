"""The steady rate uses whole seconds in which every client wrote."""

from __future__ import annotations

from typing import Any

from benchbook.measure.steady import STEADY_FROM, measurements, whole_intervals


def seconds(*rates: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "operation": "write", "start_ns": place * 10**9, "duration_ns": 10**9,
            "rows": rate, "values": 10 * rate, **more,
        }
        for place, rate in enumerate(rates)
    ]  # fmt: skip


def test_the_warm_up_and_the_rest_of_a_second_are_left_out() -> None:
    intervals = seconds(10, 20, 50, *[100] * 12)
    intervals.append(
        {"operation": "write", "start_ns": 15 * 10**9, "duration_ns": 10**8, "rows": 1, "values": 1}
    )
    found = {one.metric: one.value for one in measurements("load", intervals)}
    assert found["steady_rows_per_second"] == 100
    assert found["steady_values_per_second"] == 1000
    assert found["steady_from_seconds"] == 3
    assert found["steady_seconds"] == 12


def test_seconds_in_which_a_client_had_ended_are_left_out() -> None:
    assert whole_intervals(seconds(1, 2, whole=False)) == []
    assert len(whole_intervals(seconds(1, 2, whole=True))) == 2


def test_a_load_that_never_rests_has_the_rate_of_its_second_half() -> None:
    found = {one.metric: one.value for one in measurements("load", seconds(*range(100, 30, -3)))}
    assert found["steady_rows_per_second"] == 47.5
    assert found["steady_values_per_second_acknowledged"] == 475
    assert STEADY_FROM not in found
    assert "steady_seconds" not in found


def test_a_load_of_a_few_seconds_has_no_steady_rate() -> None:
    assert measurements("load", seconds(100, 100, 100)) == []
    assert measurements("load", seconds(*range(100, 55, -3))) == []


def test_only_rows_that_are_found_count() -> None:
    found = {one.metric: one.value for one in measurements("load", seconds(*[100] * 10), found=0.5)}
    assert found["steady_rows_per_second"] == 50
