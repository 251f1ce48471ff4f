"""Charts and tables mark outliers as docs/methods.md says, and show a plain mean where it is another number."""

from __future__ import annotations

import numpy as np
import pytest

from benchbook.analyse import interval
from benchbook.analyse.comparison import Estimate, Point
from benchbook.analyse.values import Cell
from benchbook.report.charts import strip

CELL = Cell("a", "sqlite", "vanilla", {"system": "sqlite"}, 6, 6, ("ok",), None, (), (), (), (), "SQLite")


def estimate(*values: float) -> Estimate:
    found = interval.mean_log(values)
    points = [Point(f"r/{block:04d}", block, 0, value) for block, value in enumerate(values)]
    return Estimate(
        CELL, "load", "rows_per_second", "1/s", "higher", points, found.value, found.low, found.high
    )


FAR = estimate(100.0, 101.0, 99.0, 100.5, 99.5, 10.0)
NEAR = estimate(100.0, 101.0, 99.0, 100.5, 99.5, 100.0)


def test_the_table_marks_an_outlier_and_keeps_it():
    [row] = strip.table([FAR]).rows
    assert str(row[-1]).count("(outlier)") == 1
    assert str(row[-1]).endswith("10.0 rows/s (outlier)")
    [row] = strip.table([NEAR]).rows
    assert "outlier" not in str(row[-1])


def test_the_chart_has_a_cross_at_an_outlier():
    drawn, *_ = strip._draw([FAR], {}, set())
    [cross] = [layer for layer in drawn.layer if getattr(layer.mark, "shape", None) == "cross"]
    assert [row["value"] for row in cross.data.values] == [10.0]
    drawn, *_ = strip._draw([NEAR], {}, set())
    assert not [layer for layer in drawn.layer if getattr(layer.mark, "shape", None) == "cross"]


def test_the_geometric_mean_is_beside_a_typical_value_that_differs_by_more_than_5_percent():
    [row] = strip.table([FAR]).rows
    assert "(geometric mean 68.1 rows/s)" in str(row[2])
    [row] = strip.table([NEAR]).rows
    assert "geometric mean" not in str(row[2])


def test_two_groups_of_trials_are_said_beside_the_typical_value():
    two = estimate(543.0, 63.0, 550.0, 70.0, 137.0, 599.0, 120.0, 580.0)
    [row] = strip.table([two]).rows
    assert "(two groups: 63.0 rows/s to 137 rows/s (4) and 543 rows/s to 599 rows/s (4))" in str(row[2])
    assert strip._grouped([two, NEAR]).startswith(
        "Trials form two groups, between which a typical value means little: "
    )
    assert strip._grouped([NEAR, FAR]) == ""


@pytest.mark.parametrize("count", [6, 8, 12, 20, 50])
def test_values_of_one_distribution_form_two_groups_in_at_most_1_percent(count: int):
    chance = np.random.default_rng(count)
    drawn = np.exp(
        0.2 * np.concatenate([chance.normal(size=(2000, count)), chance.standard_t(3, (2000, count))])
    )
    assert sum(len(interval.groups(list(map(float, one)))) > 1 for one in drawn) / len(drawn) <= 0.01


def test_counts_are_no_groups():
    assert len(interval.groups([1.0] * 6 + [2.0] * 6)) == 1


def test_steps_of_a_unit_are_no_groups():
    assert len(interval.groups([100.0] * 4 + [104.0] * 4)) == 1
