"""The steady rate uses whole seconds in which every client wrote."""

from __future__ import annotations

from typing import Any

import pytest

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


SECOND = 10**9


def rounds(first_answer: int, answers: dict[int, int], last: float, end: int = 20) -> list[dict[str, Any]]:
    """A load by time of ``end`` seconds: ``answers`` of each second, of 100 rows; those after the end are the drain."""
    made = []
    for second in range(end + 1):
        length = SECOND if second < end else round((last - end) * SECOND)
        count = answers.get(second, 0) if second >= first_answer else 0
        made.append(
            {
                "operation": "write", "start_ns": second * SECOND, "duration_ns": length, "drain": second >= end,
                "operations": count, "rows": 100 * count, "values": 1000 * count,
            }
        )  # fmt: skip
    return made


def test_a_steady_load_by_time_counts_from_its_start_to_its_last_answer() -> None:
    # 10 writes in flight; a round of them takes 4.2 s, and the sixth round ends after the 20 s. 60 answers in 25.2 s.
    intervals = rounds(4, {4: 10, 8: 10, 12: 10, 16: 10, 20: 20}, last=25.2)
    found = {one.metric: one.value for one in measurements("load", intervals, in_flight=10, by_time=True)}
    assert found["steady_rows_per_second"] == pytest.approx(6000 / 25.2)
    assert found["steady_values_per_second_acknowledged"] == pytest.approx(60000 / 25.2)
    assert found["steady_from_seconds"] == 0
    assert found["steady_seconds"] == pytest.approx(25.2)


def test_the_time_until_each_write_in_flight_was_answered_is_not_steady() -> None:
    # A dataset is loaded, and the load ends with it: the first 3 s have no answers, although the server works.
    intervals = seconds(0, 0, 0, *[100] * 12)
    for one in intervals:
        one["operations"] = one["rows"] // 25
    found = {one.metric: one.value for one in measurements("load", intervals, in_flight=4)}
    assert found["steady_rows_per_second"] == 100
    assert found["steady_from_seconds"] == 3


def test_a_load_by_time_that_warms_up_leaves_out_its_last_answers() -> None:
    intervals = rounds(0, {0: 2, 1: 4, 2: 6, **dict.fromkeys(range(3, 20), 10), 20: 9}, last=20.5)
    found = {one.metric: one.value for one in measurements("load", intervals, in_flight=2, by_time=True)}
    assert found["steady_rows_per_second"] == 1000
    assert found["steady_from_seconds"] == 3
    assert found["steady_seconds"] == 17


def test_failed_writes_are_answers_too() -> None:
    intervals = seconds(*[100] * 12)
    for one in intervals:
        one |= {"operations": 0, "errors": 4}
    assert {one.metric for one in measurements("load", intervals, in_flight=4)} >= {STEADY_FROM}
    assert measurements("load", intervals, in_flight=40) == []
