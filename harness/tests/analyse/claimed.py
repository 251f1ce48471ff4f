"""Judge claims on synthetic runs with a given truth."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchbook.analyse import claims
from benchbook.analyse.claims import Judgement
from tests.claims import measured_run

CNOS, INFLUX, OTHER = "cnosdb-2.0.1", "influxdb-1.8.10", "cnosdb-2.4"
BASE: dict[str, Any] = {
    "id": "faster", "statement": "A is faster", "source": "a page", "test": "ratio", "phase": "load",
    "metric": "rows_per_second", "of": {"system": CNOS}, "over": {"system": INFLUX}, "published": {"ratio": 2.0},
}  # fmt: skip
Truth = Callable[[dict[str, Any]], float]
"""Levels → rate in thousands; with a second argument, the block."""
SIZES = [1, 1000, 2500, 5000, 10000]
MANY = {"factors": {"system": [CNOS, INFLUX], "workers": [100], "batch_size": SIZES}}
RATIOS = {1: 2.4, 1000: 430 / 490, 2500: 530 / 570, 5000: 660 / 610, 10000: 680 / 540}
FROM_FILE = {
    "where": {"workers": 100}, "across": ["batch_size"],
    "published": {"file": "cnos-vs-influx.csv", "select": {"metric": "rows_per_second"}},
}  # fmt: skip


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
        rate = 1000 * truth(levels) * math.exp(chance.gauss(0, noise))
        return {("load", one.get("metric", "rows_per_second")): rate for one in declared}

    experiment = measured_run.experiment("cnos-vs-influx", claims=[{**BASE, **one} for one in declared])
    experiment["published_machine"] = options.pop("published_machine", experiment["published_machine"])
    experiment["profiles"]["quick"]["in_place"] = options.pop("in_place", {})
    measured_run.write(
        tmp_path, "run-1", factors or {"system": [CNOS, INFLUX]}, value, declared=experiment, **options
    )
    return claims.judge_run(tmp_path, "run-1", measured_run.PUBLISHED)


def twice(levels: dict[str, Any]) -> float:
    return 2.0 if levels["system"] == CNOS else 1.0


def table(levels: dict[str, Any]) -> float:
    return RATIOS[levels["batch_size"]] if levels["system"] == CNOS else 1.0


def only(tmp_path: Path, truth: Truth, *, claim: dict[str, Any] | None = None, **options: Any) -> Judgement:
    [found] = judge(tmp_path, truth, claim or {}, **options)
    return found
