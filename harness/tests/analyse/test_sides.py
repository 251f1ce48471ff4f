"""Names of cells in a comparison."""

from __future__ import annotations

import pytest

from benchbook.analyse.claim_cells import Sides, differing, meets


def side(**levels: str) -> Sides:
    return Sides(levels, ())


def test_cells_are_told_by_the_factors_in_which_they_differ():
    cells = [
        side(arm="durable", size=size, workers=workers)
        for size in ("4KiB", "64KiB")
        for workers in ("1", "2")
    ]
    assert differing(cells) == ["size", "workers"]
    assert cells[0].case(differing(cells)) == {"size": "4KiB", "workers": "1"}


def test_a_factor_that_only_some_have_tells_them():
    assert differing([side(arm="a"), side(arm="a", cores="4")]) == ["cores"]


def test_one_cell_alone_is_called_by_all_it_has():
    cell = side(arm="durable", size="4KiB")
    assert differing([cell]) == []
    assert cell.case(differing([cell])) == {"arm": "durable", "size": "4KiB"}


@pytest.mark.parametrize(
    ("version", "asked", "holds"),
    [
        ("9" * 5_000, ">=1.1", True),
        ("1.1", ">=" + "9" * 5_000, False),
        ("1.10", ">=1.9", True),
        ("1.09", ">=1.9", True),
        ("1.0", ">=1.00.1", False),
        ("", ">=1", False),
    ],
)
def test_a_version_of_any_length_is_compared(version: str, asked: str, holds: bool) -> None:
    assert meets(version, asked) is holds
