"""Every verdict of a claim, on synthetic runs with a known truth."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.declare import published
from benchbook.errors import RequestError
from benchbook.record import database
from benchbook.report.reasons import sentence
from tests.analyse.claimed import BASE, CNOS, FROM_FILE, INFLUX, MANY, OTHER, judge, only, table, twice
from tests.claims import measured_run


@pytest.mark.parametrize(
    ("truth", "claim", "verdict", "words"),
    [
        (2.0, {}, "reproduced", "lies within 10 % of the published 2 (1.82 to 2.2)"),
        (1.5, {}, "different size", "lies outside the band of 10 % around the published 2 (1.82 to 2.2)"),
        (0.5, {}, "contradicted", "lies below 1, on the other side of the published ratio (2)"),
        (
            1.0,
            {},
            "contradicted",
            "a difference was published, but the 90 % CI lies within 5 % of 1, which is no difference",
        ),
        (1.0, {"test": "equal", "published": None}, "reproduced", "within 10 % of 1"),
        (1.3, {"test": "equal", "published": None}, "contradicted", "lies outside the band of 10 % around 1"),
        (3.0, {"test": "at-least"}, "reproduced", "lies above 2"),
        (1.9, {"test": "at-least"}, "different size", "lies below 2"),
        (1.9, {"test": "at-least", "margin": 0.1}, "reproduced", "lies above 1.82 (2 and 10 %)"),
        (1.2, {"test": "at-least", "published": {"ratio": 1}}, "reproduced", "lies above 1"),
        (0.8, {"test": "at-least", "published": {"ratio": 1}}, "contradicted", "on the other side"),
        (0.3, {"test": "at-most", "published": {"ratio": 0.5}}, "reproduced", "lies below 0.5"),
        (0.7, {"test": "at-most", "published": {"ratio": 0.5}}, "different size", "lies above 0.5"),
        (3.0, {"test": "at-most", "published": {"ratio": 2}}, "contradicted", "lies above 2"),
        (2.0, {"margin": 0.01}, "direction only", "lies above 1, and partly within 1 % of the published 2"),
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
    assert (found.verdict, words in sentence(found.reasons)) == (verdict, True), sentence(found.reasons)
    assert found.measured == pytest.approx(truth, rel=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.measured < found.high


def test_noise_is_inconclusive(tmp_path: Path) -> None:
    found = only(tmp_path, twice, noise=2.0)
    assert found.verdict == "inconclusive"
    assert "includes 1" in sentence(found.reasons)


def test_two_trials_are_inconclusive_and_their_ratio_is_shown(tmp_path: Path) -> None:
    found = only(tmp_path, twice, blocks=2)
    assert (found.verdict, found.low, found.high) == ("inconclusive", None, None)
    assert found.measured == pytest.approx(2, rel=0.05)
    assert "2 pairs; an interval needs at least 3" in sentence(found.reasons)


def test_trials_that_do_not_count_leave_their_block_out(tmp_path: Path) -> None:
    def status(levels: dict[str, Any], block: int) -> tuple[str, str | None]:
        return ("invalid", "rows differ") if block > 1 and levels["system"] == CNOS else ("ok", None)

    assert only(tmp_path, twice, status=status).verdict == "inconclusive"


def test_an_embedded_system_beside_a_server_is_said(tmp_path: Path) -> None:
    found = only(tmp_path, twice, systems={CNOS: {"embedded": True}, INFLUX: {"embedded": False}})
    assert "cnosdb-2.0.1 shares the client's process" in sentence(found.reasons)


def test_profiles_are_said(tmp_path: Path) -> None:
    assert "profile smoke is for tests" in sentence(only(tmp_path / "a", twice, profile="smoke").reasons)
    found = only(tmp_path / "b", twice, profile="published")
    scaled = "scaled: this machine has 2 of the publication's 16 cores and 25 of its 256 GB of memory"
    assert scaled in sentence(found.reasons)
    big = {"cpu": {"usable_cores": 16}, "memory": {"total_bytes": 251e9}}
    same = only(tmp_path / "c", twice, profile="published", host=big)
    assert "scaled" not in {one.code for one in same.reasons}


def test_an_outlier_is_counted_and_kept(tmp_path: Path) -> None:
    count = iter(range(100))
    found = only(tmp_path, lambda levels: twice(levels) * (1.5 if next(count) == 0 else 1), blocks=8)
    assert "1 outlier, kept" in sentence(found.reasons)
    assert found.cells[0].trials == 8


def test_claims_are_those_that_the_run_declared(tmp_path: Path) -> None:
    assert judge(tmp_path, twice) == []
    measured_run.write(tmp_path, "run-2", {"system": [CNOS]}, lambda levels, block: {}, declared={})
    assert claims.judge_run(tmp_path, "run-2", measured_run.PUBLISHED) == []
    with pytest.raises(RequestError, match='There is no run "run-3"'):
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
        assert sentence(one.reasons)
        assert not re.search(r"\.$|  |None|nan", sentence(one.reasons))


@pytest.mark.parametrize("kept", ["in its record", "in its folder"])
def test_a_claim_is_judged_by_the_numbers_that_were_published_when_the_run_began(
    tmp_path: Path, kept: str
) -> None:
    """Older runs kept them in their folder alone, which results on object storage do not have."""
    declared = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **FROM_FILE}])
    measured_run.write(
        tmp_path, "run-1", MANY["factors"], lambda levels, block: {("load", "rows_per_second"): table(levels)},
        declared=declared,
    )  # fmt: skip
    today = tmp_path / "today"
    today.mkdir()
    text = (measured_run.PUBLISHED / "cnos-vs-influx.csv").read_text()
    if kept == "in its folder":
        then = tmp_path / "runs" / "run-1" / "declared" / "published"
        then.mkdir(parents=True)
        (then / "cnos-vs-influx.csv").write_text(text)
    else:
        file = tmp_path / "runs" / "run-1" / "run.json"
        stated = json.loads(file.read_text())
        rows = published.read(measured_run.PUBLISHED, "cnos-vs-influx.csv")
        stated["declared"]["published"] = {"cnos-vs-influx.csv": rows}
        file.write_text(json.dumps(stated))
        database.rebuild(tmp_path)
    (today / "cnos-vs-influx.csv").write_text(text.replace(",25000,", ",1000,").replace(",60000,", ",1000,"))
    assert (today / "cnos-vs-influx.csv").read_text() != text
    [found] = claims.judge_run(tmp_path, "run-1", today)
    assert found.verdict == "reproduced"
    assert {cell.published_over for cell in found.cells} == {25_000, 490_000, 570_000, 610_000, 540_000}
