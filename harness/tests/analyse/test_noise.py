"""The noise floor: taken from A/A runs of the same experiment, profile, machine and cell, and used in verdicts."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims, noise
from benchbook.analyse.run import Run
from benchbook.errors import RequestError
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")
A, B = "cnosdb-2.0.1", "influxdb-1.8.10"
CLAIM = {
    "id": "faster", "statement": "A is faster", "source": "a page", "test": "at-least", "phase": "load",
    "metric": "rows_per_second", "of": {"system": A}, "over": {"system": B}, "published": {"ratio": 1},
}  # fmt: skip


def aa(
    results: Path, run_id: str, spread: float, *, systems: tuple[str, ...] = (A, B), **options: Any
) -> None:
    chance = random.Random(run_id)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: 1000 * math.exp(chance.gauss(0, spread))}

    measured_run.write(results, run_id, {"system": list(systems), "aa": ["A", "B"]}, value, **options)


def run(results: Path, ratio: float, **options: Any) -> claims.Judgement:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: (ratio if levels["system"] == A else 1.0) * math.exp(chance.gauss(0, 0.002))}

    declared = measured_run.experiment("cnos-vs-influx", claims=[CLAIM])
    measured_run.write(results, "run-1", {"system": [A, B]}, value, declared=declared, **options)
    [found] = claims.judge_run(results, "run-1", measured_run.PUBLISHED)
    return found


def test_the_floor_is_the_largest_factor_that_the_a_a_run_does_not_exclude(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, blocks=8)
    found = noise.measured(Run(tmp_path, "aa-1"))
    assert len(found) == 2
    for one in found.values():
        assert one.factor is not None
        assert one.ratio.low is not None
        assert one.ratio.high is not None
        assert one.factor == max(one.ratio.high, 1 / one.ratio.low)
        assert 1.0 < one.factor < 1.25
        assert (one.phase, one.metric, one.unit, one.cell) == (*PAIR, "1/s", f"system={one.system}")
    assert {row["trials"] for row in noise.rows(found)} == {8}


def test_a_claim_within_the_floor_is_inconclusive(tmp_path: Path) -> None:
    assert run(tmp_path / "without", 1.03).verdict == "reproduced"
    assert "the noise floor of this machine is unknown" in run(tmp_path / "unknown", 1.03).reason
    aa(tmp_path / "with", "aa-1", 0.05)
    found = run(tmp_path / "with", 1.03)
    assert found.verdict == "inconclusive"
    assert "reaches into the noise floor" in found.reason
    assert "noise floor: " in found.reason
    assert run_again(tmp_path / "far", 1.5) == "reproduced"


def run_again(results: Path, ratio: float) -> str:
    aa(results, "aa-1", 0.05)
    return run(results, ratio).verdict


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "published"},
        {"name": "another"},
        {"host": {"machine": {"id": "ffffffffffffffff"}}},
        {"changes": lambda levels: {"dataset_digest": "other"}},
        {"host": {"machine": {"id": "not readable: x"}}},
    ],
)
def test_a_floor_of_something_else_is_not_used(tmp_path: Path, options: dict[str, Any]) -> None:
    aa(tmp_path, "aa-1", 0.2, **options)
    found = run(tmp_path, 1.03)
    assert found.verdict == "reproduced"
    assert "unknown" in found.reason


def test_the_latest_floor_of_each_system_counts(tmp_path: Path) -> None:
    aa(tmp_path, "aa-old", 0.5, created="2026-01-01T00:00:00+00:00", database=False)
    aa(tmp_path, "aa-new", 0.001, created="2026-02-01T00:00:00+00:00", systems=(A,), database=False)
    run(tmp_path, 1.03)
    observed = Run(tmp_path, "run-1")
    floors = noise.floors(observed)
    by_system = {cell.system: floors.floor(cell, PAIR) for cell in observed.cells}
    assert {system: floor.run_id for system, floor in by_system.items() if floor} == {
        A: "aa-new",
        B: "aa-old",
    }
    assert floors.runs == ["aa-new", "aa-old"]
    largest = by_system[B]
    assert largest is not None
    assert floors.factor(observed.cells, PAIR) == largest.factor
    by_cell = noise.of_cells(observed, floors)
    assert by_cell[f"system={B}", *PAIR] == largest.factor
    assert set(by_cell) == {(f"system={A}", *PAIR), (f"system={B}", *PAIR)}


def test_two_blocks_give_no_floor(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, blocks=2)
    assert {one.factor for one in noise.measured(Run(tmp_path, "aa-1")).values()} == {None}
    assert "unknown" in run(tmp_path, 1.03).reason


def test_an_a_a_run_judges_no_claims(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, declared=measured_run.experiment("cnos-vs-influx", claims=[CLAIM]))
    with pytest.raises(RequestError, match="is an A/A run"):
        claims.judge_run(tmp_path, "aa-1", measured_run.PUBLISHED)
