"""Change points: known changes are found where they are, and noise has one in at most 5 % of series."""

from __future__ import annotations

import numpy as np
import pytest

from benchbook.analyse.change_points import change_points, smallest_p


def places(series: list[list[float]], level: float = 0.05) -> list[int]:
    return [one.place for one in change_points(series, level)]


def noisy(levels: list[float], seed: int, columns: int = 1, spread: float = 0.1) -> list[list[float]]:
    chance = np.random.default_rng(seed)
    drawn = chance.normal(np.array(levels)[:, None], spread, (len(levels), columns))
    return [list(map(float, row)) for row in drawn]


def test_two_changes_are_found_where_they_are():
    series = noisy([0.0] * 10 + [1.0] * 10 + [0.4] * 10, seed=1)
    assert places(series) == [10, 20]


def test_a_change_at_the_newest_of_few_releases_needs_several_blocks():
    series = noisy([0.0] * 5 + [1.0], seed=2, columns=5)
    assert places(series) == [5]
    assert places([row[:1] for row in series]) == []


def test_levels_of_blocks_are_no_change():
    """Each block has a level of its own, far above the change; points differ within blocks."""
    series = noisy([0.0] * 4 + [0.5] * 4, seed=3, columns=6)
    blocks = [0.0, 5.0, -3.0, 9.0, 2.0, 40.0]
    assert places([[a + b for a, b in zip(row, blocks, strict=True)] for row in series]) == [4]


def test_one_outlying_run_is_no_change():
    assert places(noisy([0.0] * 9 + [3.0] + [0.0] * 9, seed=4)) == []


@pytest.mark.parametrize("series", [[], [[1.0]], [[1.0], [1.0], [1.0]], [[1.0]] * 30])
def test_nothing_is_found_where_nothing_varies(series: list[list[float]]):
    assert change_points(series) == []


@pytest.mark.parametrize(("points", "columns"), [(12, 1), (30, 1), (6, 5)])
def test_noise_has_a_change_at_the_declared_rate(points: int, columns: int):
    """Heavy tails, 200 series with a fixed seed; 8 % is two standard errors above 5 %."""
    chance = np.random.default_rng(points)
    drawn = chance.standard_t(3, (200, points, columns))
    share = sum(bool(change_points(series)) for series in drawn.tolist()) / 200
    assert 0.02 <= share <= 0.08


def test_a_stricter_level_finds_less():
    series = noisy([0.0] * 6 + [0.5] * 6, seed=5)
    assert places(series) == [6]
    assert places(series, 0.0001) == []


@pytest.mark.parametrize(("points", "columns"), [(4, 1), (6, 1), (12, 1), (2, 3), (2, 8), (3, 4)])
def test_the_smallest_p_says_whether_a_clear_change_can_be_found(points: int, columns: int):
    clear = noisy([0.0] * (points // 2) + [9.0] * (points - points // 2), seed=6, columns=columns)
    assert bool(places(clear)) == (smallest_p(points, columns) < 0.05)
