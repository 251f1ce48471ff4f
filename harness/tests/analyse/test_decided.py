"""The word for two that do not clearly differ: equal within a margin, or undecided."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import comparison
from benchbook.analyse.run import Run
from tests.claims import measured_run

BOTH = {"system": ["duckdb", "sqlite"]}
LOAD = {"phases": [{"name": "load", "workload": "load", "options": {}}], "factors": BOTH}


def run_of(where: Path, ratio: float, noise: float, blocks: int = 6) -> Run:
    chance = random.Random(11)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = ratio if levels["system"] == "sqlite" else 1.0
        return {("load", "rows_per_second"): 1000 * faster * math.exp(chance.gauss(0, noise))}

    return Run(
        where,
        measured_run.write(
            where, "run-1", BOTH, value, blocks=blocks, plan=LOAD, seconds=lambda levels, block: 5.0
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
