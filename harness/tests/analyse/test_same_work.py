"""Cells with different data, queries or configurations are not compared."""

from __future__ import annotations

from typing import Any

from benchbook.analyse.run import Cell
from benchbook.analyse.same_work import mixture


def cell(name: str, **held: Any) -> Cell:
    made = {
        "datasets": ("d",), "queries": ("q",), "configurations": ("c",), "arm": "vanilla", "levels": {}, "ok": 3,
        "trials": 3, "statuses": (), "reason": None, "versions": ("1",),
    }  # fmt: skip
    return Cell(name, name, **{**made, **held})


def test_the_same_work_is_no_mixture() -> None:
    assert mixture([cell("a"), cell("b", configurations=("another",))]) == []


def test_other_data_and_other_queries_are_told_unless_the_data_is_what_is_compared() -> None:
    sides = [cell("a"), cell("b", datasets=("e",), queries=("r",))]
    assert mixture(sides) == [
        "they used 2 different versions of one dataset",
        "they used 2 different versions of one query set",
    ]
    assert mixture(sides, data_differ=True) == []


def test_trials_of_one_cell_under_two_configurations_are_told() -> None:
    assert mixture([cell("a", configurations=("c", "d"))]) == [
        "the trials of a had 2 different configurations"
    ]
