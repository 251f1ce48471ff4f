"""The forest of claims: where its marks are, and what lies beyond its axis."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from benchbook.analyse.claims import Judgement
from benchbook.report import claim
from benchbook.report.charts import forest, lead
from benchbook.report.claim import Shown

if TYPE_CHECKING:
    from benchbook.analyse.claim_evidence import JudgedCell

SCALE = forest.Scale(0.1, 10.0)


def marks(value: float, stated: float | None) -> list[str]:
    drawn = forest.lane(SCALE, Shown("", (value,), None, None), stated, "=")
    return re.findall(r'<i class="([^"]+)" style="[^"]*">(.*?)</i>', drawn)[1:]


def test_marks_on_the_axis_have_their_place():
    assert marks(1.0, 10.0) == [("dot", ""), ("was", "")]


@pytest.mark.parametrize(
    ("value", "stated", "found"),
    [
        (1.0, 26200.0, [("dot", ""), ("far far-was", "published 26,200 →")]),
        (1.0, 0.002, [("dot", ""), ("far far-was", "← published 0.00200")]),
        (1234.0, 1.0, [("far far-dot", "1,230 →"), ("was", "")]),
    ],
)
def test_a_value_beyond_the_axis_is_an_arrow_with_the_value(value, stated, found):
    assert marks(value, stated) == found


def test_our_own_question_has_no_published_mark():
    expected = SimpleNamespace(kind="at-least", value=1.0, within=None)
    own = Judgement(
        "q", "Own: is a faster?", "", None, 2.0, 1.5, 2.5, 0.1, "reproduced", (), "load", "rows_per_second",
        "at-least", own=True, cells=(cast("JudgedCell", SimpleNamespace(expected=expected)),),
    )  # fmt: skip
    assert claim.stated(own).value is None
    assert claim.stated(replace(own, own=False)).value == 1.0


@pytest.mark.parametrize(
    ("kind", "bound"), [("at-least", ("≥", 1.5)), ("at-most", ("≤", 1.5)), ("equal", None)]
)
def test_the_bound_of_our_own_question_is_a_line_and_no_diamond(kind: str, bound: tuple[str, float] | None):
    expected = SimpleNamespace(kind=kind, value=1.5, within=None)
    own = Judgement(
        "q", "Own: is a faster?", "", None, 2.0, 1.5, 2.5, 0.1, "reproduced", (), "load", "rows_per_second",
        "at-least", own=True, cells=(cast("JudgedCell", SimpleNamespace(expected=expected)),),
    )  # fmt: skip
    assert claim.asked_bound(own) == bound
    assert claim.asked_bound(replace(own, own=False)) is None
    drawn = forest.lane(SCALE, Shown("", (2.0,), None, None), None, "=", asked=bound)
    assert (
        ('class="asked"' in drawn)
        == ("asked ≥1.50" in drawn or "asked ≤1.50" in drawn)
        == (bound is not None)
    )
    assert 'class="was"' not in drawn


@pytest.mark.parametrize(
    ("factor", "text"), [(2.5, "a factor of 2.50"), (1.004, "0.40 %"), (1.0101, "a factor of 1.01")]
)
def test_a_title_never_says_by_a_factor_of_one(factor: float, text: str):
    assert lead._by(factor) == text
