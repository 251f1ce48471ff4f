"""Sources of variance: those of a known truth are found with their size, and no others."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import variance
from benchbook.analyse.run import Run
from benchbook.analyse.variance import BLOCK, ORDER, REST, Source, decomposed
from tests.claims import measured_run

BOTH = ["duckdb", "sqlite"]
LEVELS = {"address_layout": ["random", "fixed"], "environment_bytes": [0, 1000, 4096]}


def drawn(
    effects: dict[str, dict[Any, float]], scatter: float, blocks: int = 5, seed: int = 1
) -> list[Source]:
    """Return the sources of ratios whose logarithm is the sum of effects, and of a scatter."""
    chance = random.Random(seed)
    ratios, levels = [], {name: [] for name in (*LEVELS, BLOCK)}
    for block, *held in itertools.product(range(blocks), *LEVELS.values()):
        of = dict(zip((*LEVELS, BLOCK), (*held, block), strict=True))
        ratios.append(
            sum(effects.get(name, {}).get(level, 0.0) for name, level in of.items())
            + chance.gauss(0, scatter)
        )
        for name, level in of.items():
            levels[name].append(level)
    return decomposed(ratios, levels)


def test_an_effect_is_found_with_its_size_and_the_rest_is_the_scatter():
    found = {one.name: one for one in drawn({"address_layout": {"fixed": 0.2}}, 0.02, blocks=8)}
    layout, rest = found["address_layout"], found[REST]
    assert layout.deviation == pytest.approx(0.1, rel=0.1)  # two levels that are 0.2 apart
    assert layout.low < 0.1 < layout.high
    assert layout.chance is not None
    assert layout.chance < 1e-6
    assert rest.low < 0.02 < rest.high
    for name in ("environment_bytes", BLOCK):
        assert found[name].low == 0
        assert found[name].deviation < 0.01


def test_three_levels_have_the_standard_deviation_of_their_effects():
    effects = {"environment_bytes": {0: 0.0, 1000: 0.1, 4096: 0.3}}
    found = {one.name: one for one in drawn(effects, 0.01)}
    mean = 0.4 / 3
    wanted = math.sqrt(sum((effect - mean) ** 2 for effect in (0.0, 0.1, 0.3)) / 3)
    assert found["environment_bytes"].deviation == pytest.approx(wanted, rel=0.05)
    assert found["environment_bytes"].levels == 3


def test_intervals_hold_the_truth_in_95_of_100_cases():
    truth, held, zero = 0.02, 0, 0
    for seed in range(400):
        found = {one.name: one for one in drawn({"address_layout": {"fixed": 2 * truth}}, 0.05, seed=seed)}
        held += found["address_layout"].low <= truth <= found["address_layout"].high
        zero += found["environment_bytes"].low == 0
    assert 0.92 <= held / 400 <= 0.98
    assert 0.95 <= zero / 400 <= 1  # 97.5 % of the intervals of no effect begin at 0


def test_lost_trials_do_not_mix_two_sources():
    chance = random.Random(3)
    ratios, levels = [], {"core": [], "storage": []}
    for core, storage in [(0, "a")] * 12 + [(1, "b")] * 12 + [(0, "b")] * 4:
        ratios.append(0.5 * core + chance.gauss(0, 0.01))
        levels["core"].append(core)
        levels["storage"].append(storage)
    found = {one.name: one for one in decomposed(ratios, levels)}
    assert found["storage"].low == 0
    assert found["core"].low > 0


def test_too_few_ratios_show_nothing():
    assert decomposed([0.1, 0.2, 0.3, 0.1], {"core": [0, 1, 0, 1]}) == []


def test_a_run_gives_its_factors_blocks_and_order(tmp_path: Path):
    chance = random.Random(5)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        moved = 1.3 if levels["address_layout"] == "fixed" and levels["system"] == "duckdb" else 1.0
        return {("load", "rows_per_second"): 1000 * moved * math.exp(chance.gauss(0, 0.01))}

    factors: dict[str, list[Any]] = {"system": BOTH, **LEVELS}
    run = Run(tmp_path, measured_run.write(tmp_path, "run-1", factors, value, name="what-varies"))
    found = {one.name: one for one in variance.sources(run, ("load", "rows_per_second"))}
    assert set(found) == {*LEVELS, BLOCK, REST}  # every trial of DuckDB is the first, so there is no order
    assert found["address_layout"].deviation == pytest.approx(math.log(1.3) / 2, rel=0.1)
    assert found["environment_bytes"].low == 0
    assert found[REST].levels == 30


def test_a_run_of_three_systems_has_no_one_ratio(tmp_path: Path):
    factors: dict[str, list[Any]] = {"system": [*BOTH, "files"]}
    measured_run.write(tmp_path, "run-1", factors, lambda levels, block: {("load", "rows_per_second"): 1.0})
    assert variance.sources(Run(tmp_path, "run-1"), ("load", "rows_per_second")) == []


def test_the_order_of_two_systems_is_a_source(tmp_path: Path):
    chance = random.Random(2)
    ratios, first = [], []
    for number in range(40):
        before = number % 2 == 0
        ratios.append((0.1 if before else 0.0) + chance.gauss(0, 0.02))
        first.append(before)
    found = {one.name: one for one in decomposed(ratios, {ORDER: first})}
    assert found[ORDER].deviation == pytest.approx(0.05, rel=0.2)
