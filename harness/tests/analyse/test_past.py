"""The history of an experiment: series over runs and releases, and what is said of their changes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchbook.analyse import past
from benchbook.analyse.interval import mean_log
from benchbook.analyse.past import Point, Series
from benchbook.analyse.run import Run
from benchbook.record.database import rebuild
from benchbook.report.charts.past import charts
from tests.record import synthetic_run


def series(levels: list[float], blocks: int, direction: str = "higher", by: past.By = "release") -> Series:
    """Return a series whose points have these typical values, with blocks that vary by 2 %."""
    chance = np.random.default_rng(1)
    made = Series(by, "quick", "a processor", "x", "load", "rows_per_second", "1/s", direction)
    for place, level in enumerate(levels):
        values = [float(level * math.exp(chance.normal(0, 0.02))) for _ in range(blocks)]
        logs = {block: math.log(value) for block, value in enumerate(values)}
        made.points.append(
            Point(f"x-{place}", f"2026-01-{place + 1:02d}", f"1.{place}", mean_log(values), logs)
        )
    return made


@pytest.mark.parametrize(("direction", "said"), [("higher", "better"), ("lower", "worse")])
def test_a_release_that_doubles_a_rate(direction: str, said: str):
    [change] = past._changes(series([100.0, 100.0, 100.0, 200.0, 200.0], 5, direction))
    assert (change.place, change.direction) == (3, said)
    assert change.ratio == pytest.approx(2, rel=0.03)


def test_a_change_among_runs_needs_enough_of_them():
    assert [one.place for one in past._changes(series([1.0] * 5 + [2.0] * 5, 1, by="run"))] == [5]
    assert past._changes(series([1.0] * 2 + [2.0] * 2, 1, by="run")) == []


def test_releases_without_common_blocks_are_not_compared():
    one = series([1.0, 1.0, 9.0, 9.0], 5)
    for place, point in enumerate(one.points):
        shifted = {10 * place + block: value for block, value in point.logs.items()}
        one.points[place] = Point(point.label, point.day, point.version, point.typical, shifted)
    assert past._changes(one) == []


def test_the_chart_states_the_change():
    one = series([100.0, 100.0, 100.0, 200.0, 200.0], 5)
    one.changes = past._changes(one)
    [[figure]] = charts([one]).values()
    assert figure.title == "Rows loaded per second: x better from x-3 on"
    assert [row[7] for row in figure.table.rows][:3] == ["", "", ""]
    assert figure.table.rows[3][7].startswith("better: 1.99 times the value before (p = ")
    drawn = json.dumps(figure.chart.to_dict())  # validates
    assert "1.3 (2026-01)" in drawn


def test_runs_with_other_options_begin_another_series(tmp_path: Path):
    names = [f"quickstart-2026010{seed}T000000-000{seed}" for seed in (1, 2)]
    for seed, name in enumerate(names, 1):
        synthetic_run.write(tmp_path, seed=seed, run_id=name)
    file = tmp_path / "runs" / names[1] / "plan.json"
    plan = json.loads(file.read_text())
    phases = [{"name": "load", "workload": "load", "options": {"batch_size": 77}}]
    file.write_text(json.dumps({**plan, "phases": phases}))
    rebuild(tmp_path)
    found = past.of_runs([Run(tmp_path, name) for name in names], "run", ["rows_per_second"])
    assert [point.label for one in found for point in one.points] == sorted(2 * names)
    assert {len(one.points) for one in found} == {1}


def test_runs_of_one_work_are_one_series(tmp_path: Path):
    runs = [
        Run(
            tmp_path,
            synthetic_run.write(tmp_path, seed=seed, run_id=f"quickstart-2026010{seed}T000000-000{seed}"),
        )
        for seed in (1, 2)
    ]
    rebuild(tmp_path)
    found = past.of_runs(runs, "run", ["rows_per_second"])
    assert {one.metric for one in found} == {"rows_per_second"}
    assert {len(one.points) for one in found} == {2}
    assert [one.points[0].label for one in found] == [runs[0].run_id] * len(found)
    assert not any(map(past.has_releases, runs))
