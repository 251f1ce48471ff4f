"""Claims about every cell of a published table, some of them, or most."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.model import Fit
from benchbook.report import claim as claim_words
from benchbook.report.reasons import sentence
from tests.analyse.claimed import CNOS, FROM_FILE, INFLUX, MANY, SIZES, only, table


def test_a_whole_table_is_one_joint_test(tmp_path: Path) -> None:
    found = only(tmp_path, table, claim=FROM_FILE, **MANY)
    assert found.verdict == "reproduced"
    assert (
        "5 cases, and the claim must hold in all of them: judged one by one, holds as published in 5"
        in sentence(found.reasons)
    )
    assert len(found.cells) == 5
    assert {cell.published_over for cell in found.cells} == {25_000, 490_000, 570_000, 610_000, 540_000}


def test_a_cell_that_was_published_and_not_run_leaves_all_undecided(tmp_path: Path) -> None:
    fewer = {"factors": {**MANY["factors"], "batch_size": [1, 1000, 2500]}}
    found = only(tmp_path / "all", table, claim=FROM_FILE, **fewer)
    assert found.verdict == "inconclusive"
    assert "2 not run" in sentence(found.reasons)
    assert (
        "the publication also has batches of 10,000, batches of 5,000, which this run did not measure"
        in sentence(found.reasons)
    )
    most = only(tmp_path / "most", table, claim={**FROM_FILE, "in_cells": "most"}, **fewer)
    assert most.verdict == "reproduced"


def test_a_cell_that_the_publication_left_out_is_said(tmp_path: Path) -> None:
    more = {"factors": {**MANY["factors"], "batch_size": [*SIZES, 20000]}}
    found = only(
        tmp_path,
        lambda levels: 1.0 if levels["batch_size"] == 20000 else table(levels),
        claim=FROM_FILE,
        **more,
    )
    assert found.verdict == "reproduced"
    assert (
        "the publication has no ratio for batches of 20,000 (server refused: cache-max-memory-size exceeded)"
        in sentence(found.reasons)
    )


@pytest.mark.parametrize(
    ("share", "verdict"), [("all", "contradicted"), ("most", "reproduced"), ("any", "reproduced")]
)
def test_the_share_of_cells_that_is_claimed(tmp_path: Path, share: str, verdict: str) -> None:
    claim = {"test": "at-least", "published": {"ratio": 1}, "where": {"workers": 100}, "in_cells": share}
    found = only(tmp_path, table, claim=claim, **MANY)
    assert found.verdict == verdict
    assert "reversed in 2 (batches of 1,000, batches of 2,500)" in sentence(found.reasons).replace(
        "workers 100, ", ""
    )


def test_a_claim_about_some_cells_looks_at_those(tmp_path: Path) -> None:
    claim = {
        "test": "at-least", "published": {"ratio": 1}, "of": {"system": INFLUX}, "over": {"system": CNOS},
        "where": {"batch_size": [1000, 2500]}, "across": ["batch_size"],
    }  # fmt: skip
    found = only(tmp_path, table, claim=claim, **MANY)
    assert (found.verdict, len(found.cells)) == ("reproduced", 2)


def test_published_numbers_belong_to_the_levels_that_a_profile_has_in_their_place(tmp_path: Path) -> None:
    in_place = {str(size): size * 2 for size in SIZES}
    scaled = {
        "factors": {**MANY["factors"], "batch_size": [*in_place.values()]},
        "in_place": {"batch_size": in_place},
    }

    def halved(levels: dict[str, Any]) -> float:
        return table({**levels, "batch_size": levels["batch_size"] // 2})

    found = only(tmp_path, halved, claim=FROM_FILE, **scaled)
    assert found.verdict == "reproduced", sentence(found.reasons)
    assert [cell.published_over for cell in found.cells] == [25_000, 490_000, 570_000, 610_000, 540_000]
    assert (
        "measured with batches of 2, 2,000, 5,000, 10,000 and 20,000 in place of 1, 1,000, 2,500, 5,000 and 10,000"
        in sentence(found.reasons)
    )


def test_a_trend_is_compared_with_the_published_levels_that_a_profile_replaces(tmp_path: Path) -> None:
    claim = {
        "test": "rises", "along": "batch_size", "of": {}, "over": {}, "where": {"system": CNOS},
        "published": {"cells": [
            {"levels": {"batch_size": 1}, "of": 1.0}, {"levels": {"batch_size": 10000}, "of": 2.0},
        ]},
    }  # fmt: skip
    scaled = {
        "factors": {"system": [CNOS], "workers": [100], "batch_size": [1, 50]},
        "in_place": {"batch_size": {"10000": 50}},
    }
    found = only(tmp_path, lambda levels: 1.0 if levels["batch_size"] == 1 else 2.0, claim=claim, **scaled)
    assert found.published == pytest.approx(2)
    assert "batches of 50 in place of 10,000" in sentence(found.reasons)


@pytest.mark.parametrize(
    ("here", "refused", "verdict"),
    [
        (12, 0.0, "inconclusive"),
        (100, 0.0, "contradicted"),
        (200, 0.0, "contradicted"),
        (12, 0.3, "reproduced"),
    ],
)
def test_a_smaller_load_contradicts_no_failure(
    tmp_path: Path, here: int, refused: float, verdict: str
) -> None:
    """With 100 workers, batches of 10,000 rows were refused; the rerun has fewer, as many or more workers."""
    claim = {
        "test": "at-most", "metric": "acknowledged_fraction", "published": {"ratio": 0.99}, "of": {"batch_size": 10000},
        "over": {"batch_size": 1000}, "where": {"system": INFLUX, "workers": 100},
    }  # fmt: skip
    scaled = {
        "factors": {"system": [INFLUX], "workers": [here], "batch_size": [1000, 10000]},
        "in_place": {"workers": {"100": here}},
    }

    def acknowledged(levels: dict[str, Any]) -> float:
        return (1 - refused if levels["batch_size"] == 10000 else 1.0) / 1000

    found = only(tmp_path, acknowledged, claim=claim, noise=0.0001, **scaled)
    assert found.verdict == verdict, sentence(found.reasons)
    assert ("does not show what fails there" in sentence(found.reasons)) == (verdict == "inconclusive")


@pytest.mark.parametrize(("literal", "verdict"), [([1000, 10000], "contradicted"), ([10000], "inconclusive")])
def test_a_claim_is_judged_at_its_published_levels_where_a_run_has_them(
    tmp_path: Path, literal: list[int], verdict: str
) -> None:
    """The run has 12 workers in place of 100, and also 100 themselves: for both batch sizes, or for one side only."""
    claim = {
        "test": "at-most", "metric": "acknowledged_fraction", "published": {"ratio": 0.99}, "of": {"batch_size": 10000},
        "over": {"batch_size": 1000}, "where": {"system": INFLUX, "workers": 100},
    }  # fmt: skip
    found = only(
        tmp_path, lambda _: 0.001, claim=claim, noise=0.0001, in_place={"workers": {"100": 12}},
        factors={"system": [INFLUX], "workers": [12, 100], "batch_size": [1000, 10000]},
        without=lambda levels: levels["workers"] == 100 and levels["batch_size"] not in literal,
    )  # fmt: skip
    assert found.verdict == verdict, sentence(found.reasons)
    assert ("12 operations in flight in place of 100" in sentence(found.reasons)) == (
        verdict == "inconclusive"
    )
    assert {cell.levels["workers"] for one in found.cells for cell in one.sides.cells} == {
        "12" if verdict == "inconclusive" else "100"
    }


def test_a_claim_with_fewer_cases_at_its_published_levels_is_judged_at_the_others(tmp_path: Path) -> None:
    """With 100 workers the run has one of the two batch sizes; with 12 in their place it has both."""
    claim = {
        "test": "at-least", "published": {"ratio": 1}, "where": {"workers": 100}, "across": ["batch_size"],
    }  # fmt: skip
    found = only(
        tmp_path, table, claim=claim, in_place={"workers": {"100": 12}},
        factors={"system": [CNOS, INFLUX], "workers": [12, 100], "batch_size": [1, 5000]},
        without=lambda levels: levels["workers"] == 100 and levels["batch_size"] == 5000,
    )  # fmt: skip
    used = [
        (cell.levels["workers"], cell.levels["batch_size"]) for one in found.cells for cell in one.sides.cells
    ]
    assert sorted(set(used)) == [("12", "1"), ("12", "5000")]


def test_a_claim_on_failures_names_their_errors(tmp_path: Path) -> None:
    """The published reason of a refusal was a full cache; a slower machine answers too late."""
    claim = {
        "test": "at-most", "metric": "acknowledged_fraction", "published": {"ratio": 0.99}, "of": {"batch_size": 10000},
        "over": {"batch_size": 1000}, "where": {"system": INFLUX},
    }  # fmt: skip
    late = {
        "phase": "load",
        "kind": "server",
        "status": "500",
        "message": "timeout",
        "operations": 7,
        "rows": 70000,
    }
    found = only(
        tmp_path, lambda levels: 0.3 if levels["batch_size"] == 10000 else 1.0, claim=claim,
        factors={"system": [INFLUX, CNOS], "batch_size": [1000, 10000]},
        errors=lambda levels, block: [late, {**late, "phase": "q"}] if levels["batch_size"] == 10000 else [],
    )  # fmt: skip
    assert "failed operations: 35 with batches of 10,000 (timeout)" in sentence(found.reasons)


def test_errors_of_several_cases_are_named_apart(tmp_path: Path) -> None:
    claim = {
        "test": "at-most", "metric": "acknowledged_fraction", "published": {"ratio": 0.99}, "of": {"workers": 200},
        "over": {"workers": 100}, "where": {"system": INFLUX}, "across": ["batch_size"],
    }  # fmt: skip
    late = {
        "phase": "load",
        "kind": "server",
        "status": "500",
        "message": "timeout",
        "operations": 7,
        "rows": 7,
    }
    found = only(
        tmp_path, lambda levels: 1.0, claim=claim,
        factors={"system": [INFLUX, CNOS], "workers": [100, 200], "batch_size": [1000, 10000]},
        errors=lambda levels, block: [late] if levels["workers"] == 200 else [],
    )  # fmt: skip
    for size in ("1,000", "10,000"):
        assert f"35 with 200 operations in flight, batches of {size} (timeout)" in sentence(found.reasons)


def test_a_pooled_ratio_that_contradicts_the_verdict_gives_way_to_the_cases(tmp_path: Path) -> None:
    """Every case is below 2 for certain; the pooled interval, which knows no other spread, is too wide for that."""
    claim = {"test": "at-least", "across": ["batch_size"]}
    found = only(
        tmp_path, lambda levels: 1.5 if levels["system"] == CNOS else 1.0, claim=claim, noise=0.05, **MANY
    )
    assert found.verdict == "different size"
    assert len(found.cells) > 1
    assert claims.ends(found) is None
    wide = Fit(math.log(1.5), 0.11, 4.0, 5, 0.25)
    low, high = map(math.exp, wide.interval())
    assert 1 < low < 2 < high
    pooled = replace(found, fit=wide, low=low, high=high)
    assert claims.ends(pooled) is not None
    assert f"{high:.3g}" not in claim_words.shown(pooled).text
