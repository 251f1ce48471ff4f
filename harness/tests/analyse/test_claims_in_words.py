"""Sizes in words, sides of a bound, conditions of the publication, and answers that agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claim_notes import _consistent
from benchbook.analyse.claims import Judgement
from benchbook.declare import expectation
from benchbook.declare.claim import Claim
from benchbook.report.reasons import sentence, text
from tests.analyse.claimed import BASE, CNOS, INFLUX, only, twice
from tests.claims import measured_run


def of(tmp_path: Path, ratio: float, blocks: int = 12, **claim: Any) -> Judgement:
    """Judge a claim without a published number on systems of a known ratio."""
    declared = {"published": None, **claim}
    return only(
        tmp_path, lambda levels: ratio if levels["system"] == CNOS else 1.0, claim=declared, blocks=blocks
    )


@pytest.mark.parametrize(
    ("words", "test", "ratio", "verdict"),
    [
        ("much", "at-least", 1.7, "reproduced"),
        ("much", "at-least", 1.3, "different size"),
        ("much", "at-least", 1.0, "contradicted"),
        ("much", "at-least", 0.7, "contradicted"),
        ("much", "at-most", 0.5, "reproduced"),
        ("much", "at-most", 0.8, "different size"),
        ("slightly", "at-least", 1.1, "reproduced"),
        ("slightly", "at-least", 1.6, "different size"),
        ("slightly", "at-least", 0.95, "contradicted"),
        ("slightly", "at-most", 0.9, "reproduced"),
        ("slightly", "at-most", 0.5, "different size"),
        ("little", "equal", 1.03, "reproduced"),
        ("little", "equal", 0.96, "reproduced"),
        ("little", "equal", 1.2, "contradicted"),
        ("little", "at-most", 1.03, "reproduced"),
        ("little", "at-most", 0.7, "reproduced"),
        ("little", "at-most", 1.2, "contradicted"),
        ("little", "at-least", 0.96, "reproduced"),
        ("little", "at-least", 1.4, "reproduced"),
        ("little", "at-least", 0.8, "contradicted"),
    ],
)
def test_words_have_numbers(tmp_path: Path, words: str, test: str, ratio: float, verdict: str) -> None:
    found = of(tmp_path, ratio, words=words, test=test)
    assert found.verdict == verdict, sentence(found.reasons)


def test_the_page_of_claims_gives_the_words_the_numbers_of_the_program() -> None:
    page = " ".join((Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8").split())
    least, most = expectation.SLIGHTLY
    for stated in (
        f"| `much` | `at-least`, `at-most` | a factor of {expectation.MUCH:g} or more |",
        f"| `slightly` | `at-least`, `at-most` | a factor from {least:g} to {most:g} |",
        f"| `little` | `equal`, `at-least`, `at-most` | a factor below {expectation.LITTLE:g}: either way",
        f"the 90 % CI lies within {100 * expectation.SAME:g} % of 1",
    ):
        assert stated in page


@pytest.mark.parametrize(
    ("ratio", "claim", "verdict"),
    [
        (1.86, {"test": "at-least", "published": {"ratio": 2}}, "different size"),
        (2.1, {"test": "at-least", "published": {"ratio": 2}}, "reproduced"),
        (1.86, {"test": "at-least", "published": {"ratio": 2}, "margin": 0.1}, "reproduced"),
        (0.54, {"test": "at-most", "published": {"ratio": 0.5}}, "different size"),
    ],
)
def test_a_bound_has_no_margin_unless_it_is_declared(
    tmp_path: Path, ratio: float, claim: dict[str, Any], verdict: str
) -> None:
    found = of(tmp_path, ratio, blocks=30, **claim)
    assert found.verdict == verdict, sentence(found.reasons)


def test_a_different_size_says_if_even_the_direction_is_open(tmp_path: Path) -> None:
    claim = {"test": "ratio", "published": {"ratio": 3}}
    found = only(
        tmp_path, lambda levels: 1.03 if levels["system"] == CNOS else 1.0, claim=claim, noise=0.2, blocks=8
    )
    assert found.verdict == "different size", sentence(found.reasons)
    assert "lies outside the band of 10 % around the published 3 (2.73 to 3.3), and includes 1" in sentence(
        found.reasons
    )


def test_a_ratio_that_is_at_most_1_says_where_its_interval_ends(tmp_path: Path) -> None:
    claim = {"test": "at-least", "published": {"ratio": 1}}
    found = only(
        tmp_path, lambda levels: 0.94 if levels["system"] == CNOS else 1.0, claim=claim, noise=0.12, blocks=16
    )
    assert found.verdict == "contradicted", sentence(found.reasons)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.92 < 1 < found.high, found
    assert "but the 90 % CI ends at most 5 % above 1, which is no difference" in sentence(found.reasons)


def test_one_in_a_hundred_is_not_met_by_one_in_a_thousand(tmp_path: Path) -> None:
    claim = {"test": "at-most", "published": {"ratio": 0.99}}
    found = only(tmp_path, lambda levels: 0.999 if levels["system"] == CNOS else 1.0, claim=claim, noise=0.0)
    assert found.verdict == "contradicted"


def test_a_refuted_size_is_not_called_direction_only(tmp_path: Path) -> None:
    found = of(tmp_path, 1.68, test="ratio", published={"ratio": 3.22})
    assert found.verdict == "different size"
    assert "lies outside the band of 10 % around the published 3.22" in sentence(found.reasons)


@pytest.mark.parametrize("published", [0.85, 0.9, 1.1, 1.15])
def test_a_published_ratio_near_1_has_a_verdict_where_there_is_no_difference(
    tmp_path: Path, published: float
) -> None:
    found = of(tmp_path, 1.0, blocks=30, test="ratio", published={"ratio": published})
    near = published in (0.9, 1.1)
    assert found.verdict in (("contradicted", "reproduced") if near else ("contradicted",)), sentence(
        found.reasons
    )


# Where a run differs from the publication.


def test_another_condition_is_part_of_the_verdict(tmp_path: Path) -> None:
    factors = {"system": [CNOS, INFLUX], "workers": [100], "batch_size": [1000]}
    found = only(tmp_path, twice, claim={"at": {"batch_size": 5000, "workers": [50, 100]}}, factors=factors)
    assert found.verdict == "reproduced"
    [condition] = found.conditions
    assert text(condition) == "batches of 1,000 instead of 5,000"
    why, measured, *_ = found.reasons
    assert "lies within 10 %" in text(why)
    assert text(measured) == "measured with batches of 1,000 instead of 5,000"


def test_options_and_parameters_that_are_no_factors_are_conditions_too(tmp_path: Path) -> None:
    options = {"duration": "20s", "timeout": "10s", "batch_size": None}
    planned = {
        "phases": [
            {"name": "load", "workload": "load", "options": options},
            {"name": "other", "workload": "load", "options": {"duration": "60s"}},
        ],
        "dataset": {"parameters": {"scale": 10, "start": "2016"}},
    }  # fmt: skip
    at = {"duration": "60s", "timeout": "10s", "scale": [1000, 2000]}
    found = only(tmp_path, twice, claim={"at": at}, plan=planned)
    assert found.verdict == "reproduced"
    assert [text(one) for one in found.conditions] == [
        "duration 20s instead of 60s", "scale 10 instead of 1,000 or 2,000",
    ]  # fmt: skip


def test_the_published_condition_is_no_news(tmp_path: Path) -> None:
    factors = {"system": [CNOS, INFLUX], "batch_size": [5000]}
    found = only(tmp_path, twice, claim={"at": {"batch_size": 5000}}, factors=factors)
    assert found.conditions == ()
    assert "instead of" not in sentence(found.reasons)


@pytest.mark.parametrize(
    ("ratio", "spread", "answer"),
    [(1.5, 0.2, "consistent"), (1.5, 0.05, "inconsistent"), (4.0, 0.2, "inconsistent")],
)
def test_one_published_run_is_uncertain_too(tmp_path: Path, ratio: float, spread: float, answer: str) -> None:
    found = of(tmp_path / "a", ratio, test="ratio", published={"ratio": 2}, published_spread=spread)
    assert found.verdict == "different size"
    share = f"{100 * spread:g} %"
    words = f"if the published number varies by {share} from run to run, it is {answer} with the rerun"
    assert words in sentence(found.reasons)
    plain = of(tmp_path / "b", ratio, test="ratio", published={"ratio": 2})
    assert "from run to run" not in sentence(plain.reasons)


@pytest.mark.parametrize(("error", "answer"), [(0.15, "consistent"), (0.01, "inconsistent")])
def test_the_uncertainty_of_the_rerun_counts_beside_that_of_the_published_run(
    tmp_path: Path, error: float, answer: str
) -> None:
    """Published 2, measured 1.5: 5 % of the publication alone do not explain that, 15 % of the rerun do."""
    claim = Claim.model_validate(
        {**BASE, "test": "ratio", "published": {"ratio": 2}, "published_spread": 0.05}
    )
    [cell] = of(tmp_path, 1.5, test="ratio", published={"ratio": 2}).cells
    assert cell.ratio.fit is not None
    wide = replace(cell, ratio=replace(cell.ratio, fit=replace(cell.ratio.fit, error=error)))
    assert text(_consistent(claim, [wide])[0]).endswith(f"it is {answer} with the rerun")


# Answers.


def agreeing(tmp_path: Path, differing: int, queries: int = 20) -> Judgement:
    """Judge whether the answers of two systems agree, of which some differ."""

    def answers(levels: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"v": 1, "type": "answer", "phase": "answers", "query_type": "q", "id": f"q-{number:02}",
             "digest": f"{levels['system']}-{number}", "columns": ["time_ns", "max"], "row_count": 1,
             "rows": [[number, 2.0 if levels["system"] == CNOS and number < differing else 1.0]]}
            for number in range(queries)
        ]  # fmt: skip

    declared = measured_run.experiment("cnos-vs-influx", claims=[])
    held = {key: value for key, value in BASE.items() if key != "published"}
    declared["claims"] = [{**held, "test": "agree", "phase": "q", "metric": "queries"}]
    measured_run.write(
        tmp_path, "run-1", {"system": [CNOS, INFLUX]}, lambda levels, block: {("q", "queries"): queries},
        declared=declared, answers=answers,
    )  # fmt: skip
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    return found


@pytest.mark.parametrize(
    ("differing", "queries", "share", "verdict", "words"),
    [
        (0, 20, 1.0, "reproduced", "20 of 20 answers agree"),
        (1, 20, 0.95, "contradicted", "19 of 20 answers agree; the first that differs is q-00"),
        (20, 20, 0.0, "contradicted", "0 of 20 answers agree"),
        (0, 5, 1.0, "inconclusive", "5 of 5 answers agree, and fewer than 20 show little"),
        (0, 0, None, "not run", "no answers to q were recorded"),
    ],
)
def test_agreement_is_the_share_of_answers_that_agree(
    tmp_path: Path, differing: int, queries: int, share: float | None, verdict: str, words: str
) -> None:
    found = agreeing(tmp_path, differing, queries)
    assert (found.measured, found.verdict) == (share, verdict), sentence(found.reasons)
    assert words in sentence(found.reasons)
