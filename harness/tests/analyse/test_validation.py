"""The majority of systems decides which answers differ, arm by arm; without a majority it is undecided."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.answers import Answer, Validated, validate

RIGHT = ((1, "host_0", 5.0), (2, "host_0", 7.5))
WRONG = ((1, "host_0", 5.0), (2, "host_0", 8.5))


def answer(system: str, rows: tuple[tuple[object, ...], ...], query: str = "0", **more: str) -> Answer:
    trial, arm = more.get("trial", "r/0000"), more.get("arm", "vanilla")
    return Answer(system, trial, "groupby", query, ("time_ns", "host", "value"), rows, arm)  # type: ignore[arg-type]


def by_system(*answers: Answer) -> dict[tuple[str, str], Validated]:
    return {(one.system, one.arm): one for one in validate(answers)}


def test_the_one_that_differs_from_most_is_named_with_the_place():
    found = by_system(answer("a", RIGHT), answer("b", WRONG), answer("c", RIGHT))
    assert {system for (system, _), one in found.items() if one.ok} == {"a", "c"}
    b = found["b", "vanilla"]
    assert (b.queries, b.same, b.differing, b.undecided) == (1, 0, 1, 0)
    assert b.example is not None
    assert (b.example.row, b.example.a, b.example.b) == ({"time_ns": 2, "host": "host_0"}, 7.5, 8.5)


def test_two_that_differ_leave_it_undecided():
    for one in by_system(answer("a", RIGHT), answer("b", WRONG)).values():
        assert (one.ok, one.undecided, one.differing, one.example) == (False, 1, 0, None)


def test_a_query_without_an_answer_is_counted_for_the_system_that_gave_none():
    found = by_system(
        answer("a", RIGHT), answer("b", RIGHT), answer("c", RIGHT, "1"), answer("a", RIGHT, "1")
    )
    assert (found["b", "vanilla"].unanswered, found["c", "vanilla"].unanswered) == (1, 1)
    assert found["a", "vanilla"].ok


def test_one_wrong_trial_is_enough():
    found = by_system(
        answer("a", RIGHT), answer("c", RIGHT), answer("b", RIGHT), answer("b", WRONG, trial="r/0007")
    )
    assert found["b", "vanilla"].differing == 1
    assert found["b", "vanilla"].example is not None
    assert found["b", "vanilla"].example.b == 8.5


def test_an_arm_that_lost_rows_is_judged_alone():
    found = by_system(answer("a", RIGHT), answer("b", RIGHT, arm="published"), answer("b", RIGHT[:1]))
    assert found["a", "vanilla"].ok
    assert found["b", "published"].ok
    assert found["b", "vanilla"].differing == 1


def test_many_arms_of_one_system_are_no_majority():
    arms = [answer("b", WRONG, arm=str(number)) for number in range(5)]
    found = by_system(answer("a", RIGHT), answer("c", RIGHT), *arms)
    assert found["a", "vanilla"].ok
    assert all(found["b", str(number)].differing for number in range(5))


@given(st.lists(st.sampled_from([RIGHT, WRONG]), min_size=2, max_size=7))
def test_every_query_of_every_system_is_counted_once(given: list[tuple[tuple[object, ...], ...]]):
    found = validate([answer(f"s{number}", rows) for number, rows in enumerate(given)])
    assert len(found) == len(given)
    for one in found:
        assert one.queries == one.same + one.differing + one.unanswered + one.undecided == 1
    rights = given.count(RIGHT)
    decided = 2 * max(rights, len(given) - rights) > len(given)
    assert all(bool(one.undecided) != decided for one in found)
