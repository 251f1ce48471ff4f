from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.interval import mad

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=20)


def test_one_far_value_is_marked_and_kept() -> None:
    assert mad([10.0, 10.2, 9.9, 10.1, 14.0]) == [False, False, False, False, True]


def test_where_most_are_equal_the_other_is_marked() -> None:
    assert mad([5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0]) == [False] * 6 + [True]


def test_equal_values_and_few_values_have_none() -> None:
    assert mad([3.0] * 5) == [False] * 5
    assert mad([1.0, 100.0]) == [False, False]
    assert mad([]) == []


@given(VALUES)
def test_every_value_has_a_mark_and_most_are_clean(values: list[float]) -> None:
    marks = mad(values)
    assert len(marks) == len(values)
    assert sum(marks) <= len(values) / 2
