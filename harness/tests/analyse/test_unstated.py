"""Claims about factors that the publication leaves open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.judgement import NONE
from benchbook.declare.expectation import Expectation
from benchbook.report.claim import interval_name
from benchbook.report.reasons import sentence, text
from tests.analyse.claimed import CNOS, INFLUX, only, twice

UNSTATED = {"underspecified": "the size of a batch is not stated", "unstated": ["batch_size"]}
TWICE = Expectation("ratio", 2.0)
CLAIM: Any = SimpleNamespace(unstated=["size"], in_cells="all")


SHOWN = {
    "reproduced": replace(NONE, reproduced=0.01, direction=0.01),
    "direction only": replace(NONE, reproduced=0.5, outside=0.5, direction=0.01),
    "contradicted": replace(NONE, reversed=0.001, turned=0.001, outside=0.001),
    "inconclusive": NONE,
}


def cells(**verdicts: str) -> Any:
    return [
        SimpleNamespace(evidence=SHOWN[word], expected=TWICE, sides=SimpleNamespace(levels={"size": size}))
        for size, word in verdicts.items()
    ]


@pytest.mark.parametrize(
    ("small", "large", "left", "words"),
    [
        (
            "contradicted",
            "reproduced",
            "underspecified",
            "holds as published with objects of b; reversed with objects of a",
        ),
        ("inconclusive", "contradicted", "inconclusive", "reversed with objects of b"),
        ("direction only", "contradicted", "underspecified", "reversed with objects of b"),
    ],
)
def test_levels_that_disagree_leave_less_than_a_contradiction(
    small: str, large: str, left: str, words: str
) -> None:
    found = claims.deciding(CLAIM, cells(a=small, b=large))
    assert found is not None
    assert found[0] == left
    assert words in text(found[1])


@pytest.mark.parametrize("word", ["contradicted", "reproduced", "inconclusive"])
def test_levels_that_agree_are_judged_jointly(word: str) -> None:
    assert claims.deciding(CLAIM, cells(a=word, b=word)) is None


@pytest.mark.parametrize(
    ("small", "large", "verdict", "words"),
    [
        (
            2.0,
            2.0,
            "reproduced",
            "the publication states no batch size: judged with batches of 1 and batches of 1,000",
        ),
        (2.0, 3.0, "different size", "holds but larger in 1 (batches of 1,000)"),
        (0.5, 0.5, "contradicted", "judged with batches of 1 and batches of 1,000"),
        (
            2.0,
            0.5,
            "underspecified",
            "depends on batch size: holds as published with batches of 1; reversed with",
        ),
    ],
)
def test_what_is_not_stated_is_judged_at_several_levels(
    tmp_path: Path, small: float, large: float, verdict: str, words: str
) -> None:
    def truth(levels: dict[str, Any]) -> float:
        return (small if levels["batch_size"] == 1 else large) if levels["system"] == CNOS else 1.0

    factors = {"system": [CNOS, INFLUX], "batch_size": [1, 1000]}
    found = only(tmp_path, truth, claim=UNSTATED, factors=factors)
    assert found.verdict == verdict
    assert words in sentence(found.reasons)


def test_what_is_not_stated_stays_open_at_a_single_level(tmp_path: Path) -> None:
    factors = {"system": [CNOS, INFLUX], "batch_size": [1]}
    found = only(tmp_path, twice, claim=UNSTATED, factors=factors)
    assert (found.verdict, found.measured and round(found.measured)) == ("underspecified", 2)


def test_a_level_whose_trials_failed_is_not_an_open_question_of_the_publication(tmp_path: Path) -> None:
    def refused(levels: dict[str, Any], _block: int) -> tuple[str, str | None]:
        gone = levels["system"] == CNOS and levels["batch_size"] == 1
        return ("failed", "no writable volumes") if gone else ("ok", None)

    factors = {"system": [CNOS, INFLUX], "batch_size": [1, 1000]}
    found = only(tmp_path, twice, claim=UNSTATED, factors=factors, status=refused)
    assert found.verdict == "inconclusive"
    assert "no writable volumes" in sentence(found.reasons)


def test_an_interval_of_a_strict_look_is_not_of_100_per_cent(tmp_path: Path) -> None:
    found = only(tmp_path, twice)
    assert interval_name([found]) == "95 % CI"
    assert interval_name([replace(found, level=0.0005)]) == "99.95 % CI"
