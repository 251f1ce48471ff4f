from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.interval import CUTOFFS, mad

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=20)


def test_one_far_value_is_marked_and_kept() -> None:
    assert mad([10.0, 10.2, 9.9, 10.1, 14.0]) == [False, False, False, False, True]


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50])
def test_of_clean_samples_one_in_a_hundred_has_a_mark(count: int) -> None:
    samples = np.random.default_rng(count).normal(0, 1, (4000, count))
    distances = np.abs(samples - np.median(samples, axis=1, keepdims=True))
    cutoff = CUTOFFS[max(one for one in CUTOFFS if one <= count)]
    marked = (distances / (1.4826 * np.median(distances, axis=1, keepdims=True)) > cutoff).any(axis=1)
    assert 0.004 <= float(marked.mean()) <= 0.018
    assert [any(mad(row)) for row in samples[:200].tolist()] == marked[:200].tolist()


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
