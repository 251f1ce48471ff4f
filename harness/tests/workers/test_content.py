"""Answers to questions in SQL, whose rows are sorted before they are compared."""

from __future__ import annotations

import math

from benchbook.workers.content import _exact_first


def test_the_last_digit_of_a_float_moves_no_row() -> None:
    one = [(2.0, "z"), (3.5, "a")]
    other = [(1.9999999999, "z"), (3.5, "a")]
    assert [row[1] for row in sorted(one, key=_exact_first)] == [
        row[1] for row in sorted(other, key=_exact_first)
    ]
    assert _exact_first((2**53 + 1, 1234567.0, 0.5)) == ([(0, 2**53 + 1), (0, 1234567)], [0.5])
    assert _exact_first((math.inf,)) == ([], [math.inf])
