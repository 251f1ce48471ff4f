from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from benchbook.analyse.ratio import Ratio, ratio
from benchbook.analyse.reason import because
from benchbook.analyse.verdict import SMALLEST, compare
from benchbook.report.reasons import text

CLEAR = Ratio(2.3, 2.1, 2.5, 10, "student-t on log ratios paired by block")


def test_the_winner_is_named_with_its_interval_and_trials() -> None:
    found = compare("A", "B", CLEAR, direction="higher")
    assert text(found.reason) == "A is 2.30 times as fast as B (95 % CI 2.10-2.50, 10 trials)"
    assert found.winner == "A"


def test_the_winner_comes_first_whichever_way_the_metric_points() -> None:
    found = compare("A", "B", CLEAR, direction="lower")
    assert found.winner == "B"
    assert text(found.reason).startswith("B is 2.30 times as fast as A")
    assert compare("A", "B", CLEAR.inverse(), direction="higher").winner == "B"


def test_an_interval_that_includes_1_claims_nothing() -> None:
    found = compare("A", "B", Ratio(1.2, 0.96, 1.5, 12, "t"), direction="higher")
    assert found.winner is None
    between = "no difference can be claimed between A and B: "
    assert text(found.reason) == f"{between}A is 0.960-1.50 times as good as B (95 % CI), which includes 1"
    reversed_ = compare("A", "B", Ratio(1.2, 0.96, 1.5, 12, "t"), direction="lower")
    assert (
        text(reversed_.reason) == f"{between}A is 0.667-1.04 times as good as B (95 % CI), which includes 1"
    )


def test_errors_and_too_few_trials_give_no_verdict() -> None:
    found = compare("A", "B", CLEAR, direction="higher", unfit=because("operations-failed", number=1))
    assert text(found.reason) == "no verdict on A and B: 1 operation failed"
    few = ratio({0: 4.0, 1: 4.0}, {0: 1.0, 1: 1.0})
    found = compare("A", "B", few, direction="higher")
    assert text(found.reason) == "no verdict on A and B: 2 pairs; an interval needs at least 3"
    assert found.winner is None


def test_what_is_not_significant_among_many_is_not_claimed() -> None:
    one = Ratio(1.06, 1.03, 1.09, 12, "t")
    assert compare("A", "B", one, direction="higher", adjusted=0.04, among=20).winner == "A"
    found = compare("A", "B", one, direction="higher", adjusted=0.06, among=20)
    assert found.winner is None
    assert "excludes 1 alone, but not among 20 comparisons (Holm's correction)" in text(found.reason)


@given(
    st.floats(1e-3, 1e3),
    st.floats(1, 5),
    st.floats(1, 5),
    st.sampled_from(["higher", "lower"]),
)
def test_nothing_is_called_faster_unless_the_interval_lies_outside(
    value: float, below: float, above: float, direction: str
) -> None:
    low, high = value / below, value * above
    found = compare("A", "B", Ratio(value, low, high, 5, "t"), direction=direction)  # type: ignore[arg-type]
    better = "A" if low > SMALLEST else "B" if high < 1 / SMALLEST else None
    if direction == "lower" and better:
        better = "BA"["AB".index(better)]
    assert found.winner == better
    assert ("times as fast" in text(found.reason)) == (found.winner is not None)
    if found.winner is not None:
        said = re.search(r"is ([\d.,]+) times .* CI ([\d.,]+)-([\d.,]+), 5", text(found.reason))
        assert said is not None
        ratio, least, most = (float(number.replace(",", "")) for number in said.groups())
        assert 1 < least <= ratio <= most
