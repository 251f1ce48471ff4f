"""Parameters of the generator hits, and its questions."""

from __future__ import annotations

from typing import get_args

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import HitsParameters
from benchbook.workers import frames, hits
from benchbook.workloads.query import Question


def test_rows_and_flags() -> None:
    made = HitsParameters(table_rows=1000)
    assert (made.rows(), made.flags()) == (1000, ["--rows=1000"])
    assert Catalogue().dataset("hits").typed().rows() == 1_000_000


def test_a_phase_may_ask_every_question() -> None:
    assert get_args(Question) == (*hits.SQL, *frames.JOINS)
    asked = [phase.options["type"] for phase in Catalogue().experiment("clickbench-small").phases[1:]]
    assert asked == list(hits.SQL)
