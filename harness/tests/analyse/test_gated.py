"""The metrics of a gate's run: sides, builds, and the noise that earlier A/A runs measured."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import gated
from benchbook.analyse.gate import Look
from benchbook.analyse.run import Run
from benchbook.plan.gating import Gate
from tests.analyse.test_noise import PAIR, A, B, aa
from tests.claims import measured_run

LOOKS = [Look(10, 1.0)]


def gate(factor: str, base: tuple[str, ...], head: tuple[str, ...]) -> Gate:
    return Gate(factor, base, head, 0.03, 60.0, ("rows_per_second",))


def measure(results: Path, factors: dict[str, list[Any]], rate: Any) -> Run:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: rate(levels) * math.exp(chance.gauss(0, 0.002))}

    measured_run.write(results, "run-1", factors, value, blocks=10)
    return Run(results, "run-1")


def test_each_metric_is_compared_between_cells_that_differ_in_the_side_alone(tmp_path: Path) -> None:
    factors: dict[str, list[Any]] = {"system": [A, B], "workers": [1, 4]}
    run = measure(
        tmp_path, factors, lambda levels: 900.0 if levels == {**levels, "system": B, "workers": 4} else 1000.0
    )
    one, four = gated.rows(run, gate("system", (A,), (B,)), LOOKS)
    assert [row.answer.word for row in (one, four)] == ["not slower", "slower"]
    assert [row.setting for row in (one, four)] == ["workers 1", "workers 4"]
    assert four.answer.loss == pytest.approx(1 / 9, abs=0.01)
    assert (four.base, four.head) == (pytest.approx(1000, rel=0.01), pytest.approx(900, rel=0.01))
    assert one.title.startswith("load: ")
    assert gated.rows(run, gate("system", (A,), ("sqlite",)), LOOKS) == []


def test_noise_of_earlier_a_a_runs_keeps_a_small_loss_from_being_certain(tmp_path: Path) -> None:
    run = measure(tmp_path, {"system": [A, B]}, lambda levels: 1000.0 if levels["system"] == A else 950.0)
    made = gate("system", (A,), (B,))
    [alone] = gated.rows(run, made, LOOKS)
    assert alone.answer.word == "slower"
    for number in range(3):
        aa(tmp_path, f"aa-{number}", 0.002, apart=0.1)
    gated._noise.cache_clear()
    [noisy] = gated.rows(Run(tmp_path, "run-1"), made, LOOKS)
    assert noisy.answer.word == "open"
    assert noisy.answer.needed is None


def test_the_noise_of_an_a_a_gate_is_not_its_own(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.002, apart=0.1, systems=(A,), blocks=10)
    gated._noise.cache_clear()
    [found] = gated.rows(Run(tmp_path, "aa-1"), gate("aa", ("A",), ("B",)), LOOKS)
    assert found.answer.word == "slower"
    assert found.setting == ""


def test_builds_that_differ_make_a_loss_uncertain(tmp_path: Path) -> None:
    """The builds of each side differ by 10 %, and the sides by 5 %: no one knows what a third build would do."""
    levels = ["base-1", "base-2", "head-1", "head-2"]
    rates = dict(zip(levels, (1000.0, 1100.0, 950.0, 1045.0), strict=True))
    run = measure(tmp_path, {"system": [A], "build": levels}, lambda held: rates[held["build"]])
    [one] = gated.rows(run, gate("build", ("base-1",), ("head-1",)), LOOKS)
    assert one.answer.word == "slower"
    [both] = gated.rows(run, gate("build", ("base-1", "base-2"), ("head-1", "head-2")), LOOKS)
    assert both.answer.word == "open"
    assert both.answer.loss == pytest.approx(1 / 0.95 - 1, abs=0.01)
    assert both.setting == ""


def test_a_metric_that_one_side_lacks_is_open_and_not_left_out(tmp_path: Path) -> None:
    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        both = {("load", "latency_p99"): 0.01 + 0.0001 * block}
        return both | ({PAIR: 1000.0 + block} if levels["system"] == A else {})

    measured_run.write(tmp_path, "run-1", {"system": [A, B]}, value, blocks=10)
    made = Gate("system", (A,), (B,), 0.03, 60.0, ("rows_per_second", "latency_p99"))
    words = {row.metric: row.answer.word for row in gated.rows(Run(tmp_path, "run-1"), made, LOOKS)}
    assert words == {"rows_per_second": "open", "latency_p99": "not slower"}
