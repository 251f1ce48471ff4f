"""The word for two that do not clearly differ: equal within a margin, or undecided."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import comparison, limits
from benchbook.analyse.run import Run
from tests.claims import measured_run

BOTH = {"system": ["duckdb", "sqlite"]}
LOAD = {"phases": [{"name": "load", "workload": "load", "options": {}}], "factors": BOTH}


def run_of(where: Path, ratio: float, noise: float, blocks: int = 6, seconds: float = 5.0) -> Run:
    chance = random.Random(11)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = ratio if levels["system"] == "sqlite" else 1.0
        return {("load", "rows_per_second"): 1000 * faster * math.exp(chance.gauss(0, noise))}

    return Run(
        where,
        measured_run.write(
            where, "run-1", BOTH, value, blocks=blocks, plan=LOAD, seconds=lambda levels, block: seconds
        ),
    )


@pytest.mark.parametrize(
    ("ratio", "noise", "word", "code"),
    [
        (1.0, 0.005, comparison.NO_DIFFERENCE, "compared-equal"),
        (1.3, 0.4, comparison.UNDECIDED, "compared-includes-1"),
        (2.0, 0.01, "better", "compared-better"),
        (0.5, 0.01, "worse", "compared-better"),
        (1.03, 0.001, "better", "compared-better"),
    ],
)
def test_a_wide_interval_is_undecided_and_a_narrow_one_around_1_is_no_difference(
    tmp_path: Path, ratio: float, noise: float, word: str, code: str
):
    [one] = [
        one for one in comparison.judged(run_of(tmp_path, ratio, noise)) if one.pair.above.phase == "load"
    ]
    assert (one.word, one.reason.code) == (word, code)


def test_the_trials_that_would_decide_decide(tmp_path: Path):
    found = comparison.trials_to_decide(run_of(tmp_path / "few", 1.3, 0.3))
    assert found is not None
    needed, decided = found
    assert 6 < needed < 200
    assert decided == 1
    [one] = comparison.judged(
        run_of(tmp_path / "many", 1.3, 0.3, blocks=2 * needed)
    )  # a chance of 80 %, doubled
    assert one.word == "better"


def test_nothing_is_to_be_decided_where_all_is(tmp_path: Path):
    assert comparison.trials_to_decide(run_of(tmp_path, 2.0, 0.01)) is None


def test_a_phase_under_a_second_has_no_verdict_and_one_of_a_second_has(tmp_path: Path):
    [short] = comparison.judged(run_of(tmp_path / "short", 2.0, 0.01, seconds=0.9))
    assert (short.word, short.reason.code) == (comparison.NO_VERDICT, "compared-unfit")
    assert short.reason.facts["because"].facts == {"phase": "load", "seconds": 0.9, "least": 1.0}
    assert short.pair.value == pytest.approx(2.0, rel=0.05)  # it is shown all the same
    [long] = comparison.judged(run_of(tmp_path / "long", 2.0, 0.01, seconds=1.0))
    assert long.word == "better"


def test_a_short_phase_is_no_test_among_the_others(tmp_path: Path):
    [short] = comparison.judged(run_of(tmp_path / "short", 2.0, 0.01, seconds=0.9))
    [long] = comparison.judged(run_of(tmp_path / "long", 1.3, 0.2))
    alone = comparison.verdicts([long.pair])
    assert comparison.verdicts([short.pair, long.pair, short.pair])[1] == alone[0]


def test_what_a_short_phase_stores_is_judged(tmp_path: Path):
    run = run_of(tmp_path, 2.0, 0.01, seconds=0.9)
    assert limits.short_phase(run, run.cells, ("load", "latency_p50_seconds")) is not None
    assert limits.short_phase(run, run.cells, ("load", "rows_found")) is None
    assert limits.short_phase(run, run.cells, ("trial", "rows_per_second")) is None
