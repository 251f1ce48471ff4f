"""Parameters of the generators frames and join-frames, and their questions."""

from __future__ import annotations

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import FramesParameters, JoinFramesParameters
from benchbook.workloads.query import QueryOptions


def test_rows_and_flags() -> None:
    made = FramesParameters(table_rows=1000, groups=10)
    assert (made.rows(), made.flags()) == (1000, ["--rows=1000", "--groups=10"])
    assert Catalogue().dataset("frames").typed().rows() == 1_000_000


@pytest.mark.parametrize(
    ("table_rows", "small", "medium"),
    [(10, 10, 10), (20_000, 10, 20), (10**7, 10, 10**4), (10**8, 100, 10**5)],
)
def test_small_and_medium_are_parts_of_x(table_rows: int, small: int, medium: int) -> None:
    made = JoinFramesParameters(table_rows=table_rows)
    assert (made.rows(), made.flags()) == (2 * table_rows + small + medium, [f"--rows={table_rows}"])


def test_more_groups_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="above table_rows"):
        FramesParameters(table_rows=10, groups=11)


@pytest.mark.parametrize("name", ["q1", "big-inner"])
def test_a_question_is_repeated_for_a_time(name: str) -> None:
    assert QueryOptions.model_validate({"type": name, "duration": "2s"}).different == 1
    with pytest.raises(ValueError, match="give a duration"):
        QueryOptions.model_validate({"type": name, "queries": 10})
