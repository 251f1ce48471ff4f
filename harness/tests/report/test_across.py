"""What a page says about its claims on other processors, from all published runs."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse.run import Run
from benchbook.report import across
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run
from tests.report.parsed import Page

LOAD = {"name": "load", "workload": "load", "options": {"batch_size": 5000}}


def written(where: Path, ratio: float) -> Run:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = ratio if levels["system"] != INFLUX else 1.0
        return {("load", "rows_per_second"): 1000 * faster * math.exp(chance.gauss(0, 0.01))}

    declared = measured_run.experiment("cnos-vs-influx", claims=[BASE])
    run_id = measured_run.write(where, where.name, {"system": [CNOS, INFLUX]}, value, declared=declared)
    run = Run(where, run_id)
    run._topics["planned"] = {"phases": [LOAD]}
    return run


def publish(monkeypatch: pytest.MonkeyPatch, *processors: list[Run]) -> None:
    """Make runs of several processors the ledger."""
    monkeypatch.setattr(across.ledger, "by_processor", lambda held: list(processors))
    monkeypatch.setattr(across.opening, "in_ledger", lambda run, one: one)


def test_a_run_that_is_not_published_shows_nothing(tmp_path: Path):
    assert across.section(written(tmp_path / "run-1", 2.0)) is None


def test_one_processor_says_what_holds_here_and_what_to_expect_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = written(tmp_path / "run-1", 2.0)
    publish(monkeypatch, [run])
    [[statement, here, mean, another, processors, runs]] = across._rows(run)
    assert statement == BASE["statement"]
    assert (processors, runs) == ("1", "1")
    ends = [[float(end) for end in text.partition("(")[2].rstrip(")").split("-")] for text in (here, mean)]
    ends.append([float(end) for end in another.split("-")])
    assert all(low < 2.0 < high for low, high in ends)
    widths = [high / low for low, high in ends]
    assert widths == sorted(widths)
    assert widths[0] < 1.2 < widths[2]


def test_runs_of_each_processor_count_and_the_order_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = [written(tmp_path / f"run-{number}", ratio) for number, ratio in enumerate((2.0, 2.0, 3.0))]
    publish(monkeypatch, [made[0], made[1]], [made[2]])
    [first] = across._rows(made[0])
    assert first[-2:] == ["2", "3"]
    publish(monkeypatch, [made[2]], [made[1], made[0]])
    across.of_claims.cache_clear()
    assert across._rows(made[0]) == [first]
    [other] = across._rows(made[2])
    assert (other[1] != first[1], other[2:]) == (True, first[2:])
    block = across.section(made[0])
    assert block is not None
    assert across.TITLE in block.markdown
    assert first[3] in Page(block.markup).text
