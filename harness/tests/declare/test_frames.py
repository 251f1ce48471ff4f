"""Parameters of the generator frames, and its questions."""

from __future__ import annotations

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import FramesParameters
from benchbook.declare.workload import QueryOptions


def test_rows_and_flags() -> None:
    made = FramesParameters(table_rows=1000, groups=10)
    assert (made.rows(), made.flags()) == (1000, ["--rows=1000", "--groups=10"])
    assert Catalogue().dataset("frames").typed().rows() == 1_000_000


def test_more_groups_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="above table_rows"):
        FramesParameters(table_rows=10, groups=11)


def test_a_question_is_repeated_for_a_time() -> None:
    assert QueryOptions(type="q1", duration="2s").different == 1
    with pytest.raises(ValueError, match="give a duration"):
        QueryOptions(type="q1", queries=10)
