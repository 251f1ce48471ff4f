"""Every timed answer is compared with an untimed one."""

from __future__ import annotations

from typing import Any

from benchbook.measure.answered import alike, compared, suspects


def seen(
    query: int, answers: int, numbers: int = 60, total: float = 10.0, exact: str = "7"
) -> dict[str, Any]:
    return {
        "id": query, "answers": answers, "numbers": numbers, "exact": exact, "sum": total, "size": abs(total),
    }  # fmt: skip


def test_sums_may_be_rounded_and_counts_and_texts_may_not() -> None:
    assert alike(seen(0, 1), seen(0, 1, total=10.000001))
    for other in (seen(0, 1, total=10.001), seen(0, 1, numbers=59), seen(0, 1, exact="8")):
        assert not alike(seen(0, 1), other)


def test_answers_that_are_not_as_checked_are_counted() -> None:
    checked = [seen(0, 1), seen(1, 1)]
    assert compared([seen(0, 5), seen(1, 4)], checked) == (9, 9)
    assert compared([seen(0, 5), seen(1, 4, numbers=0)], checked) == (9, 5)
    assert compared([seen(0, 2), seen(0, 3, numbers=-1), seen(1, 4)], checked) == (9, 6)


def test_an_answer_that_changes_is_seen_though_nothing_was_checked() -> None:
    assert compared([seen(5, 6), seen(5, 2, numbers=0), seen(6, 9)], []) == (8, 6)


def test_the_shortest_answers_are_checked_and_among_equals_the_last() -> None:
    timed = [seen(query, 1) for query in range(50)] + [seen(3, 1, numbers=0)]
    assert suspects(timed, 3) == (3, 49, 48)
