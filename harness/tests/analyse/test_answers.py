from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.answers import Answer, compare, from_rows

COLUMNS = ("time_ns", "host", "max_usage_user")
ROW = st.tuples(st.integers(0, 2**62), st.sampled_from(["host_0", "host_1"]), st.floats(-1e9, 1e9))
ROWS = st.lists(ROW, min_size=1, max_size=6, unique_by=lambda row: row[:2]).map(tuple)


def answer(
    system: str, rows: tuple[tuple[object, ...], ...], query: str = "0", trial: str = "r/0000"
) -> Answer:
    return Answer(system, trial, "groupby", query, COLUMNS, rows)  # type: ignore[arg-type]


@given(ROWS, st.integers(), st.floats(-9e-10, 9e-10))
def test_the_order_of_rows_and_the_last_digits_of_floats_are_free(
    rows: tuple[tuple[int, str, float], ...], seed: int, off: float
) -> None:
    shuffled = [(time, host, value * (1 + off)) for time, host, value in rows]
    random.Random(seed).shuffle(shuffled)
    found = compare([answer("a", rows), answer("b", tuple(shuffled), trial="r/0001")])
    assert found.ok
    assert (found.queries, found.compared, found.differing) == (1, 1, 0)


@given(ROWS, st.data())
def test_any_other_value_is_found_and_named(
    rows: tuple[tuple[int, str, float], ...], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    time, host, value = rows[place]
    changed = (*rows[:place], (time, host, value + 1 + abs(value)), *rows[place + 1 :])
    found = compare([answer("a", rows), answer("b", changed, trial="r/0001")])
    assert not found.ok
    (difference,) = found.differences
    assert (difference.what, difference.column) == ("value", "max_usage_user")
    assert difference.row == {"time_ns": time, "host": host}
    assert (difference.a_system, difference.a, difference.b_system) == ("a", value, "b")
    assert (difference.a_system, difference.b_system) == ("a", "b")


@given(ROWS.filter(lambda rows: len(rows) > 1))
def test_a_missing_row_is_found(rows: tuple[tuple[int, str, float], ...]) -> None:
    found = compare([answer("a", rows), answer("b", rows[1:])])
    (difference,) = found.differences
    assert (difference.what, difference.a, difference.b) == ("row", list(rows[0]), None)


def test_tolerances_are_relative_or_absolute() -> None:
    a, b = answer("a", ((1, "h", 100.0), (2, "h", 0.0))), answer("b", ((1, "h", 100.05), (2, "h", 1e-7)))
    assert compare([a, b]).differing == 2
    assert compare([a, b], relative=1e-3).differing == 1
    assert compare([a, b], relative=1e-3, absolute=1e-6).ok


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (3, 3, True),
        (3, 3.0, True),
        (2**53, 2**53 + 1, False),
        (None, None, True),
        (None, 0.0, False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (float("inf"), float("inf"), True),
        ("a", "a", True),
        ("1", 1, False),
        (True, 1, True),
        (True, "true", False),
    ],
)
def test_values_that_are_the_same(one: object, two: object, same: bool) -> None:
    assert compare([answer("a", ((1, "h", one),)), answer("b", ((1, "h", two),))]).ok is same


def test_columns_must_have_the_same_names() -> None:
    a = answer("a", ((1, "h", 2.0),))
    found = compare([a, replace(answer("b", a.rows), columns=("time_ns", "host", "mean_usage_user"))])
    assert found.differences[0].what == "columns"
    assert found.differences[0].b == ["time_ns", "host", "mean_usage_user"]


def test_trials_of_one_system_are_compared_too() -> None:
    a = answer("a", ((1, "h", 2.0),))
    assert compare([a, replace(a, trial_id="r/0001", rows=((1, "h", 3.0),))]).differing == 1


def test_floats_that_one_system_prints_without_a_point_agree_within_the_tolerance() -> None:
    [one, other] = [((5, "h", value),) for value in (2305754051270759000, 2305754051270759200)]
    printed = [answer("a", one), answer("a", other, trial="r/0001")]
    assert compare([*printed, answer("b", ((5, "h", 2305754051270758400.0),), trial="r/0002")]).ok
    assert not compare(printed).ok, "nothing says that these are floats"
    assert not compare([*printed, answer("b", ((5, "h", 2305754951270758400.0),), trial="r/0002")]).ok


def test_empty_everywhere_fails_and_empty_on_one_side_differs() -> None:
    assert compare([answer("a", ()), answer("b", ())]).empty_everywhere == ("0",)
    assert not compare([answer("a", ()), answer("b", ())]).ok
    found = compare([answer("a", ((1, "h", 2.0),)), answer("b", ())])
    assert (found.empty_everywhere, found.differing) == ((), 1)


def test_a_system_that_left_a_query_out_is_named() -> None:
    rows = ((1, "h", 2.0),)
    found = compare([answer("a", rows), answer("b", rows), answer("a", rows, query="1")])
    assert found.unanswered == ("1: b",)
    assert not found.ok


def test_too_few_instances_are_a_note() -> None:
    rows = ((1, "h", 2.0),)
    few = [answer(system, rows, str(query)) for system in "ab" for query in range(19)]
    assert compare(few).too_few == ("groupby",)
    assert compare(few).ok
    assert compare([*few, answer("a", rows, "19"), answer("b", rows, "19")]).too_few == ()


def test_differences_are_counted_beyond_those_that_are_kept() -> None:
    a = answer("a", tuple((time, "h", 1.0) for time in range(200)))
    found = compare([a, answer("b", tuple((time, "h", 2.0) for time in range(200)))])
    assert (found.differing, len(found.differences)) == (200, 50)
    assert found.differing_types


def test_the_first_difference_of_each_query_type_is_kept() -> None:
    many = tuple((time, "host_0", 1.0) for time in range(60))
    other = tuple((time, "host_0", 2.0) for time in range(60))
    held = [
        replace(one, query_type=name)
        for name in ("a", "b", "c")
        for one in (answer("x", many), answer("y", other, trial="r/0001"))
    ]
    found = compare(held)
    assert (found.differing, len(found.differences)) == (180, 52)
    assert [one.query_type for one in found.differences[49:]] == ["a", "b", "c"]
    assert found.differing_types == ("a", "b", "c")


def test_nothing_to_compare_is_not_agreement() -> None:
    assert not compare([]).ok
    assert not compare([answer("a", ((1, "h", 2.0),))]).ok


def test_rows_of_the_table_become_answers() -> None:
    row = {"system": "a", "trial_id": "r/0000", "query_type": "groupby", "query_id": "3"}
    (found,) = from_rows([{**row, "columns": '["time_ns","v"]', "rows": "[[5,1.5],[6,null]]"}])
    assert found == Answer("a", "r/0000", "groupby", "3", ("time_ns", "v"), ((5, 1.5), (6, None)))


def test_all_answers_of_a_type_are_compared() -> None:
    held = [answer(system, ((1, "host_0", 1.0),), str(query)) for system in "ab" for query in range(20)]
    assert compare(held).compared == 20
    held[-1] = answer("b", ((1, "host_0", 2.0),), "19")
    found = compare(held)
    assert (found.compared, found.differing, found.ok) == (20, 1, False)
