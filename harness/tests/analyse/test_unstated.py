"""What a publication leaves open, judged at several levels that do not agree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import unstated

CLAIM: Any = SimpleNamespace(unstated=["size"], in_cells="all")


def cells(**verdicts: str) -> Any:
    return [
        SimpleNamespace(verdict=word, sides=SimpleNamespace(levels={"size": size}))
        for size, word in verdicts.items()
    ]


@pytest.mark.parametrize(
    ("small", "large", "left", "words"),
    [
        ("contradicted", "reproduced", "underspecified", "what it leaves out decides"),
        ("inconclusive", "contradicted", "inconclusive", "contradicted at size b"),
        ("direction only", "contradicted", "underspecified", "contradicted at size b"),
    ],
)
def test_levels_that_disagree_leave_less_than_a_contradiction(
    small: str, large: str, left: str, words: str
) -> None:
    found = unstated.deciding(CLAIM, cells(a=small, b=large))
    assert found is not None
    assert found[0] == left
    assert words in found[1]


@pytest.mark.parametrize("word", ["contradicted", "reproduced", "inconclusive"])
def test_levels_that_agree_are_judged_jointly(word: str) -> None:
    assert unstated.deciding(CLAIM, cells(a=word, b=word)) is None
