"""What a page says of the sources of variance: only what is certain among all tests of the page."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse.run import Run
from benchbook.report.charts import variance
from benchbook.report.figure import Figure
from tests.claims import measured_run

MEASURED = {"loading": ("load", "rows_per_second"), "queries": ("q", "latency_p50")}


def made(where: Path, moved: float) -> Run:
    """Write a run in which the layout moves the ratio of loading by a factor, and nothing else moves anything."""
    chance = random.Random(4)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        moves = moved if (levels["system"], levels["address_layout"]) == ("duckdb", "fixed") else 1.0
        return {
            ("load", "rows_per_second"): 1000 * moves * math.exp(chance.gauss(0, 0.02)),
            ("q", "latency_p50"): 0.01 * math.exp(chance.gauss(0, 0.02)),
        }

    factors = {"system": ["duckdb", "sqlite"], "address_layout": ["random", "fixed"], "core": [0, 1]}
    return Run(where, measured_run.write(where, "run-1", factors, value, blocks=8, name="what-varies"))


def test_what_moves_a_ratio_is_named_with_its_size(tmp_path: Path):
    run = made(tmp_path, 1.2)
    said = str(variance.finding(run, MEASURED).markdown)
    assert re.search(r"Loading: the ratio is clearly moved by the address layout, \d", said)
    assert "Queries: the ratio is not clearly moved by any of 3 sources." in said
    figure = variance.chart(run, MEASURED)
    assert isinstance(figure, Figure)
    assert figure.title == "1 of 3 things that should not matter clearly move a ratio"
    assert "another processor" in str(figure.spec)


@pytest.mark.parametrize("moved", [1.0, 1.011])
def test_what_chance_explains_among_all_tests_is_not_named(tmp_path: Path, moved: float):
    figure = variance.chart(made(tmp_path, moved), MEASURED)
    assert isinstance(figure, Figure)
    assert figure.title.startswith("0 of 3 things")


def test_a_run_of_one_system_says_what_it_lacks(tmp_path: Path):
    run = Run(
        tmp_path, measured_run.write(tmp_path, "run-1", {"system": ["duckdb"]}, lambda levels, block: {})
    )
    assert "it needs two systems" in variance.finding(run, MEASURED).markdown
