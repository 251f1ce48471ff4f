"""Every verdict that a claim can get, on runs that nobody ran whose truth is known."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.claims import COLUMNS, Judgement
from benchbook.errors import RequestError
from tests.claims import measured_run

CNOS, INFLUX, OTHER = "cnosdb-2.0.1", "influxdb-1.8.10", "cnosdb-2.4"
BASE: dict[str, Any] = {
    "id": "faster", "statement": "A is faster", "source": "a page", "test": "ratio", "phase": "load",
    "metric": "rows_per_second", "of": {"system": CNOS}, "over": {"system": INFLUX}, "published": {"ratio": 2.0},
}  # fmt: skip
Truth = Callable[[dict[str, Any]], float]


def judge(
    tmp_path: Path,
    truth: Truth,
    *declared: dict[str, Any],
    noise: float = 0.01,
    factors: dict[str, list[Any]] | None = None,
    **options: Any,
) -> list[Judgement]:
    """Judge claims on a run whose values are ``truth`` times noise."""
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): 1000 * truth(levels) * math.exp(chance.gauss(0, noise))}

    experiment = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **one} for one in declared])
    experiment["published_machine"] = options.pop("published_machine", experiment["published_machine"])
    measured_run.write(
        tmp_path, "run-1", factors or {"system": [CNOS, INFLUX]}, value, declared=experiment, **options
    )
    return claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)


def twice(levels: dict[str, Any]) -> float:
    return 2.0 if levels["system"] == CNOS else 1.0


def only(tmp_path: Path, truth: Truth, *, claim: dict[str, Any] | None = None, **options: Any) -> Judgement:
    [found] = judge(tmp_path, truth, claim or {}, **options)
    return found


@pytest.mark.parametrize(
    ("truth", "claim", "verdict", "words"),
    [
        (2.0, {}, "reproduced", "lies within 10 % of the published 2 (1.82 to 2.2)"),
        (1.5, {}, "direction only", "lies above 1; it does not lie within 10 % of the published 2"),
        (0.5, {}, "contradicted", "lies below 1, on the other side of what was published (2)"),
        (1.0, {}, "contradicted", "shows no difference (within 10 % of 1), where 2 was published"),
        (1.0, {"test": "equal", "published": None}, "reproduced", "within 10 % of 1"),
        (1.3, {"test": "equal", "published": None}, "contradicted", "lies outside"),
        (3.0, {"test": "at-least"}, "reproduced", "lies above 1.82"),
        (1.5, {"test": "at-least"}, "direction only", "does not lie above 1.82"),
        (1.2, {"test": "at-least", "published": {"ratio": 1}}, "reproduced", "lies above 1"),
        (0.8, {"test": "at-least", "published": {"ratio": 1}}, "contradicted", "on the other side"),
        (0.3, {"test": "at-most", "published": {"ratio": 0.5}}, "reproduced", "lies below 0.55"),
        (0.7, {"test": "at-most", "published": {"ratio": 0.5}}, "direction only", "lies below 1"),
        (3.0, {"test": "at-most", "published": {"ratio": 2}}, "contradicted", "lies outside"),
        (2.0, {"margin": 0.01}, "direction only", "may or may not lie within 1 %"),
        (2.0, {"underspecified": "the object size is not stated"}, "underspecified", "object size"),
    ],
)
def test_verdicts(tmp_path: Path, truth: float, claim: dict[str, Any], verdict: str, words: str) -> None:
    declared = {key: value for key, value in {**BASE, **claim}.items() if value is not None}
    experiment = measured_run.experiment("cnos-vs-influx", claims=[declared])
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        side = truth if levels["system"] == CNOS else 1.0
        return {("load", "rows_per_second"): 1000 * side * math.exp(chance.gauss(0, 0.01))}

    measured_run.write(tmp_path, "run-1", {"system": [CNOS, INFLUX]}, value, declared=experiment)
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    assert (found.verdict, words in found.reason) == (verdict, True), found.reason
    assert found.measured == pytest.approx(truth, rel=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.measured < found.high
    assert tuple(found.row()) == COLUMNS


def test_noise_is_inconclusive(tmp_path: Path) -> None:
    found = only(tmp_path, twice, noise=2.0)
    assert found.verdict == "inconclusive"
    assert "includes 1" in found.reason


def test_two_trials_are_inconclusive_and_their_ratio_is_shown(tmp_path: Path) -> None:
    found = only(tmp_path, twice, blocks=2)
    assert (found.verdict, found.low, found.high) == ("inconclusive", None, None)
    assert found.measured == pytest.approx(2, rel=0.05)
    assert "2 pairs; an interval needs at least 3" in found.reason


def test_trials_that_do_not_count_leave_their_block_out(tmp_path: Path) -> None:
    def status(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
        return ("invalid", "rows differ") if block > 1 and levels["system"] == CNOS else ("ok", None)

    assert only(tmp_path, twice, status=status).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"factors": {"system": [INFLUX]}}, "cnosdb-2.0.1 is not in this run"),
        (
            {
                "status": lambda levels, block: (
                    ("skipped", "no program.") if levels["system"] == CNOS else ("ok", None)
                )
            },
            "every trial of cnosdb-2.0.1 is skipped (no program)",
        ),
        (
            {"claim": {"where": {"workers": 200}}, "factors": {"system": [CNOS, INFLUX], "workers": [100]}},
            "workers 200",
        ),
        ({"claim": {"versions": {CNOS: "2.0.1"}}}, "stated version 1.0, and the claim is about 2.0.1"),
    ],
)
def test_what_the_run_lacks_is_not_run(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    found = only(tmp_path, twice, **options)
    assert (found.verdict, words in found.reason) == ("not run", True), found.reason


def test_a_skipped_side_is_named_with_its_system_and_the_level_it_differs_in(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        twice,
        claim={"of": {"workers": 200}, "over": {"workers": 100}, "where": {"system": CNOS}},
        factors={"system": [CNOS], "workers": [100, 200]},
        status=lambda levels, block: ("skipped", "no program: nowhere."),
    )
    assert f"every trial of {CNOS}, workers 200 is skipped (no program)" in found.reason


def test_a_version_that_the_claim_names_counts(tmp_path: Path) -> None:
    assert only(tmp_path, twice, claim={"versions": {CNOS: "1"}}).verdict == "reproduced"


def test_a_substitute_is_shown_and_not_judged(tmp_path: Path) -> None:
    found = only(
        tmp_path, lambda levels: 2.0 if levels["system"] == OTHER else 1.0,
        claim={"substitutes": {CNOS: OTHER}}, factors={"system": [OTHER, INFLUX]},
    )  # fmt: skip
    assert found.verdict == "not run"
    assert found.measured == pytest.approx(2, rel=0.03)
    assert "cnosdb-2.4 is shown in place of cnosdb-2.0.1, and a substitute is not judged" in found.reason


def test_with_failed_operations_nothing_is_judged(tmp_path: Path) -> None:
    failed = [{"phase": "load", "kind": "refused", "operations": 3, "rows": 30}]
    found = only(
        tmp_path,
        twice,
        errors=lambda levels, block: failed if block == 0 and levels["system"] == CNOS else [],
    )
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("3 operations failed")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda levels: {"dataset_digest": levels["system"]}, "2 different digests of one dataset"),
        (lambda levels: {"queries_digest": levels["system"]}, "2 different digests of one query set"),
    ],
)
def test_different_work_is_not_judged(tmp_path: Path, changes: Any, words: str) -> None:
    found = only(tmp_path, twice, changes=changes)
    assert (found.verdict, words in found.reason) == ("inconclusive", True), found.reason


@pytest.mark.parametrize(("wrong", "verdict"), [(None, "reproduced"), (CNOS, "inconclusive")])
def test_different_answers_are_not_judged(tmp_path: Path, wrong: str | None, verdict: str) -> None:
    def answers(levels: dict[str, Any]) -> list[dict[str, Any]]:
        value = 2.0 if levels["system"] == wrong else 1.0
        return [
            {"v": 1, "type": "answer", "phase": "answers", "query_type": "q", "id": f"q-{number}",
             "digest": f"{value}", "columns": ["time_ns", "max"], "row_count": 1, "rows": [[number, value]]}
            for number in range(20)
        ]  # fmt: skip

    found = only(tmp_path, twice, answers=answers)
    assert found.verdict == verdict, found.reason
    assert ("not judged: the systems answered q differently" in found.reason) == (wrong is not None)


def test_an_embedded_system_beside_a_server_is_said(tmp_path: Path) -> None:
    found = only(tmp_path, twice, systems={CNOS: {"embedded": True}, INFLUX: {"embedded": False}})
    assert "cnosdb-2.0.1 shares the client's process" in found.reason


def test_profiles_are_said(tmp_path: Path) -> None:
    assert "profile smoke is for tests" in only(tmp_path / "a", twice, profile="smoke").reason
    found = only(tmp_path / "b", twice, profile="published")
    assert (
        found.scaled
        == "scaled: this machine has 2 of the publication's 16 cores and 25 of its 256 GB of memory"
    )
    assert found.scaled in found.reason
    big = {"cpu": {"usable_cores": 16}, "memory": {"total_bytes": 251e9}}
    assert only(tmp_path / "c", twice, profile="published", host=big).scaled is None


def test_an_outlier_is_counted_and_kept(tmp_path: Path) -> None:
    count = iter(range(100))
    found = only(tmp_path, lambda levels: twice(levels) * (1.5 if next(count) == 0 else 1), blocks=8)
    assert "1 outlier, kept" in found.reason
    assert found.cells[0].trials == 8


SIZES = [1, 1000, 2500, 5000, 10000]
MANY = {"factors": {"system": [CNOS, INFLUX], "workers": [100], "batch_size": SIZES}}
RATIOS = {1: 2.4, 1000: 430 / 490, 2500: 530 / 570, 5000: 660 / 610, 10000: 680 / 540}


def table(levels: dict[str, Any]) -> float:
    return RATIOS[levels["batch_size"]] if levels["system"] == CNOS else 1.0


FROM_FILE = {
    "where": {"workers": 100}, "across": ["batch_size"],
    "published": {"file": "cnos-vs-influx.csv", "select": {"metric": "rows_per_second"}},
}  # fmt: skip


def test_a_whole_table_is_one_joint_test(tmp_path: Path) -> None:
    found = only(tmp_path, table, claim=FROM_FILE, **MANY)
    assert found.verdict == "reproduced"
    assert "asked of all of 5 cells, with Holm's correction: reproduced in 5" in found.reason
    assert len(found.cells) == 5
    assert {cell.published_over for cell in found.cells} == {25_000, 490_000, 570_000, 610_000, 540_000}
    assert len(claims.details([found])) == 5


def test_a_cell_that_was_published_and_not_run_leaves_all_undecided(tmp_path: Path) -> None:
    fewer = {"factors": {**MANY["factors"], "batch_size": [1, 1000, 2500]}}
    found = only(tmp_path / "all", table, claim=FROM_FILE, **fewer)
    assert found.verdict == "inconclusive"
    assert "2 not run" in found.reason
    assert "published and not in this run: batch_size 10000, batch_size 5000" in found.reason
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
        "batch_size 20000 has no published ratio (server refused: cache-max-memory-size exceeded)"
        in found.reason
    )


@pytest.mark.parametrize(
    ("share", "verdict"), [("all", "contradicted"), ("most", "reproduced"), ("any", "reproduced")]
)
def test_the_share_of_cells_that_is_claimed(tmp_path: Path, share: str, verdict: str) -> None:
    claim = {"test": "at-least", "published": {"ratio": 1}, "where": {"workers": 100}, "in_cells": share}
    found = only(tmp_path, table, claim=claim, **MANY)
    assert found.verdict == verdict
    assert "contradicted in 2 (batch_size 1000, batch_size 2500)" in found.reason.replace("workers 100, ", "")


def test_a_claim_about_some_cells_looks_at_those(tmp_path: Path) -> None:
    claim = {
        "test": "at-least", "published": {"ratio": 1}, "of": {"system": INFLUX}, "over": {"system": CNOS},
        "where": {"batch_size": [1000, 2500]}, "across": ["batch_size"],
    }  # fmt: skip
    found = only(tmp_path, table, claim=claim, **MANY)
    assert (found.verdict, len(found.cells)) == ("reproduced", 2)


def trend(tmp_path: Path, values: list[float], **claim: Any) -> Judgement:
    rate = dict(zip(SIZES, values, strict=True))
    declared = {
        **{key: BASE[key] for key in ("id", "statement", "source", "phase", "metric", "of")},
        "test": "rises", "along": "batch_size", **claim,
    }  # fmt: skip
    experiment = measured_run.experiment("cnos-vs-influx", claims=[declared])
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): rate[levels["batch_size"]] * math.exp(chance.gauss(0, 0.01))}

    measured_run.write(tmp_path, "run-1", {"system": [CNOS], "batch_size": SIZES}, value, declared=experiment)
    [found] = claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)
    return found


@pytest.mark.parametrize(
    ("values", "claim", "verdict", "words"),
    [
        ([1, 2, 3, 4, 5], {}, "reproduced", "batch_size from 1 to 10000"),
        ([1, 2, 3, 4, 5], {"monotonic": True}, "reproduced", "lies above 1"),
        ([5, 4, 3, 2, 1], {}, "contradicted", "on the other side"),
        ([5, 4, 3, 2, 1], {"test": "falls", "monotonic": True}, "reproduced", "lies below 1"),
        ([1, 2, 3, 4, 3], {}, "direction only", "rows_per_second falls from batch_size 5000 to 10000"),
        ([1, 2, 3, 4, 3], {"monotonic": True}, "contradicted", "a step goes the other way"),
        ([1, 1, 1, 1, 1], {}, "inconclusive", "includes 1"),
        ([1, 2, 3, 4, 5], {"by_at_least": 3}, "reproduced", "lies above 2.73"),
        ([1, 1.2, 1.3, 1.4, 1.5], {"by_at_least": 3}, "direction only", "does not lie above 2.73"),
        ([1, 2, 3, 4, 5], {"published": {"ratio": 5}}, "reproduced", "the published 5"),
        ([1, 2, 3, 4, 5], {"published": {"ratio": 50}}, "direction only", "the published 50"),
    ],
)
def test_trends(tmp_path: Path, values: list[float], claim: dict[str, Any], verdict: str, words: str) -> None:
    found = trend(tmp_path, values, **claim)
    assert (found.verdict, words in found.reason) == (verdict, True), found.reason


def test_claims_are_those_that_the_run_declared(tmp_path: Path) -> None:
    assert judge(tmp_path, twice) == []
    measured_run.write(tmp_path, "run-2", {"system": [CNOS]}, lambda levels, block: {}, declared={})
    assert claims.judge_run(tmp_path, "run-2", measured_run.PUBLISHED) == []
    with pytest.raises(RequestError, match='there is no run "run-3"'):
        claims.judge_run(tmp_path, "run-3", measured_run.PUBLISHED)


def test_every_reason_is_a_sentence_without_a_stop(tmp_path: Path) -> None:
    found = judge(
        tmp_path,
        table,
        FROM_FILE,
        {"id": "other", "of": {"system": OTHER}},
        {"id": "u", "underspecified": "x"},
        **MANY,
    )
    assert [one.verdict for one in found] == ["reproduced", "not run", "underspecified"]
    for one in found:
        assert one.reason
        assert not re.search(r"\.$|  |None|nan", one.reason)


UNSTATED = {"underspecified": "the size of a batch is not stated", "unstated": ["batch_size"]}


@pytest.mark.parametrize(
    ("small", "large", "verdict", "words"),
    [
        (2.0, 2.0, "reproduced", "judged at batch_size 1 and 1000, for none is stated"),
        (2.0, 3.0, "direction only", "direction only in 1 (batch_size 1000)"),
        (0.5, 0.5, "contradicted", "judged at batch_size 1 and 1000"),
        (
            2.0,
            0.5,
            "underspecified",
            "what it leaves out decides: reproduced at batch_size 1, contradicted at",
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
    assert words in found.reason


def test_what_is_not_stated_stays_open_at_a_single_level(tmp_path: Path) -> None:
    factors = {"system": [CNOS, INFLUX], "batch_size": [1]}
    found = only(tmp_path, twice, claim=UNSTATED, factors=factors)
    assert (found.verdict, found.measured and round(found.measured)) == ("underspecified", 2)
