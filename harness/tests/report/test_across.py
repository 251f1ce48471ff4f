"""What a page says about its claims on other processors, from all published runs."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.run import Run
from benchbook.report import across
from tests.analyse.claimed import BASE, CNOS, INFLUX
from tests.claims import measured_run
from tests.report.parsed import Page

LOAD = {"name": "load", "workload": "load", "options": {"batch_size": 5000}}


def written(where: Path, ratio: float, processor: int = 1) -> Run:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = ratio if levels["system"] != INFLUX else 1.0
        return {("load", "rows_per_second"): 1000 * faster * math.exp(chance.gauss(0, 0.01))}

    declared = measured_run.experiment("cnos-vs-influx", claims=[BASE])
    host = {"cpu": {"model": "Synthetic", "flags_count": processor}}
    run_id = measured_run.write(
        where, f"run-{ratio:g}-{processor}", {"system": [CNOS, INFLUX]}, value, declared=declared, host=host,
        plan={"phases": [LOAD]},
    )  # fmt: skip
    return Run(where, run_id)


def ends(text: str) -> list[float]:
    return [float(end) for end in text.rpartition("(")[2].rstrip(")").split("-")]


def test_a_run_without_claims_shows_nothing(tmp_path: Path):
    run = written(tmp_path, 2.0)
    run.declared["claims"] = []
    assert across.section(run) is None


def test_one_processor_says_what_holds_here_and_what_to_expect_elsewhere(tmp_path: Path):
    [[statement, alone, here, mean, another, processors, runs]] = across._rows(written(tmp_path, 2.0))
    assert statement == BASE["statement"]
    assert (processors, runs) == ("1", "1")
    assert all(low < 2.0 < high for low, high in map(ends, (alone, here, another)))
    assert mean == quantity.MISSING, "of one processor there is no mean over processors"
    widths = [high / low for low, high in map(ends, (alone, here, another))]
    assert widths == sorted(widths)
    assert widths[0] < 1.2 < widths[2]


def test_runs_of_each_processor_count(tmp_path: Path):
    first, _, other = written(tmp_path, 2.0), written(tmp_path, 2.1), written(tmp_path, 3.0, processor=2)
    [one], [two] = across._rows(first), across._rows(other)
    assert one[-2:] == ["2", "3"]
    assert (two[3:], one[2] == two[2]) == (one[3:], False)
    block = across.section(first)
    assert block is not None
    assert across.TITLE in block.markdown
    assert one[3] in Page(block.markup).text
